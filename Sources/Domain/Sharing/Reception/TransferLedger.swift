/// The transfers of one receiver and their states. Decides without waiting, without a clock and without a disk:
/// `Reception` gives it the time, and carries out its decisions.
///
/// ```
///            admit             settle              begin               end
///  (offer) ────────▶ waiting ─────────▶ accepted ────────▶ receiving ───────▶ finished ──▶ (forgotten)
///     │                 │                  │ expire             │ abandon
///     ▼ refused         ▼ not accepted     ▼                    ▼
/// ```
///
/// The peer of a transfer can offer it again until everything accepted is stored.
struct TransferLedger {
    struct Accepted {
        var offer: Offer
        var verdict: Verdict
        var claim: OfferClaim
        var turn: CommitTurn
        /// `turn.storings` when the offer was accepted.
        var storings: Int
        /// The `Visitor.connection` of the offer.
        var connection: UInt64
        var expires: ContinuousClock.Instant
    }

    struct Receiving {
        var offer: Offer
        var claim: OfferClaim
        var turn: CommitTurn
        /// Ends the connection on which the contents come.
        var interrupt: @Sendable () -> Void
        let pulse: TransferPulse
        /// Of its accepted items.
        var protections: Set<ProtectionClass>
    }

    private struct Finished {
        var peer: PeerID
        var receipt: Receipt
        var hasEnded = false
        /// Items whose handlers have not answered.
        var pending = 0
        /// Tasks that wait for the handlers' answers.
        var waiters: Set<Int> = []

        var isAnswered: Bool { hasEnded && pending == 0 }
    }

    enum Admission {
        /// - Parameter instead: the same transfer, which was accepted before and has not begun.
        case admitted(instead: Accepted?)
        /// - Parameter interrupt: must be called: it ends the older connection of the same transfer.
        case refused(ItemVerdict, interrupt: (@Sendable () -> Void)? = nil)
    }

    /// A receipt, and the tasks that waited for it.
    struct Answered {
        var receipt: Receipt
        var waiters: Set<Int>
    }

    enum ReceiptLookup {
        /// Neither received nor remembered here.
        case unknown
        /// Another peer's, or not ended yet.
        case none
        case receipt(Receipt)
        /// The waiter is entered, and gets the receipt when the handlers have answered.
        case waiting
    }

    /// A transfer that the user has cancelled.
    enum Cancelled {
        /// - Parameter interrupt: must be called: it ends the connection, and with it the transfer.
        case receiving(interrupt: @Sendable () -> Void)
        /// Its contents had not begun.
        case waiting(Accepted)
    }

    private var waiting: [TransferID: OfferClaim] = [:]
    private var accepted: [TransferID: Accepted] = [:]
    private var receiving: [TransferID: Receiving] = [:]
    private var finished: [TransferID: Finished] = [:]
    /// The keys of `finished`, oldest first.
    private var finishedOrder: [TransferID] = []
    /// Items in all receipts of `finished`.
    private var rememberedItems = 0
    private(set) var isStopping = false
    /// Transfers that the user has cancelled, oldest first: their senders do not go on with them.
    private var cancelled: [TransferID] = []
    private static let rememberedCancelled = 1_024

    // MARK: Offers

    /// Takes an offer's share of the common resources until `settle`.
    mutating func admit(_ offer: Offer, _ claim: OfferClaim, at now: ContinuousClock.Instant) -> Admission {
        if isStopping { return .refused(Self.stopping) }
        if let refusal = refusalToRepeat(offer, claim.peer, at: now) { return refusal }
        let others = accepted.filter { $0.key != offer.transfer && $0.value.expires > now }
        let open = others.values.map(\.claim) + receiving.values.map(\.claim)
        if let refusal = OfferShares.refusal(of: claim, waiting: Array(waiting.values), open: open) {
            return .refused(refusal)
        }
        waiting[offer.transfer] = claim
        return .admitted(instead: accepted.removeValue(forKey: offer.transfer))
    }

