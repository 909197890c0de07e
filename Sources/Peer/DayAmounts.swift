import Sharing
import Synchronization

/// How much comes from whom in a day: what the journal says and what is under way. The gate asks, which is made before the
/// reception.
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
