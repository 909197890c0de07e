package import Sharing
import Streams

extension DeliveryEngine {
    /// Whether an item may leave the Inbox.
    package enum ReleaseAnswer: Sendable, Equatable {
        /// No handler has it, and none gets it for `releaseHold`.
        case free
        /// A handler still has it: the handler's name, and for how long.
        case read(by: String, for: Duration)
    }

    /// How long no handler is given an item that is about to leave the Inbox.
    static let releaseHold: Duration = .seconds(30)

    /// Waits until no handler has an item. A resident handler gets a notice, so that it can answer at once.
    ///
    /// - Parameter limit: how long to wait; with zero the item is free at once, even if a handler has it.
    package func release(_ number: ArrivalNumber, within limit: Duration) async -> ReleaseAnswer {
        await mailbox.ask(ifClosed: .free) { .release(number, limit, $0) }
    }
}