    private func refusalToRepeat(_ offer: Offer, _ peer: PeerID, at now: ContinuousClock.Instant) -> Admission? {
        let id = offer.transfer
        let before = Admission.refused(ItemVerdict(.declined, reason: "this transfer was offered before", cause: .rule))
        if waiting[id] != nil { return before }
        if cancelled.contains(id) { return .refused(.cancelledByReceiver) }
        if let accepted = accepted[id], accepted.claim.peer != peer, accepted.expires > now { return before }
        if let finished = finished[id] {
            guard finished.peer == peer, finished.receipt.items.count == offer.items.count else { return before }
            if finished.hasEnded, finished.receipt.items.allSatisfy(\.isStored) { return before }
        }
        guard let receiving = receiving[id] else { return nil }
        guard receiving.claim.peer == peer else { return before }
        // The old connection has broken off without our knowledge, or its end is being written to the disk.
        return .refused(
            ItemVerdict(.busy, reason: "its earlier connection is being closed"),
            interrupt: receiving.interrupt)
    }

    /// Ends the wait of an admitted offer.
    /// - Parameters:
    ///   - connection: the `Visitor.connection` of the offer.
    ///   - isWithdrawn: whether the sender has left.
    ///   - ruling: refuses an accepted offer by the bytes of its peer that are under way.
    /// - Returns: the verdict to send.
    mutating func settle(
        _ offer: Offer, _ verdict: Verdict, connection: UInt64, isWithdrawn: Bool, at now: ContinuousClock.Instant,
        ruling: StrangerQuota.Ruling? = nil
    ) -> Verdict {
        guard let claim = waiting.removeValue(forKey: offer.transfer), !isWithdrawn, verdict.acceptsAnything else {
            return verdict
        }
        if isStopping { return Verdict(all: Self.stopping, count: offer.items.count, digest: verdict.digest) }
        if let refusal = ruling?(footprint(of: claim.peer, at: now)) {
            return Verdict(all: refusal, count: offer.items.count, digest: verdict.digest)
        }
        let turn = turn(of: claim.peer)
        accepted[offer.transfer] = Accepted(
            offer: offer, verdict: verdict, claim: claim, turn: turn, storings: turn.storings, connection: connection,
            expires: now + Limits.contentsWait)
        return verdict
    }

    /// The sender of an accepted offer has left before it had its answer.
    /// - Returns: the transfer; nil if it has begun, or was offered again.
    mutating func withdraw(_ id: TransferID, connection: UInt64) -> Accepted? {
        guard accepted[id]?.connection == connection else { return nil }
        return accepted.removeValue(forKey: id)
    }

    /// Forgets the accepted transfers whose contents have not begun in time.
    mutating func expire(at now: ContinuousClock.Instant) -> [Accepted] {
        let over = accepted.values.filter { $0.expires <= now }
        for transfer in over { accepted[transfer.offer.transfer] = nil }
        return over
    }

    /// When the next accepted transfer expires.
    var nextExpiry: ContinuousClock.Instant? { accepted.values.map(\.expires).min() }

    /// Accepted bytes of a peer, by `Footprint`, that are not stored yet.
    func footprint(of peer: PeerID, besides id: TransferID? = nil, at now: ContinuousClock.Instant) -> UInt64 {
        underWay(besides: id, at: now) { claim, _ in claim.peer == peer ? claim.footprint : 0 }
    }

    /// An item is stored: it is under way no more.
    mutating func note(stored arrival: Arrival) {
        let item = arrival.item
        receiving[arrival.transfer]?.claim.subtract(
            bytes: item.size ?? 0, footprint: Footprint(bytes: item.size ?? 0, entries: item.entries ?? 1).bytes)
    }

    /// The turn that a peer's open transfers share.
    private func turn(of peer: PeerID) -> CommitTurn {
        accepted.values.first { $0.claim.peer == peer }?.turn
            ?? receiving.values.first { $0.claim.peer == peer }?.turn ?? CommitTurn()
    }

    private static let stopping = ItemVerdict(
        .busy, reason: EndCause.receiverStopped.words, cause: .receiverStopped)

    /// A connection has closed: its accepted transfers expire at `end`, or before.
    mutating func leave(_ connection: UInt64, until end: ContinuousClock.Instant) {
        for (id, transfer) in accepted where transfer.connection == connection {
            accepted[id]?.expires = min(transfer.expires, end)
        }
    }

