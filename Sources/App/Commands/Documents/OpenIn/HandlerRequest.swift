import ArgumentParser
import Control
import Endpoints
import Foundation
import HandlerCatalog
import Handlers
import Journal
import Lines
import Settings
import Sharing

/// The call of a handler that the user chose, for an item of the Inbox: by the running receiver, or here if none runs.
/// The journal has it as an attempt that a person asked for.
struct HandlerRequest {
    private let context: CommandContext

    /// A receiver may start or stop between the two ways.
    private static let tries = 3
    /// Longer than the time limit of any handler, and a wait for its other items.
    private static let patience: Duration = .seconds(24 * 3_600)

    init(_ context: CommandContext) { self.context = context }

    /// - Throws: `CommandError`: `inputMissing` if the item has left the Inbox, `locked` if it is sealed and cannot be
    ///   opened, `unexpected` if the handler could not be called.
    func call(
        _ bundle: HandlerBundle, _ arrival: Arrival, _ annotation: Annotation
    ) async throws -> AttemptOutcome {
        let request = ControlRequest.open(
            arrival: arrival.number.value, handler: bundle.identifier.text, annotation: annotation.values)
        var failure = CommandError(.unexpected, "the receiver gave no answer")
        for _ in 0..<Self.tries {
            switch try await Daemon.askIfRunning(request, timeout: Self.patience) {
            case .handlerAnswered(let answer, let exitCode, let reason):
                guard let answer = AttemptOutcome.Answer(rawValue: answer) else { throw failure }
                return AttemptOutcome(answer, exitCode: exitCode, reason: reason)
            case .unknown(let reason):
                throw CommandError(.inputMissing, TerminalText.escaped(reason, limit: 400))
            case .locked(let reason): throw CommandError.locked(reason)
            case .refused(let reason): throw CommandError(.unexpected, TerminalText.escaped(reason, limit: 400))
            case nil: break
            default: throw failure
            }
            let attempt: Int
            do throws(JournalError) {
                attempt = try begin(arrival.number, bundle)
            } catch {
                failure = CommandError(.unexpected, TerminalText.escaped(error.description, limit: 1_000))
                continue
            }
            return try await callHere(bundle, arrival, annotation, attempt)
        }
        throw failure
    }

    private var journal: Journal {
        get throws(JournalError) { try Journal(folder: context.home.state, dialects: .known) }
    }

    /// - Returns: the number of the attempt; 0 if the item has left. A receiver can start during the call: only a moment
    ///   before and after it does this command have the journal.
    private func begin(_ number: ArrivalNumber, _ bundle: HandlerBundle) throws(JournalError) -> Int {
        let journal = try journal
        guard try journal.isThere(number) else { return 0 }
        return try journal.began([number], handler: bundle.identifier.text, isAsked: true, at: .now).first ?? 1
    }

    private func callHere(
        _ bundle: HandlerBundle, _ arrival: Arrival, _ annotation: Annotation, _ attempt: Int
    ) async throws -> AttemptOutcome {
        // With the user's settings: a handler may have to have a sandbox.
        let opening = try OpenCommand.opening(CommandContext())
        guard attempt > 0, let program = opening.program(bundle) else {
            throw CommandError(.inputMissing, "item \(arrival.number) has left the Inbox")
        }
        let plain: HookCall =
            (program.mode == .perTransfer ? HookCall.open([(arrival: arrival, attempt: attempt)]) : nil)
            ?? .open(arrival, attempt: attempt)
        let call = plain.annotated(annotation.values)
        let outcome: AttemptOutcome
        do {
            outcome = try await Interruption.watching(Cancellation(), goodbye: .zero) {
                try await opening.ask(program, call)
            }
        } catch {
            record(AttemptOutcome(.later, reason: "interrupted"), arrival, bundle, attempt)
            throw WaftExit.interrupted.code
        }
        record(outcome, arrival, bundle, attempt)
        return outcome
    }

    private func record(_ outcome: AttemptOutcome, _ arrival: Arrival, _ bundle: HandlerBundle, _ attempt: Int) {
        let number = arrival.number
        do throws(JournalError) {
            let journal = try journal
            let entry = try JournalReader(folder: context.home.state, dialects: .known).entry(number)
            guard entry?.attemptCount == attempt else { throw JournalError("another handler was asked meanwhile") }
            try journal.ended([number], outcome, next: outcome.answer == .yes ? .ended(.yes) : .unchanged, at: .now)
            if !FileManager.default.fileExists(atPath: arrival.stored.path) {
                try journal.departed([number], Departure(.handler, at: .now, toward: bundle.identifier.text))
            }
        } catch {
            Console.shared.note(
                "waft: the answer could not be recorded: \(TerminalText.escaped(error.description, limit: 1_000))")
        }
    }
}
