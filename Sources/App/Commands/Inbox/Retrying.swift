import Control
import Endpoints
import HandlerCatalog
import Handlers
import Journal
import Lines
import Sharing

/// Gives items to their handlers again, and says the handlers' answers.
struct Retrying: Sendable {
    let context: CommandContext
    let json: Bool

    /// Gives the items to their handlers, and waits for no answer.
    /// - Returns: the code of the first item that failed.
    func begin(_ items: [ChosenItem]) async throws(CommandError) -> WaftExit {
        var exit = WaftExit.done
        for item in items {
            let code = try await begin(item)
            if exit == .done { exit = code }
            guard code == .done, let entry = item.entry, !json else { continue }
            Console.shared.result("\(FindingText.head(entry)): given to its handler again")
        }
        return exit
    }

    /// Gives the items to their handlers, and waits until each has its answer. Ctrl-C ends the wait, and the receiver
    /// goes on.
    /// - Returns: the code of the first item that failed.
    func finish(_ items: [ChosenItem]) async throws -> WaftExit {
        guard items.contains(where: { $0.entry != nil }) else { return try await begin(items) }
        return try await Interruption.watching(Cancellation(), goodbye: .zero) {
            let (events, continuation) = AsyncStream<ControlEvent>.makeStream()
            let watching = Task {
                defer { continuation.finish() }
                try await Daemon.watch { event in continuation.yield(event) }
            }
            defer { watching.cancel() }
            var iterator = events.makeAsyncIterator()
            // The first event says that none is missed from now on.
            guard await iterator.next() != nil else { throw try await Self.end(watching) }
            var exits = Array(repeating: WaftExit.done, count: items.count)
            var waiting: [Int64: Int] = [:]
            for (place, item) in items.enumerated() {
                exits[place] = try await begin(item)
                if exits[place] == .done, let entry = item.entry { waiting[entry.arrival.number.value] = place }
            }
            while !waiting.isEmpty {
                Console.shared.status("waiting for \(waiting.count == 1 ? "the answer" : "\(waiting.count) answers")")
                guard let event = await iterator.next() else { throw try await Self.end(watching) }
                guard case .arrival(let arrival) = event, let answer = arrival.handlerAnswer,
                    let place = waiting.removeValue(forKey: arrival.arrival), let entry = items[place].entry
                else { continue }
                Console.shared.endStatus()
                exits[place] = try show(answer, of: entry, event)
            }
            return exits.first { $0 != .done } ?? .done
        }
    }

    /// The error of a wait without its event.
    private static func end(_ watching: Task<Void, any Error>) async throws -> any Error {
        if Task.isCancelled { return WaftExit.interrupted.code }
        try await watching.value
        return CommandError(.notRunning, "the receiver ended before the handler answered", hint: "see: waft history")
    }

    private func begin(_ item: ChosenItem) async throws(CommandError) -> WaftExit {
        func fail(_ code: WaftExit, _ reason: String, hint: String? = nil) -> WaftExit {
            item.show(CommandError(code, TerminalText.escaped(reason, limit: 400), hint: hint), json: json)
            return code
        }
        guard let entry = item.entry else {
            guard case .unknown(let word) = item else { return .inputMissing }
            item.show(CommandError(.inputMissing, JournalReading.unknown(word), hint: "see: waft inbox"), json: json)
            return .inputMissing
        }
        let number = entry.arrival.number.value
        switch try await Daemon.ask(.retry(arrival: number)) {
        case .done:
            if json { EventLine.retried(EventLine.Retried(arrival: number)).print() }
            return .done
        case .unknown(let reason): return fail(.inputMissing, reason)
        case .refused(let reason): return fail(.unexpected, "item \(number): \(reason)")
        default: throw CommandError(.unexpected, "the receiver gave no answer")
        }
    }

    /// Shows the answer about an item.
    /// - Parameter entry: as it was before.
    private func show(_ answer: String, of entry: JournalEntry, _ event: ControlEvent) throws(CommandError) -> WaftExit
    {
        let now = try JournalReading.entry(entry.arrival.number) ?? entry
        let failure = failure(
            AttemptOutcome.Answer(rawValue: answer), now, isAsked: now.attemptCount > entry.attemptCount)
        if json {
            Console.shared.result(event.json)
        } else if let failure {
            Console.shared.note("waft: \(failure)")
        } else {
            let handler = now.attempts.last.map { " by \(TerminalText.escaped(name(of: $0.handler)))" } ?? ""
            Console.shared.result("\(FindingText.head(now)): opened\(handler)")
        }
        return failure?.exit ?? .done
    }

    /// - Parameter isAsked: whether a handler was called.
    /// - Returns: nil after a yes.
    private func failure(
        _ answer: AttemptOutcome.Answer?, _ entry: JournalEntry, isAsked: Bool
    ) -> CommandError? {
        if answer == .yes { return nil }
        let head = FindingText.head(entry)
        guard isAsked, let attempt = entry.attempts.last else {
            return entry.arrival.protection.isSealed
                ? CommandError(
                    .locked, "\(head): it is sealed, and its handler gets it later", hint: CommandError.unlockHint)
                : CommandError(
                    .handlerSaidNo, "\(head): no handler was asked",
                    hint: "see: waft inbox show \(entry.arrival.number)")
        }
        let outcome = attempt.outcome ?? AttemptOutcome(answer ?? .failed)
        return CommandError(outcome, of: name(of: attempt.handler), head: head, entry.arrival.number)
    }

    /// The name of a handler for people; its identifier if it is not installed any more.
    private func name(of identifier: String) -> String {
        let bundles = HandlersPlace(context).catalog.load().bundles
        return bundles.first { $0.identifier.text == identifier }?.shownName ?? identifier
    }
}

extension CommandError {
    /// The failure of a call of a handler that was asked about one item.
    /// - Parameters:
    ///   - handler: its name for people; not escaped.
    ///   - head: the beginning of the item's lines; escaped.
    init(_ outcome: AttemptOutcome, of handler: String, head: String, _ number: ArrivalNumber?) {
        let reason = outcome.reason.isEmpty ? "" : ": " + TerminalText.escaped(outcome.reason, limit: 400)
        let answer = outcome.answer == .failed ? "failed" : "said \(outcome.answer.rawValue)"
        self.init(
            .handlerSaidNo, "\(head): \(TerminalText.escaped(handler)) \(answer)\(reason)",
            hint: number.map { "its output: waft inbox show \($0)" })
    }
}