    /// Lets an accepted transfer wait for its contents until `end`.
    /// - Returns: nil if the peer has no such transfer.
    mutating func hold(
        _ id: TransferID, from peer: PeerID, at now: ContinuousClock.Instant, until end: ContinuousClock.Instant
    ) -> (Offer, Verdict)? {
        guard let transfer = accepted[id], transfer.claim.peer == peer, transfer.expires > now else { return nil }
        accepted[id]?.expires = end
        return (transfer.offer, transfer.verdict)
    }

    // MARK: Contents

    /// The contents of an accepted transfer begin.
    /// - Returns: nil if the peer has no such transfer, or contents are no longer accepted.
    mutating func begin(
        _ id: TransferID, from peer: PeerID, at now: ContinuousClock.Instant,
        interrupt: @escaping @Sendable () -> Void
    ) -> (Accepted, TransferPulse)? {
        guard !isStopping, let begun = accepted[id], begun.claim.peer == peer, begun.expires > now else { return nil }
        accepted[id] = nil
        let pulse = TransferPulse()
        receiving[id] = Receiving(
            offer: begun.offer, claim: begun.claim, turn: begun.turn, interrupt: interrupt, pulse: pulse,
            protections: Set(begun.verdict.items.compactMap(\.destination.protection)))
        finished[id]?.hasEnded = false
        return (begun, pulse)
    }

    /// The ends of the connections that bring an item of a protection.
    func interrupts(of protection: ProtectionClass) -> [@Sendable () -> Void] {
        receiving.values.filter { $0.protections.contains(protection) }.map(\.interrupt)
    }

    /// The user cancels an accepted transfer: its sender cannot go on with it.
    /// - Returns: nil if there is none under way.
    mutating func cancel(_ id: TransferID, at now: ContinuousClock.Instant) -> Cancelled? {
        let interrupt: Cancelled
        if let receiving = receiving[id] {
            interrupt = .receiving(interrupt: receiving.interrupt)
        } else if let waiting = accepted[id], waiting.expires > now {
            // One whose time is over stays for `expire`, which tells its end.
            accepted[id] = nil
            interrupt = .waiting(waiting)
        } else {
            return nil
        }
        cancelled.append(id)
        if cancelled.count > Self.rememberedCancelled { cancelled.removeFirst() }
        return interrupt
    }

    func isCancelled(_ id: TransferID) -> Bool { cancelled.contains(id) }

    /// Whether the contents of a transfer are coming.
    func isReceiving(_ id: TransferID) -> Bool { receiving[id] != nil }

    /// The transfers that are under way.
    func underWay(at now: ContinuousClock.Instant) -> [(offer: Offer, peer: PeerID)] {
        receiving.values.map { ($0.offer, $0.claim.peer) }
            + accepted.values.filter { $0.expires > now }.map { ($0.offer, $0.claim.peer) }
    }

    /// A transfer that has begun cannot continue before any of its contents were read.
    /// - Returns: the receipt of its earlier attempt if that has all answers now, and the tasks that waited for it.
    mutating func abandon(_ id: TransferID) -> Answered? {
        receiving[id] = nil
        finished[id]?.hasEnded = true
        return answered(id)
    }

    /// A transfer has ended.
    /// - Returns: the receipt, with the answers of handlers so far, and the tasks that waited for it.
    mutating func end(_ id: TransferID, from peer: PeerID, _ receipt: Receipt) -> Answered {
        receiving[id] = nil
        var receipt = receipt
        if let early = finished[id] {
            for (index, item) in early.receipt.items.enumerated()
            where receipt.items.indices.contains(index)
                && (item.handler.state != .none || receipt.items[index].isOpen)
            {
                receipt.items[index].handler = item.handler
            }
        }
        var entry = finished[id] ?? Finished(peer: peer, receipt: receipt)
        (entry.receipt, entry.hasEnded) = (receipt, true)
        if finished.updateValue(entry, forKey: id) == nil { remember(id) }
        return answered(id) ?? Answered(receipt: receipt, waiters: [])
    }

    /// Other transfers of the peer that are being received and have an item of the same kind, name and type.
    func rivals(of offer: Offer, from peer: PeerID) -> [Receiving] {
        let others = receiving.filter { $0.key != offer.transfer && $0.value.claim.peer == peer }.values
        if others.isEmpty { return [] }
        let wanted = Set(offer.items.map(ItemLikeness.init))
        return others.filter { other in other.offer.items.contains { wanted.contains(ItemLikeness($0)) } }
    }

