import HandlerCatalog
import SecureTransport
package import SystemCalls

extension Home {
    /// Checks that only the user and root can change Waft's settings, state, handlers and control socket. Missing
    /// folders and files pass: Waft creates them for the user alone.
    ///
    /// - Throws: `PathTrustError` for the first folder or file that another user could change.
    package func checkTrust() throws(PathTrustError) {
        let files = [
            configurationFile, configuration + "/handlers.json", contactsPath, visibilityPath,
            rememberedPeersPath, outbox,
            state + "/" + Identity.fileName, state + "/journal.sqlite",
        ]
        let folders = [
            configuration, configuration + "/handlers", state, handlers, HandlerFolders(user: handlers).data, run,
        ]
        let trust = PathTrust()
        for path in folders + files { try trust.check(path) }
    }

    /// Checks the Inbox in the same way, before anything is stored in it or taken out.
    ///
    /// - Throws: as `checkTrust`.
    package func checkInboxTrust() throws(PathTrustError) { try PathTrust().check(inbox) }
}
