private import Synchronization

/// The record of a consent.
package struct ConsentMark: Hashable, Sendable {
    /// The transfer under way, whose end is not recorded yet.
    package struct Begun: Hashable, Sendable {
        package var transfer: TransferID
        package var peer: PeerID
        /// The arrivals that the journal knew when it began: these items are in `stored` already.
        package var arrivals: Int

        package init(_ transfer: TransferID, from peer: PeerID, arrivals: Int) {
            (self.transfer, self.peer, self.arrivals) = (transfer, peer, arrivals)
        }
    }

    /// Items that have been stored under it.
    package var stored: Int
    package var begun: Begun?

    package init(stored: Int, begun: Begun? = nil) {
        (self.stored, self.begun) = (stored, begun)
    }
}

/// Records, across crashes, the offers that were consented to. Calls may block on the disk.
package protocol ConsentMarking: Sendable {
    /// - Returns: nil if there is none (any more).
    func mark(of key: ConsentKey) -> ConsentMark?
    /// Records a consent, or removes it with nil. If the disk fails, the user is asked once more.
    func setMark(of key: ConsentKey, _ mark: ConsentMark?)
    /// Replaces each one by the result of `change`; nil removes it.
    func changeMarks(_ change: (ConsentMark) -> ConsentMark?)
}

/// Remembers consent from the beginning of the contents until the transfer has come whole, so that its resumption needs
/// no second answer.
/// It covers as many items as the offer has, and no more: a peer cannot use one consent to fill the Inbox with copies
/// of the same items.
package final class ConsentMemory: Sendable {
    private struct Consent {
        var key: ConsentKey
        var items: Int
    }

    private struct State {
        /// Consents whose transfers have not begun, or not ended. One peer can have 16 transfers at a time.
        var given = PeerShares<TransferID, Consent>(limit: 4_096, perPeer: 64)
        /// The answers of this process, with the destinations of the items.
        var answers = PeerShares<ConsentKey, [ItemVerdict]>(limit: 64, perPeer: 16)
    }

    private let marks: any ConsentMarking
    private let state = Mutex(State())

    package init(_ marks: any ConsentMarking) {
        self.marks = marks
    }

    /// Asks only about offers without a consent. Put it between the refusals (blocks, rules, visibility) and the
    /// questions to people: it replaces a question, and never a refusal.
    package func wrapping(_ asking: any ConsentAsking) -> any ConsentAsking {
        RememberedConsent(memory: self, asking: asking)
    }

    /// - Returns: the answers that are still valid; nil if the user must be asked.
    fileprivate func answers(to offer: Offer, from peer: PeerID) -> [ItemVerdict]? {
        let key = ConsentKey(offer, from: peer)
        guard marks.mark(of: key) != nil else { return nil }
        give(key, offer, peer)
        return state.withLock { $0.answers[key] } ?? Array(repeating: .accepted, count: offer.items.count)
    }

    fileprivate func give(_ offer: Offer, from peer: PeerID, _ answers: [ItemVerdict]) {
        let key = ConsentKey(offer, from: peer)
        give(key, offer, peer)
        // Answers that only accept need no memory, and offers can have many items.
        guard answers.contains(where: { $0.destination != .usual }) else { return }
        state.withLock { $0.answers.set(key, answers, of: peer) }
    }

    private func give(_ key: ConsentKey, _ offer: Offer, _ peer: PeerID) {
        let consent = Consent(key: key, items: offer.items.count)
        state.withLock { $0.given.set(offer.transfer, consent, of: peer) }
    }

    /// Removes consents that a receiver left when it died: those to transfers that the journal has whole. Must be
    /// called when a receiver starts, after it has settled its journal.
    package func mend(by journal: any ArrivalJournal) {
        marks.changeMarks { mark in
            // A mark that cannot be checked now is kept: it ends with its time.
            guard let begun = mark.begun,
                let arrivals = try? journal.arrivals(of: begun.transfer, from: begun.peer)
            else { return mark }
            let stored = mark.stored + max(0, arrivals.count - begun.arrivals)
            if let items = arrivals.first?.itemsInOffer, stored >= items { return nil }
            return ConsentMark(stored: stored)
        }
    }

    /// Contents begin.
    /// - Parameter arrivals: number of the transfer's arrivals in the journal.
    func began(_ transfer: TransferID, from peer: PeerID, arrivals: Int) {
        guard let consent = state.withLock({ $0.given[transfer] }) else { return }
        let stored = marks.mark(of: consent.key)?.stored ?? 0
        marks.setMark(
            of: consent.key, ConsentMark(stored: stored, begun: .init(transfer, from: peer, arrivals: arrivals)))
    }

    /// A transfer has ended.
    /// - Parameters:
    ///   - stored: items that it has put into the Inbox.
    ///   - isWhole: whether all accepted items are there.
    func ended(_ transfer: TransferID, stored: Int, isWhole: Bool) {
        guard let consent = state.withLock({ $0.given.remove(transfer) }) else { return }
        let total = (marks.mark(of: consent.key)?.stored ?? 0) + stored
        let isUsedUp = isWhole || total >= consent.items
        marks.setMark(of: consent.key, isUsedUp ? nil : ConsentMark(stored: total))
        if isUsedUp { state.withLock { _ = $0.answers.remove(consent.key) } }
    }
}

private struct RememberedConsent: ConsentAsking {
    let memory: ConsentMemory
    let asking: any ConsentAsking

    func consent(
        to offer: Offer, from peer: PeerID, freeRoom: UInt64, waits: @escaping @Sendable () -> Void
    ) async -> [ItemVerdict] {
        // A mark of such a peer is never found again.
        guard offer.dialect.knowsAgain else {
            return await asking.consent(to: offer, from: peer, freeRoom: freeRoom, waits: waits)
        }
        if let answers = memory.answers(to: offer, from: peer) { return answers }
        let answers = await asking.consent(to: offer, from: peer, freeRoom: freeRoom, waits: waits)
        let isWhole = answers.count == offer.items.count && answers.allSatisfy { $0.answer == .accepted }
        if isWhole, !Task.isCancelled { memory.give(offer, from: peer, answers) }
        return answers
    }
}

/// Values of peers, within a limit for all and one for each peer: the oldest are forgotten first. So a peer that fills its
/// share displaces its own values, and not those of others.
struct PeerShares<Key: Hashable, Value> {
    private let limit: Int
    private let perPeer: Int
    private var values: [Key: (value: Value, peer: PeerID)] = [:]
    /// Oldest first.
    private var order: [Key] = []

    init(limit: Int, perPeer: Int) {
        (self.limit, self.perPeer) = (limit, perPeer)
    }

    subscript(key: Key) -> Value? { values[key]?.value }

    mutating func set(_ key: Key, _ value: Value, of peer: PeerID) {
        if values.updateValue((value, peer), forKey: key) == nil { order.append(key) }
        let own = values.values.count { $0.peer == peer }
        if own > perPeer, let oldest = order.first(where: { values[$0]?.peer == peer }) { remove(oldest) }
        if order.count > limit { remove(order[0]) }
    }

    @discardableResult
    mutating func remove(_ key: Key) -> Value? {
        guard let removed = values.removeValue(forKey: key) else { return nil }
        order.removeAll { $0 == key }
        return removed.value
    }
}
