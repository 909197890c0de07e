import Sharing
import Synchronization

/// Bytes that a sender sends in a day: those in the journal and those of running transfers. The gate needs this before
/// the reception exists, so `use` adds the reception later.
final class DayAmounts: Sendable {
    private struct Weak {
        weak var reception: Reception?
    }

    private let reading: any AmountReading
    private let reception = Mutex(Weak())

    init(_ reading: any AmountReading) {
        self.reading = reading
    }

    func use(_ reception: Reception) { self.reception.withLock { $0.reception = reception } }

    func amount(with offer: Offer, from peer: PeerID, at time: WallTime) -> UInt64? {
        reception.withLock { $0.reception }?.amountOfDay(with: offer, from: peer, at: time, reading)
    }
}