    /// Transfers that were accepted and have not ended.
    func openTransfers(at now: ContinuousClock.Instant) -> Int {
        receiving.count + accepted.values.count { $0.expires > now }
    }

    /// The sum of the accepted transfers that are not stored yet; saturates instead of overflowing.
    /// - Parameter size: the bytes of one transfer; 0 for one that does not count.
    func underWay(
        besides id: TransferID? = nil, at now: ContinuousClock.Instant, _ size: (OfferClaim, Dialect) -> UInt64
    ) -> UInt64 {
        let open =
            accepted.values.filter { $0.expires > now }.map { ($0.offer, $0.claim) }
            + receiving.values.map { ($0.offer, $0.claim) }
        return open.reduce(0) { sum, part in
            guard part.0.transfer != id else { return sum }
            let (total, overflow) = sum.addingReportingOverflow(size(part.1, part.0.dialect))
            return overflow ? .max : total
        }
    }

    // MARK: Receipts

    /// A handler has answered, or is about to be asked.
    /// - Returns: the receipt if that was the last answer and tasks wait for it.
    mutating func note(_ answer: HandlerAnswer, for arrival: Arrival) -> Answered? {
        let id = arrival.transfer
        if finished[id] == nil {
            guard let receiving = receiving[id], receiving.claim.peer == arrival.peer,
                receiving.offer.items.count == arrival.itemsInOffer
            else { return nil }
            let blank = Array(repeating: ItemReceipt(.notSent), count: arrival.itemsInOffer)
            finished[id] = Finished(peer: arrival.peer, receipt: Receipt(transfer: id, items: blank))
            remember(id)
        }
        // An earlier attempt may have had another number of items.
        guard finished[id]?.receipt.items.indices.contains(arrival.itemNumber) == true else { return nil }
        let old = finished[id]?.receipt.items[arrival.itemNumber].handler.state
        finished[id]?.receipt.items[arrival.itemNumber].handler = answer
        finished[id]?.pending += (answer.state == .pending ? 1 : 0) - (old == .pending ? 1 : 0)
        return answered(id)
    }

    /// - Returns: nil while an answer is missing.
    private mutating func answered(_ id: TransferID) -> Answered? {
        guard let entry = finished[id], entry.isAnswered else { return nil }
        finished[id]?.waiters = []
        return Answered(receipt: entry.receipt, waiters: entry.waiters)
    }

    /// - Parameter waiter: the task that waits for the handlers' answers; nil: none waits.
    mutating func receipt(of id: TransferID, from peer: PeerID, waiter: Int?) -> ReceiptLookup {
        guard let entry = finished[id] else { return receiving[id] == nil ? .unknown : .none }
        guard entry.peer == peer, entry.hasEnded else { return .none }
        guard let waiter, !entry.isAnswered, !isStopping else { return .receipt(entry.receipt) }
        finished[id]?.waiters.insert(waiter)
        return .waiting
    }

    /// A waiting task was cancelled.
    mutating func forget(waiter: Int, of id: TransferID) { finished[id]?.waiters.remove(waiter) }

    private mutating func remember(_ id: TransferID) {
        finishedOrder.append(id)
        rememberedItems += finished[id]?.receipt.items.count ?? 0
        while finishedOrder.count > Limits.rememberedReceipts || rememberedItems > Limits.rememberedItems {
            // The oldest that no task waits for.
            let index = finishedOrder.firstIndex { $0 != id && finished[$0]?.isAnswered ?? true }
            guard let index else { return }
            let forgotten = finished.removeValue(forKey: finishedOrder.remove(at: index))
            rememberedItems -= forgotten?.receipt.items.count ?? 0
        }
    }

    /// No new offers and no new contents.
    /// - Returns: the receipts as they are, for the waiting tasks.
    mutating func stop() -> [Answered] {
        isStopping = true
        accepted = [:]
        var answered: [Answered] = []
        for (id, entry) in finished where !entry.waiters.isEmpty {
            answered.append(Answered(receipt: entry.receipt, waiters: entry.waiters))
            finished[id]?.waiters = []
        }
        return answered
    }
}

extension ItemReceipt {
    /// Whether it waits for handlers of this transfer; other answers without one of this process are of an earlier one.
    fileprivate var isOpen: Bool { handler.state == .pending && (!isAlready || isAgain) }
}
