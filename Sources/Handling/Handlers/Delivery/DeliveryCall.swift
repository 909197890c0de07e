package import Sharing

/// One call of a handler: for one arrival, or for all of a transfer.
package struct DeliveryCall: Sendable {
    /// An arrival, and how often handlers have been called for it, this call included: 1 and up.
    package struct Item: Sendable {
        package var arrival: Arrival
        package var attempt: Int
    }

    package var candidate: HandlerChoice.Candidate
    /// At least one; more than one only for a handler that takes whole transfers.
    package var items: [Item]
    /// Whether the handler was not running: it is launched first.
    package var isLaunch: Bool
    /// Facts that the user gave with this call.
    package var annotation: [String: String] = [:]

    package var numbers: [ArrivalNumber] { items.map(\.arrival.number) }
}

/// How a call ended.
package enum CallResult: Sendable {
    case answered(AttemptOutcome)
    /// The receiver stops and has ended the call. The attempt does not count.
    case cutShort
    /// The handler was not called, for it has crashed; wait this long before the next call. The attempt does not count.
    case postponed(Duration)
    /// A sealed item was locked before its handler could get it, or the lock has ended the handler. The attempt does not
    /// count.
    case locked
}

/// Calls handlers' programs.
package protocol HandlerCalling: Sendable {
    /// Calls, and waits for the answer. A handler that is launched is first asked whether it wants to run, if its
    /// bundle requests that.
    ///
    /// If the task is cancelled, the program is ended with all processes that it has started.
    func call(_ call: DeliveryCall) async -> CallResult
    /// Why a program cannot be started now, because something of it is missing; nil if it can. One line.
    func absence(of program: HandlerProgram) -> String?
    /// Whether the program of the last call has taken a sealed item: its clear copy was gone. Asked once after a call.
    func hasTaken(_ number: ArrivalNumber) -> Bool
    /// An item is about to leave the Inbox. A resident handler with this item gets a notice.
    func itemWillMove(_ number: ArrivalNumber) async
    /// No delivery waits for this handler: if it stays running, it may be ended after a while.
    func rests(_ handler: String) async
    /// Ends every handler that is running.
    func stop() async
}

extension HandlerCalling {
    /// For callers that open no sealed items.
    package func hasTaken(_ number: ArrivalNumber) -> Bool { false }

    /// For callers that start no programs.
    package func absence(of program: HandlerProgram) -> String? { nil }
}
