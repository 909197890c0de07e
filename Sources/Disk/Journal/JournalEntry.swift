package import Sharing

/// One arrival as shown to the user.
package struct JournalEntry: Hashable, Sendable {
    package var arrival: Arrival
    /// The time just before the move into the Inbox.
    package var arrived: WallTime
    package var state: DeliveryState
    /// The state of the waiting delivery; nil unless `state` is `waiting`.
    package var waiting: WaitingDelivery?
    /// The number of attempts begun, over all handlers.
    package var attemptCount: Int
    /// The first attempt and the latest ones, by number; at most `Journal.keptAttempts`. Only set if one entry is
    /// requested by its number; empty in lists.
    package var attempts: [JournalAttempt]
    /// How the item left the Inbox; nil if no departure is recorded.
    package var departure: Departure?

    /// Whether the item is in the Inbox, according to the journal.
    package var isThere: Bool { departure == nil && state != .gone }

    package init(
        arrival: Arrival, arrived: WallTime, state: DeliveryState, waiting: WaitingDelivery? = nil,
        attemptCount: Int = 0, attempts: [JournalAttempt] = [], departure: Departure? = nil
    ) {
        self.arrival = arrival
        self.arrived = arrived
        self.state = state
        self.waiting = waiting
        self.attemptCount = attemptCount
        self.attempts = attempts
        self.departure = departure
    }
}

/// One call of a handler for one arrival.
package struct JournalAttempt: Hashable, Sendable {
    /// Starts at 1 and counts over all handlers.
    package var number: Int
    /// The handler's identifier.
    package var handler: String
    package var began: WallTime
    /// Whether a person asked for it, with this handler.
    package var isAsked: Bool
    /// Nil while the attempt runs, and permanently nil if the machine or the receiver died.
    package var ended: WallTime?
    /// Nil if `ended` is nil.
    package var outcome: AttemptOutcome?

    package init(
        number: Int, handler: String, began: WallTime, isAsked: Bool = false, ended: WallTime? = nil,
        outcome: AttemptOutcome? = nil
    ) {
        self.number = number
        self.handler = handler
        self.began = began
        self.isAsked = isAsked
        self.ended = ended
        self.outcome = outcome
    }
}
