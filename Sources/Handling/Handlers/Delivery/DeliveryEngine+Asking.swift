package import Sharing
import Streams

extension DeliveryEngine {
    /// The result of a call that a person asked for.
    package enum AskedAnswer: Sendable, Equatable {
        /// The handler was called. After a yes the delivery is done, after any other answer it stays as it was.
        case answered(AttemptOutcome)
        /// No such arrival.
        case unknown
        /// It is not in the Inbox any more.
        case left
        /// It is being delivered just now.
        case underWay
        /// It is sealed, and cannot be opened before the unlock.
        case locked
        /// One line.
        case fault(String)
    }

    /// Calls a handler for an arrival, and waits for its answer. The call waits while the handler has another item.
    ///
    /// - Parameters:
    ///   - handler: its identifier; an enabled handler.
    ///   - annotation: facts of the user for the handler.
    package func open(
        _ number: ArrivalNumber, in handler: String, annotation: [String: String] = [:]
    ) async -> AskedAnswer {
        await mailbox.ask(ifClosed: .fault("the receiver is stopping")) {
            .open(AskedCall(number: number, handler: handler, annotation: annotation, answer: $0))
        }
    }
}

/// A call that a person asked for.
struct AskedCall: Sendable {
    let number: ArrivalNumber
    /// The identifier of the handler.
    let handler: String
    let annotation: [String: String]
    let answer: CheckedContinuation<DeliveryEngine.AskedAnswer, Never>
}
