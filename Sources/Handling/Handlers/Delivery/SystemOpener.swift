import Foundation
package import HandlerCatalog
import HookSandbox
import Programs
package import Sharing

/// Opens URLs whose schemes mean the same everywhere: with `xdg-open`, which asks the desktop.
package struct SystemOpener: Sendable {
    /// Its name in the journal.
    package static let identifier = "org.waft.xdg-open"

    /// The time limit for handing the URL over. Some desktops start the browser in its place, which then stays.
    private static let timeout: Duration = .seconds(15)

    private let path: String
    private let inheritsAll: Bool

    /// - Parameters:
    ///   - inheritsAll: whether it gets all variables of this process, as a command of the user; otherwise those of a handler
    ///     without a sandbox.
    ///   - searchPath: folders, separated by colons, as in `PATH`.
    /// - Returns: nil if none of them has `xdg-open`.
    package init?(
        inheritsAll: Bool = false,
        searchPath: String? = ProcessInfo.processInfo.environment["PATH"]
    ) {
        guard let found = Program.path(of: "xdg-open", in: searchPath) else { return nil }
        path = found
        self.inheritsAll = inheritsAll
    }

    /// Represents it where a handler is expected.
    package var program: HandlerProgram {
        HandlerProgram(
            identifier: Self.identifier, name: "xdg-open", executable: path, folder: "/", dataFolder: nil,
            timeLimit: Self.timeout, sandbox: .none)
    }

    /// Hands a URL to the desktop.
    /// - Parameter environment: variables for the program that opens it, to set or, for nil, to remove.
    /// - Returns: yes if the URL was taken: `xdg-open` has ended well, or has become the program that shows the URL.
    package func open(_ url: URLParts, environment: [String: String?] = [:]) async -> AttemptOutcome {
        var variables = ProcessInfo.processInfo.environment
        if !inheritsAll { variables = ProgramVariables(includesSession: true).passed(variables) }
        for (name, value) in environment { variables[name] = value }
        // The URL is ASCII, and it begins with a scheme: never taken for an option. The programs that it starts belong to
        // the desktop: a Ctrl-C for this process must not reach them.
        let program = Program(path, [url.uri], environment: variables, hasOwnGroup: true)
        do {
            // The program that shows the URL outlives the answer and a cancellation.
            return switch try await program.start().ending(within: Self.timeout) {
            case .exited(let exit): Self.outcome(exit)
            case .outOfTime: AttemptOutcome(.yes, reason: "xdg-open shows it")
            case .cancelled: AttemptOutcome(.later, reason: "the receiver stopped")
            }
        } catch {
            return AttemptOutcome(.failed, reason: "xdg-open could not be started: \(error)")
        }
    }

    private static func outcome(_ exit: ProgramExit) -> AttemptOutcome {
        guard case .code(let code) = exit else {
            return AttemptOutcome(.failed, reason: "xdg-open was ended by a signal")
        }
        // The exit codes of its manual page.
        let reason =
            switch code {
            case 0: "handed to the desktop"
            case 2: "xdg-open did not find what it needs"
            case 3: "nothing on this desktop opens it"
            default: "xdg-open failed with exit code \(code)"
            }
        return AttemptOutcome(code == 0 ? .yes : .failed, exitCode: code, reason: reason)
    }
}
