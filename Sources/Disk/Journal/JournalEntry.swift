package import Sharing

/// One arrival as people are shown it.
package struct JournalEntry: Hashable, Sendable {
    package var arrival: Arrival
    /// When it was about to be moved into the Inbox.
    package var arrived: WallTime
    package var state: DeliveryState
    /// How the delivery goes on; nil unless `state` is `waiting`.
    package var waiting: WaitingDelivery?
    /// How many attempts have begun, of all handlers.
    package var attemptCount: Int
    /// By number: the first one and the latest, `Journal.keptAttempts` in all. Only where one entry was asked for by
    /// its number; empty in lists.
    package var attempts: [JournalAttempt]
    /// How it left the Inbox; nil where nobody has said that it has.
    package var departure: Departure?

    /// Whether it lies in the Inbox, as far as anybody has said.
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
    /// 1 and up, over all handlers.
    package var number: Int
    /// The handler's identifier.
    package var handler: String
    package var began: WallTime
    /// Nil while it is under way, and for ever where the machine or the receiver died.
    package var ended: WallTime?
    /// Nil where `ended` is.
    package var outcome: AttemptOutcome?

    package init(
        number: Int, handler: String, began: WallTime, ended: WallTime? = nil, outcome: AttemptOutcome? = nil
    ) {
        self.number = number
        self.handler = handler
        self.began = began
        self.ended = ended
        self.outcome = outcome
    }
}
