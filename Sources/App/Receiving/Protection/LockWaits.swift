import Sharing
import Streams

/// Says that an item may wait behind the lock, or that somebody has come who can unlock.
struct LockWaits: Sendable {
    let news = Broadcast<Void>(buffer: .bufferingNewest(1))

    func hear(_ event: Reception.Event) {
        if case .opened(let arrival, let answer) = event, answer.state == .later, arrival.protection.isSealed {
            news.send(())
        }
    }

    /// Somebody has come who can unlock.
    func appeared() { news.send(()) }
}
