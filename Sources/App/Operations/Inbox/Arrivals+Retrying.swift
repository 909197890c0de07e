import Control
import HandlerCatalog
import Journal
package import Lines
package import Sharing

extension Arrivals {
    /// A step of `retry(_:_:)`.
    package enum RetryStep: Sendable {
        /// The receiver has an item, or does not take it.
        case begun(ChosenItem, Result<RetriedLine, WaftError>)
        /// So many answers are awaited.
        case waiting(Int)
        /// An item has its answer: a failure if that is no yes, else the name of the handler that opened it.
        case answered(ArrivalLine, Result<String?, WaftError>)
    }

    /// Gives an item to its handlers again. The receiver goes on by itself.
    /// - Returns: a failure: `inputMissing` if the item is not there, `unexpected` if the receiver refuses.
    /// - Throws: `WaftError`, `notRunning` if no receiver is running.
    package func retry(_ item: ChosenItem) async throws(WaftError) -> Result<RetriedLine, WaftError> {
        switch item {
        case .unknown(let word):
            return .failure(WaftError(.inputMissing, Self.unknown(word), hint: "see: waft inbox"))
        case .item(let entry):
            let number = entry.arrival.number.value
            switch try await waft.receiver.ask(.retry(arrival: number)) {
            case .done: return .success(RetriedLine(ItemName(entry.arrival)))
            case .unknown(let reason): return .failure(WaftError(.inputMissing, reason))
            case .refused(let reason): return .failure(WaftError(.unexpected, "item \(number): \(reason)"))
            default: throw .noAnswer
            }
        }
    }

    /// Gives items to their handlers again, and waits until each has its answer.
    /// - Returns: the code of the first of the items that failed.
    /// - Throws: `WaftError`, `notRunning` if no receiver is running, or if it ends; `CancellationError`.
    package func retry(
        _ items: [ChosenItem], _ tell: @escaping @Sendable (RetryStep) -> Void
    ) async throws -> WaftExit {
        let (events, continuation) = AsyncStream<ControlEvent>.makeStream()
        let watching = Task {
            defer { continuation.finish() }
            // For words alone nothing is awaited.
            guard items.contains(where: { $0.entry != nil }) else { return }
            try await waft.receiver.watch { continuation.yield($0) }
        }
        defer { watching.cancel() }
        var iterator = events.makeAsyncIterator()
        // The first event says that none is missed from now on.
        if await iterator.next() == nil, items.contains(where: { $0.entry != nil }) {
            throw try await Self.end(watching)
        }
        var exits = Array(repeating: WaftExit.done, count: items.count)
        var waiting: [Int64: (place: Int, entry: JournalEntry)] = [:]
        for (place, item) in items.enumerated() {
            let begun = try await retry(item)
            if case .failure(let failure) = begun {
                exits[place] = failure.code
            } else if let entry = item.entry {
                waiting[entry.arrival.number.value] = (place, entry)
            }
            tell(.begun(item, begun))
        }
        while !waiting.isEmpty {
            tell(.waiting(waiting.count))
            guard let event = await iterator.next() else { throw try await Self.end(watching) }
            guard case .arrival(let item) = event, let answer = item.handlerAnswer,
                let (place, before) = waiting.removeValue(forKey: item.arrival)
            else { continue }
            let now = try entry(before.arrival.number) ?? before
            let outcome = outcome(
                AttemptOutcome.Answer(rawValue: answer), now, isAsked: now.attemptCount > before.attemptCount)
            if case .failure(let failure) = outcome { exits[place] = failure.code }
            tell(.answered(item, outcome))
        }
        return exits.first { $0 != .done } ?? .done
    }

    /// The error of a wait without its event.
    private static func end(_ watching: Task<Void, any Error>) async throws -> any Error {
        if Task.isCancelled { return CancellationError() }
        try await watching.value
        return WaftError(.notRunning, "the receiver ended before the handler answered", hint: "see: waft history")
    }

    /// - Parameter isAsked: whether a handler was called.
    private func outcome(
        _ answer: AttemptOutcome.Answer?, _ entry: JournalEntry, isAsked: Bool
    ) -> Result<String?, WaftError> {
        let attempt = entry.attempts.last
        if answer == .yes { return .success(attempt.map { name(of: $0.handler) }) }
        guard isAsked, let attempt else {
            return .failure(
                entry.arrival.protection.isSealed
                    ? WaftError(
                        .locked, "\(entry.head): it is sealed, and its handler gets it later",
                        hint: WaftError.unlockHint)
                    : WaftError(
                        .handlerSaidNo, "\(entry.head): no handler was asked",
                        hint: "see: waft inbox show \(entry.arrival.number)"))
        }
        let outcome = attempt.outcome ?? AttemptOutcome(answer ?? .failed)
        return .failure(WaftError(outcome, of: name(of: attempt.handler), head: entry.head, entry.arrival.number))
    }

    /// The name of a handler for people; its identifier if it is not installed any more.
    private func name(of identifier: String) -> String {
        catalog.load().bundles.first { $0.identifier.text == identifier }?.shownName ?? identifier
    }
}

extension WaftError {
    /// The failure of a call of a handler that was asked about one item.
    /// - Parameters:
    ///   - handler: its name for people.
    ///   - head: the beginning of the item's lines.
    package init(_ outcome: AttemptOutcome, of handler: String, head: String, _ number: ArrivalNumber?) {
        let handler = ShownText.line(handler, limit: Self.nameLimit)
        let reason = outcome.reason.isEmpty ? "" : ": " + ShownText.line(outcome.reason, limit: 400)
        let answer = outcome.answer == .failed ? "failed" : "said \(outcome.answer.rawValue)"
        self.init(
            .handlerSaidNo, "\(head): \(handler) \(answer)\(reason)",
            hint: number.map { "its output: waft inbox show \($0)" })
    }
}
