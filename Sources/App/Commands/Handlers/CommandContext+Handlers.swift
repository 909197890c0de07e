import Foundation
import HandlerCatalog
import Handlers
import Lines
import Logging
import Settings

extension CommandContext {
    /// Runs handlers' programs for a command, beside the receiver.
    /// - Throws: `CommandError` if a folder that the sandbox needs cannot be made.
    func handlerRunner() throws(CommandError) -> HandlerRunner {
        let inbox = try self.inbox
        do {
            try home.makeFolders()
            // The sandbox has a rule for the Inbox, even before anything has arrived.
            try FileManager.default.createDirectory(
                atPath: inbox, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw CommandError(.unexpected, TerminalText.escaped("\(error)", limit: 1_000))
        }
        var logger = logger("waft")
        // Warnings about a handler are shown with its answer.
        if logger.logLevel >= .notice { logger.logLevel = .error }
        let catalog = home.handlerCatalog(settings)
        // The receiver sweeps its own folder when it starts, so this is another one.
        return HandlerRunner(
            inbox: inbox, scratchFolder: home.run + "/open", forbiddenPlaces: catalog.closed.paths,
            firstLaunches: catalog.firstLaunches, logger: logger)
    }
}
