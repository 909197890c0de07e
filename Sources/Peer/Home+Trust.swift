import HandlerCatalog
import SecureTransport
package import SystemCalls

extension Home {
    /// Checks that nobody but the user and root can change what all of Waft goes by: settings, state, handlers, the control
    /// socket. What is missing is made by Waft, for the user alone.
    ///
    /// - Throws: `PathTrustError` for the first folder or file that somebody else could change.
    package func checkTrust() throws(PathTrustError) {
        let files = [
            configurationFile, configuration + "/handlers.json", contactsPath, visibilityPath, outbox,
            state + "/" + Identity.fileName, state + "/journal.sqlite",
        ]
        let folders = [configuration, state, handlers, HandlerFolders(user: handlers).data, run]
        let trust = PathTrust()
        for path in folders + files { try trust.check(path) }
    }

    /// Checks the same of the Inbox: for those who put something in it, or take it out.
    ///
    /// - Throws: as `checkTrust`.
    package func checkInboxTrust() throws(PathTrustError) { try PathTrust().check(inbox) }
}
