import ArgumentParser
import Control
import Endpoints
import Foundation
import HandlerCatalog
import HookSandbox
import Settings

/// `waft handlers`: the programs that open arrivals.
struct HandlersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "handlers",
        abstract: "Manage handlers: programs that open received items.",
        discussion: """
            Example: waft handlers add --name Photos --type public.image --run ./import.sh, then waft handlers test a.jpg

            A handler is a folder NAME.handler with an Info.plist and a program. Handlers are in your own folder, in \
            /etc/waft/handlers and in /usr/share/waft/handlers. A running receiver uses changes as soon as these commands \
            return; it also notices bundles that you copy into these folders.
            """,
        subcommands: [
            HandlersListCommand.self, HandlersShowCommand.self, HandlersAddCommand.self, HandlersRemoveCommand.self,
            HandlersEnableCommand.self, HandlersDisableCommand.self, HandlersTestCommand.self,
            HandlersDefaultCommand.self,
        ],
        defaultSubcommand: HandlersListCommand.self
    )
}

/// A verb of `waft handlers`. It returns a report, and does not print it.
protocol HandlersVerb: AsyncParsableCommand {
    func report(on place: HandlersPlace) throws(CommandFailure) -> HandlersReport
}

extension HandlersVerb {
    mutating func run() async throws {
        let report = try report(on: HandlersPlace(try Surroundings()))
        // The receiver uses the change before the command reports it.
        if report.isChange { await Daemon.tell(.refreshHandlers) }
        try report.show()
    }
}

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
    init(_ surroundings: Surroundings) {
        catalog = surroundings.home.handlerCatalog(surroundings.settings, includingHook: true)
        catalog.languages = UserLanguages.names(ProcessInfo.processInfo.environment)
        inbox = surroundings.home.inbox
        usualTimeLimit = surroundings.settings.hookTimeout
        openedSchemes = Set(surroundings.settings.openReceivedURLs)
    }
}

/// The report of a verb. All lines are escaped.
struct HandlersReport {
    /// For standard output.
    var results: [String] = []
    /// For standard error.
    var notes: [String] = []
    var exit = WaftExit.done
    /// Whether handlers or the user's choices about them have changed. Then the running receiver reads them again.
    var isChange = false

    func show() throws {
        for line in results { Console.shared.result(line) }
        for line in notes { Console.shared.note(line) }
        if exit != .done { throw exit.code }
    }
}

extension CommandFailure {
    /// - Parameters:
    ///   - place: the option with the value; escaped, as the hint is.
    init(_ error: CatalogError, at place: String? = nil, hint: String? = nil) {
        let exit: WaftExit =
            switch error.code {
            case .ambiguousName, .unfit, .nameTaken, .notYours: .usage
            case .unknownHandler, .missingProgram: .inputMissing
            case .storage: .unexpected
            }
        let hint = hint ?? (error.code == .unknownHandler ? "see: waft handlers" : nil)
        let message = TerminalText.escaped(error.description, limit: 1_000)
        self.init(exit, place.map { "\($0): \(message)" } ?? message, hint: hint)
    }

    /// Does something with the catalog.
    static func catching<Result>(
        hint: String? = nil,
        _ body: () throws(CatalogError) -> Result
    ) throws(CommandFailure) -> Result {
        do throws(CatalogError) {
            return try body()
        } catch {
            throw CommandFailure(error, hint: hint)
        }
    }
}
