import Control
import Endpoints
import Foundation
import HandlerCatalog
import HookSandbox
import Settings

/// The data that the verbs use.
struct HandlersPlace {
    var catalog: HandlerCatalog
    /// Absolute path.
    let inbox: String
    /// The means of the kernel to restrict handlers.
    var support = HookSandbox.support
    /// Time limit of a handler that declares none.
    let usualTimeLimit: Duration
    /// Schemes of received URLs that are opened, and not only stored.
    var openedSchemes: Set<URLScheme> = []
    /// Absolute path: the base of relative paths.
    var workingDirectory = FileManager.default.currentDirectoryPath
}

extension HandlersPlace {
    init(_ context: CommandContext) {
        catalog = context.home.handlerCatalog(context.settings, includingHook: true)
        catalog.languages = UserLanguages.names(ProcessInfo.processInfo.environment)
        inbox = context.home.inbox
        usualTimeLimit = context.settings.hookTimeout
        openedSchemes = Set(context.settings.openReceivedURLs)
    }
}
