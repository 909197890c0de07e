package import Sharing

/// One call of a handler: for one arrival, or for all of a transfer.
package struct DeliveryCall: Sendable {
    /// An arrival, and how often handlers have been called for it, this call included: 1 and up.
    package struct Item: Sendable {
        package var arrival: Arrival
        package var attempt: Int
    }

    package var candidate: HandlerChoice.Candidate
    /// At least one; more than one only for a handler that wants them by the transfer.
    package var items: [Item]
    /// Whether the handler was not running: it is launched first.
    package var isLaunch: Bool

    package var numbers: [ArrivalNumber] { items.map(\.arrival.number) }
}

/// How a call ended.
package enum CallResult: Sendable {
    case answered(AttemptOutcome)
    /// The receiver is stopping, and ended it: the attempt does not count.
    case cutShort
    /// The handler was not asked, and nobody should ask it for so long: it has crashed. The attempt does not count.
    case postponed(Duration)
}

/// Calls handlers' programs.
package protocol HandlerCalling: Sendable {
    /// Calls, and waits for the answer. A handler that is launched is asked first whether it wants to run, where it says
    /// that it is to be asked.
    ///
    /// When the task is cancelled the program is ended with all that it has started.
    func call(_ call: DeliveryCall) async -> CallResult
    /// An item is about to leave the Inbox. A resident handler with this item gets a notice.
    func itemWillMove(_ number: ArrivalNumber) async
    /// Nothing more is waiting for this handler: if it stays running it may be ended after a while.
    func rests(_ handler: String) async
    /// Ends every handler that is running.
    func stop() async
}
