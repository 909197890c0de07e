private import Streams
private import Synchronization

/// The peers whose offers are accepted without a question.
package enum AcceptRule: String, Sendable, CaseIterable {
    /// Accepts offers of contacts whose policy accepts, and asks the user about all others.
    case ask
    /// Accepts offers of all contacts, and asks the user about all others.
    case contacts
    /// All peers.
    case everyone
    /// No offers are accepted.
    case none
}

/// An offer that waits for an answer.
package struct WaitingOffer: Sendable {
    /// Counts from 1; users type it.
    package let number: Int
    package let offer: Offer
    package let peer: PeerID
    /// Bytes free at the destination.
    package let freeRoom: UInt64
    /// When the time for an answer ends.
    package let expires: WallTime

    package init(number: Int, offer: Offer, peer: PeerID, freeRoom: UInt64, expires: WallTime? = nil) {
        self.number = number
        self.offer = offer
        self.peer = peer
        self.freeRoom = freeRoom
        self.expires = expires ?? .now.after(min(Limits.consentWait, offer.wait ?? Limits.consentWait))
    }
}

/// The offers that wait for consent. Clients that can answer watch it; the first answer wins.
package final class ConsentQueue: ConsentAsking {
    package enum Event: Sendable {
        case waiting(WaitingOffer)
        /// - Parameter wasAnswered: False if its sender cancelled it, its time ended, or an arbiter decided.
        case settled(number: Int, wasAnswered: Bool)
    }

    private struct State {
        var rule: AcceptRule
        var nextNumber = 1
        var waiting: [Int: Question] = [:]
        /// The last offers that were answered, oldest first.
        var answered: [Int] = []
    }

    /// Offers whose answer is remembered. Of an older one a late watcher hears its end only.
    private static let remembered = 64

    private struct Question {
        var offer: WaitingOffer
        var continuation: CheckedContinuation<[ItemVerdict], Never>
    }

    private let entered: @Sendable (WaitingOffer) -> Void
    private let state: Mutex<State>
    /// The offers that wait have changed.
    private let news = Broadcast<Void>(buffer: .bufferingNewest(1))

    /// - Parameter entered: called for each offer that waits, by the task that asks, and before that has its answer.
    package init(rule: AcceptRule, entered: @escaping @Sendable (WaitingOffer) -> Void = { _ in }) {
        state = Mutex(State(rule: rule))
        self.entered = entered
    }

    package func consent(
        to offer: Offer, from peer: PeerID, freeRoom: UInt64, waits: @escaping @Sendable () -> Void
    ) async -> [ItemVerdict] {
        let number = state.withLock { state in
            defer { state.nextNumber += 1 }
            return state.nextNumber
        }
        let waiting = WaitingOffer(number: number, offer: offer, peer: peer, freeRoom: freeRoom)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let decided: ItemVerdict? = state.withLock { state in
                    if let verdict = Self.verdict(by: state.rule) { return verdict }
                    state.waiting[number] = Question(offer: waiting, continuation: continuation)
                    news.send(())
                    return nil
                }
                if let decided {
                    return continuation.resume(returning: Array(repeating: decided, count: offer.items.count))
                }
                // An answer that comes meanwhile is fetched when this returns.
                waits()
                entered(waiting)
                // Cancelled before it was entered: no other code would settle it.
                if Task.isCancelled { expire(number) }
            }
        } onCancel: {
            expire(number)
        }
    }

    /// - Returns: nil if the user is asked.
    private static func verdict(by rule: AcceptRule) -> ItemVerdict? {
        switch rule {
        case .everyone: .accepted
        case .none: ItemVerdict(.declined, reason: "nothing is accepted here", cause: .rule)
        case .ask, .contacts: nil
        }
    }

    /// Uses another rule, for the offers that wait too.
    package func use(_ rule: AcceptRule) {
        state.withLock { $0.rule = rule }
        guard let verdict = Self.verdict(by: rule) else { return }
        for waiting in offers {
            settle(waiting.number) { Array(repeating: verdict, count: $0.items.count) }
        }
    }

    /// Answers an offer by verdicts of its items.
    /// - Returns: whether it was still waiting.
    @discardableResult
    package func answer(_ number: Int, _ verdicts: [ItemVerdict]) -> Bool { settle(number) { _ in verdicts } }

    /// Answers an offer.
    /// - Returns: whether it was still waiting.
    @discardableResult
    package func answer(_ number: Int, accept: Bool) -> Bool {
        let verdict: ItemVerdict = accept ? .accepted : .no
        return settle(number) { Array(repeating: verdict, count: $0.items.count) }
    }

    /// Answers an offer item by item: these are accepted, the others declined.
    ///
    /// - Parameters:
    ///   - items: places in the offer, from 0; places that it does not have are ignored. Nil for all.
    ///   - folder: the destination below the Inbox; nil for the one by the rules.
    /// - Returns: whether it was still waiting.
    @discardableResult
    package func answer(_ number: Int, accepting items: Set<Int>?, into folder: SafeRelativePath? = nil) -> Bool {
        let yes = ItemVerdict(.accepted, destination: Destination(handler: nil, folder: folder))
        return settle(number) { offer in offer.items.indices.map { items?.contains($0) ?? true ? yes : .no } }
    }

    /// The offers that wait now, oldest first.
    package var offers: [WaitingOffer] {
        state.withLock { Self.offers($0) }
    }

    private static func offers(_ state: State) -> [WaitingOffer] {
        state.waiting.values.map(\.offer).sorted { $0.number < $1.number }
    }

    /// The events from now on, beginning with the offers that wait already; for one task. Nothing is kept for a watcher
    /// that does not read: it is not told of an offer that comes and goes meanwhile.
    package func events() -> AsyncStream<Event> {
        let (changes, watch) = (news.watch(after: [()]), Watch())
        return AsyncStream { [self] in
            while true {
                let event = state.withLock { state in watch.next(Self.offers(state), answered: state.answered) }
                if let event { return event }
                var hasChanged = false
                for await _ in changes {
                    hasChanged = true
                    break
                }
                guard hasChanged else { return nil }
            }
        }
    }

    /// The offers that one watcher has been told of.
    private final class Watch: Sendable {
        private let shown = Mutex<[Int]>([])

        /// - Parameter waiting: now, oldest first.
        func next(_ waiting: [WaitingOffer], answered: [Int]) -> Event? {
            shown.withLock { shown in
                if let place = shown.firstIndex(where: { number in !waiting.contains { $0.number == number } }) {
                    let number = shown.remove(at: place)
                    return .settled(number: number, wasAnswered: answered.contains(number))
                }
                guard let next = waiting.first(where: { !shown.contains($0.number) }) else { return nil }
                shown.append(next.number)
                return .waiting(next)
            }
        }
    }

    private func expire(_ number: Int) {
        _ = settle(number, wasAnswered: false) { Array(repeating: ItemVerdict(.expired), count: $0.items.count) }
    }

    @discardableResult
    private func settle(_ number: Int, wasAnswered: Bool = true, _ verdicts: (Offer) -> [ItemVerdict]) -> Bool {
        let question = state.withLock { state -> Question? in
            let question = state.waiting.removeValue(forKey: number)
            guard question != nil else { return nil }
            if wasAnswered { state.answered = state.answered.suffix(Self.remembered - 1) + [number] }
            news.send(())
            return question
        }
        guard let question else { return false }
        question.continuation.resume(returning: verdicts(question.offer.offer))
        return true
    }
}
