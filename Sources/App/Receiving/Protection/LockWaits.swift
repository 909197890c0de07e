import Sharing
import Streams

/// Tells that an item may wait for the unlock, or that the user has come back.
struct LockWaits: Sendable {
    let news = Broadcast<Void>(buffer: .bufferingNewest(1))

    func hear(_ event: Reception.Event) {
        if case .opened(let arrival, let answer) = event, answer.state == .later, arrival.protection.isSealed {
            news.send(())
        }
    }

    /// The user has come back, and can unlock.
    func appeared() { news.send(()) }
}
