import Sharing

/// Collects the items of each transfer until it has ended and the handlers have answered: sans I/O.
///
/// Items to which a handler said yes are left out. So is a transfer that was accepted at the receiver's own terminal,
/// which shows the arrival.
struct ArrivalCollector {
    /// How long a transfer that has ended waits for the answers of handlers. Then it counts without them.
    static let answerWait: Duration = .seconds(10)
    /// Transfers that were accepted at the terminal: the latest ones are remembered.
    private static let rememberedTransfers = 256

    private struct Key: Hashable {
        var transfer: TransferID
        var peer: PeerID
    }

    private struct Transfer {
        /// The stored items that are kept for the notification.
        var kept: [Arrival] = []
        /// All stored items, with their places in the offer.
        var stored: [(number: ArrivalNumber, item: Int)] = []
        /// Items to which a handler said yes.
        var taken: Set<ArrivalNumber> = []
        /// Items to which no handler said yes.
        var refused: Set<ArrivalNumber> = []
        /// Items that wait for an answer; nil until the transfer has ended.
        var waiting: Set<ArrivalNumber>?
        var deadline: ContinuousClock.Instant?
    }

    private var transfers: [Key: Transfer] = [:]
    /// Oldest first.
    private var shownElsewhere: [Key] = []

    /// The transfer was accepted at the terminal of this receiver.
    mutating func acceptedHere(_ transfer: TransferID, from peer: PeerID) {
        if shownElsewhere.count == Self.rememberedTransfers { shownElsewhere.removeFirst() }
        shownElsewhere.append(Key(transfer: transfer, peer: peer))
    }

    /// - Returns: the items of a transfer that is complete now; nil if none is, or if there is nothing to tell.
    mutating func see(_ event: Reception.Event, at now: ContinuousClock.Instant) -> ArrivalGroup? {
        switch event {
        case .stored(let arrivals):
            guard let first = arrivals.first else { return nil }
            let key = Key(transfer: first.transfer, peer: first.peer)
            guard !shownElsewhere.contains(key) else { return nil }
            var transfer = transfers.removeValue(forKey: key) ?? Transfer()
            transfer.stored += arrivals.map { ($0.number, $0.itemNumber) }
            transfer.kept += arrivals.prefix(ArrivalGroup.keptItems - transfer.kept.count)
            transfers[key] = transfer
            return nil
        case .opened(let arrival, let answer):
            return answered(arrival, answer.state)
        case .ended(let id, let peer, let receipt, _):
            return ended(Key(transfer: id, peer: peer), receipt, at: now)
        case .offered, .judged, .began, .progressed:
            return nil
        }
    }

    /// - Returns: transfers that have waited long enough for their handlers.
    mutating func overdue(at now: ContinuousClock.Instant) -> [ArrivalGroup] {
        let keys = transfers.filter { $0.value.deadline.map { $0 <= now } ?? false }.map(\.key)
        return keys.compactMap { finish($0) }
    }

    /// When to call `overdue`; nil for never.
    var deadline: ContinuousClock.Instant? { transfers.values.compactMap(\.deadline).min() }

    private mutating func answered(_ arrival: Arrival, _ state: HandlerAnswer.State) -> ArrivalGroup? {
        let key = Key(transfer: arrival.transfer, peer: arrival.peer)
        switch state {
        case .pending, .later: return nil
        case .yes: transfers[key]?.taken.insert(arrival.number)
        case .none, .no, .failed: transfers[key]?.refused.insert(arrival.number)
        }
        transfers[key]?.waiting?.remove(arrival.number)
        return transfers[key]?.waiting?.isEmpty == true ? finish(key) : nil
    }

    private mutating func ended(_ key: Key, _ receipt: Receipt, at now: ContinuousClock.Instant) -> ArrivalGroup? {
        guard var transfer = transfers.removeValue(forKey: key) else { return nil }
        var waiting: Set<ArrivalNumber> = []
        // An answer may be in the receipt, in an earlier event, or in one to come.
        for (number, item) in transfer.stored where !transfer.taken.contains(number) {
            switch receipt.items.indices.contains(item) ? receipt.items[item].handler.state : .none {
            case .yes: transfer.taken.insert(number)
            case .pending, .later: if !transfer.refused.contains(number) { waiting.insert(number) }
            case .none, .no, .failed: break
            }
        }
        (transfer.waiting, transfer.deadline) = (waiting, now + Self.answerWait)
        transfers[key] = transfer
        return waiting.isEmpty ? finish(key) : nil
    }

    private mutating func finish(_ key: Key) -> ArrivalGroup? {
        guard let transfer = transfers.removeValue(forKey: key) else { return nil }
        let items = transfer.kept.filter { !transfer.taken.contains($0.number) }
        let count = transfer.stored.count - transfer.taken.count
        return items.isEmpty ? nil : ArrivalGroup(items, count: count)
    }
}
