import Endpoints
import Foundation
import HandlerCatalog
import Handlers
import Lines
import Settings
import Sharing

/// Opens URLs: asks the handlers of a scheme one after another, or the desktop.
struct URLOpening: Sendable {
    let snapshot: CatalogSnapshot
    let runner: HandlerRunner
    /// Time limit of handlers that declare none.
    let timeLimit: Duration
    /// Whether a handler with a sandbox may not run if the kernel cannot enforce the sandbox.
    let requiresSandbox: Bool
    /// Opens URLs on the desktop; nil without `xdg-open`.
    let opener: SystemOpener?
    /// Facts of the user for the handler.
    var annotation = Annotation()

    /// - Throws: `CancellationError` when the task is cancelled; by then the handler has been ended.
    func open(_ url: URLParts) async throws(CancellationError) -> URLResult {
        var outcome = URLResult(url)
        switch snapshot.schemeHandlers(for: url) {
        case .builtIn(let scheme):
            guard let opener else {
                outcome.fault = "\(scheme): URLs are opened by xdg-open, which is missing; install xdg-utils"
                outcome.exit = .unexpected
                return outcome
            }
            outcome.add(
                SystemOpener.identifier, "xdg-open", await opener.open(url, environment: annotation.environment))
        case .handlers(let claims):
            for claim in claims {
                guard let program = program(claim.bundle) else { continue }
                outcome.add(
                    program.identifier, program.name,
                    try await ask(program, .open(url, received: nil, attempt: 1).annotated(annotation.values)))
                // Only after a plain no, the next handler is asked.
                if outcome.attempts.last?.outcome.answer != .no { break }
            }
            if outcome.attempts.isEmpty {
                outcome.fault = "no handler for \(url.scheme): URLs; \(others)"
                outcome.hint = "add a handler with: waft handlers add --name NAME --scheme \(url.scheme) --run PROGRAM"
                outcome.exit = .ineligible
            }
        }
        return outcome
    }

    /// - Returns: nil for a built-in handler.
    func program(_ bundle: HandlerBundle) -> HandlerProgram? {
        HandlerProgram(bundle: bundle, defaultTimeLimit: timeLimit, requiresSandbox: requiresSandbox)
    }

    /// - Throws: as `open`.
    func ask(_ program: HandlerProgram, _ call: HookCall) async throws(CancellationError) -> AttemptOutcome {
        guard program.mode == .resident else {
            if let refusal = try await runner.launch(program, call) { return refusal }
            return try await runner.run(program, call)
        }
        // A process of this command: the receiver's resident handler gets arrivals only.
        let resident = ResidentHandler(program: program, runner: runner)
        let result: Result<AttemptOutcome, CancellationError>
        do throws(CancellationError) {
            result = .success(try await resident.ask(call))
        } catch {
            result = .failure(error)
        }
        await resident.stop()
        return try result.get()
    }

    private var others: String {
        let schemes = ["http", "https", "mailto", "tel", "sms", "file"] + snapshot.openedSchemes.map(\.text)
        return "known: \(schemes.prefix(40).joined(separator: ", "))"
    }
}
