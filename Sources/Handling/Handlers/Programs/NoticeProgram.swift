import Foundation
package import HandlerCatalog
package import HookSandbox
package import Logging
import Programs
import Sharing
import SystemPackage

/// A program of the configuration that gets notices, and whose answer changes nothing.
///
/// It is executed directly, with the call as its one argument, the facts as one line of JSON on standard input, and the
/// hook contract's rules for streams, groups, time limit and signals. Its sandbox allows writing in its `TMPDIR`, which
/// is made for each call, and where the configuration lets the hook write. The sandbox closes the Inbox.
package struct NoticeProgram: Sendable {
    /// The sandbox needs a path for the Inbox: this empty folder.
    private static let emptyFolder = "no-inbox"

    private let program: HandlerProgram
    private let runner: HandlerRunner

    /// - Parameters:
    ///   - path: of the executable; a relative one is taken from the working directory.
    ///   - name: its name in messages.
    ///   - scratchFolder: as in `OfferArbiter`.
    ///   - timeLimit: more than 0.
    ///   - rules: the paths, network and Unix sockets that it may also use.
    ///   - forbiddenPlaces: as in `HandlerRunner`.
    ///   - launcher: a program that calls `SandboxedLaunch.runIfAsked` first.
    package init(
        path: String,
        name: String,
        scratchFolder: String,
        timeLimit: Duration,
        sandbox: SandboxPlan.Level = .strict,
        rules: LaunchRules = LaunchRules(),
        forbiddenPlaces: [String] = [],
        grace: Duration = .seconds(1),
        launcher: String = SandboxPlan.launcher,
        logger: Logger
    ) {
        let inbox = scratchFolder + "/" + Self.emptyFolder
        program = HandlerProgram.configured(
            "org.waft." + name.replacing(" ", with: "-"), name: name, path: path, timeLimit: timeLimit,
            sandbox: sandbox, rules: rules)
        runner = HandlerRunner(
            inbox: inbox, scratchFolder: scratchFolder, forbiddenPlaces: forbiddenPlaces, grace: grace,
            launcher: launcher, logger: logger)
    }

    /// Sends it a notice, and waits for its end; failures are logged. If the task is cancelled, it is ended with all
    /// processes that it has started.
    ///
    /// - Parameters:
    ///   - document: one line of JSON, with its newline.
    ///   - environment: variables to set; the other variables of the hook contract are removed.
    package func tell(_ document: [UInt8], call: String, environment: [String: String]) async {
        guard let reason = await run(document, call, environment) else { return }
        runner.logger.warning(
            "the \(program.name) could not be started, or failed",
            metadata: ["reason": "\(ShownText.escaped(reason))"])
    }

    /// - Returns: the failure; nil if there was none.
    private func run(_ document: [UInt8], _ call: String, _ environment: [String: String]) async -> String? {
        let variables = HookCall.withoutItems.merging(
            environment.mapValues { .some($0.replacing("\0", with: "\u{FFFD}")) }
        ) { $1 }
        let started: Started
        do {
            try ScratchFolder.makeEmpty(runner.inbox)
            let input = try InputDocument.file(document, name: "waft-notice")
            defer { try? input.close() }
            started = try await runner.start(
                program, arguments: [call], environment: variables, input: input.rawValue)
        } catch {
            return LaunchError.outcome(of: error, program).reason
        }
        let reason: String?
        switch await started.process.ending(within: program.timeLimit) {
        case .exited(.code(0)): reason = nil
        case .exited(let exit):
            await started.pipe.catchUp()
            let last = String(decoding: started.capture.tail, as: UTF8.self).split(whereSeparator: \.isNewline).last
            reason = "\(exit): \(last ?? "")"
        case .outOfTime:
            await started.process.end(grace: runner.grace)
            reason = "out of time after \(program.timeLimit)"
        case .cancelled:
            await started.process.end(grace: runner.grace)
            reason = nil
        }
        await started.finish(runner.leftovers)
        return reason
    }
}
