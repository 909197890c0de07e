import Streams
private import Synchronization

/// The ledger of a reception for many threads, with its clock, and with the alarm that ends the transfers whose contents
/// do not come.
final class OpenTransfers: Sendable {
    private struct State {
        var ledger = TransferLedger()
        /// Wakes when the next accepted transfer expires.
        var alarm: (rings: ContinuousClock.Instant, task: Task<Void, Never>)?
    }

    private let events: Listeners<Reception.Event>
    private let state = Mutex(State())

    init(_ events: Listeners<Reception.Event>) { self.events = events }

    func with<Result: Sendable>(_ body: (inout TransferLedger) -> Result) -> Result {
        state.withLock { body(&$0.ledger) }
    }

    /// Ends the accepted transfers whose contents have not begun in time: now, and again when the next one is over. To
    /// be called after each change that lets one expire.
    func expire() {
        let over = state.withLock { state in
            let over = state.ledger.expire(at: .now)
            let next = state.ledger.nextExpiry
            if state.alarm?.rings != next {
                state.alarm?.task.cancel()
                state.alarm = next.map { ($0, alarm(at: $0)) }
            }
            return over
        }
        for transfer in over { neverBegan(transfer) }
    }

    private func alarm(at time: ContinuousClock.Instant) -> Task<Void, Never> {
        Task { [weak self] in
            await Patience.wait(until: time)
            if !Task.isCancelled { self?.expire() }
        }
    }

    /// Tells the end of an accepted transfer whose contents have not begun.
    func neverBegan(_ transfer: TransferLedger.Accepted, _ fault: TransferError = neverCame) {
        let (offer, count) = (transfer.offer, transfer.offer.items.count)
        let receipt = Receipt(transfer: offer.transfer, items: Array(repeating: ItemReceipt(.notSent), count: count))
        events.tell(.ended(offer.transfer, from: transfer.claim.peer, receipt, fault))
    }

    private static let neverCame = TransferError(.interrupted, "its contents did not come", cause: .timeout)

    /// Accepted bytes of a peer, by `Footprint`, that are not stored yet.
    func footprint(of peer: PeerID, besides id: TransferID? = nil) -> UInt64 {
        with { $0.footprint(of: peer, besides: id, at: .now) }
    }

    /// Accepted bytes of a sender that are not stored yet.
    func bytesUnderWay(of sender: AmountSender, besides id: TransferID) -> UInt64 {
        with { ledger in
            ledger.underWay(besides: id, at: .now) { claim, dialect in
                sender.includes(claim.peer, by: dialect) ? claim.bytes : 0
            }
        }
    }

    // MARK: Rivals

    /// Waits a moment for ending transfers of the same items by the same peer: a killed sender that is started again at
    /// once finds its earlier contents only after they have been kept. A rival without new data for a while is ended.
    /// An active one continues, and each has its own place.
    func awaitRivals(of offer: Offer, from peer: PeerID) async {
        let end = ContinuousClock.now + Self.rivalWait
        let first = rivals(of: offer, from: peer).map { $0.pulse.state.received }.max()
        guard let first else { return }
        while ContinuousClock.now < end, !Task.isCancelled {
            let rivals = rivals(of: offer, from: peer)
            if rivals.isEmpty { return }
            let states = rivals.map(\.pulse.state)
            if (states.map(\.received).max() ?? 0) > first + Self.buffered { return }
            for (rival, state) in zip(rivals, states) where state.last + Self.stalled < .now { rival.interrupt() }
            try? await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Other transfers of the peer that are being received and have an item of the same kind, name and type.
    func rivals(of offer: Offer, from peer: PeerID) -> [TransferLedger.Receiving] {
        with { $0.rivals(of: offer, from: peer) }
    }

    private static let rivalWait: Duration = .seconds(5)
    /// Time without data after which a connection is given up for a new one.
    private static let stalled: Duration = .seconds(3)
    /// More bytes than can be in transit between a lost sender and our disk.
    private static let buffered: UInt64 = 64 << 20
}
