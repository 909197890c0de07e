package import Sharing
private import Synchronization

/// A handler that keeps what it was told, and answers when and what the test says.
package final class RecordingDelivery: Delivering {
    package enum Behaviour: Sendable {
        /// Takes nothing.
        case none
        /// Answers everything at once.
        case answering(HandlerAnswer)
        /// Answers each arrival when `answer` is called for its item.
        case later
    }

    /// What it was asked to open, in order.
    package let arrivals = Recorder<Arrival>()

    private let behaviour: Behaviour
    private let waiting = Mutex<[Int: CheckedContinuation<HandlerAnswer, Never>]>([:])

    package init(_ behaviour: Behaviour = .none) {
        self.behaviour = behaviour
    }

    package func takes(_ arrival: Arrival) -> Bool {
        if case .none = behaviour { return false }
        return true
    }

    package func deliver(_ arrival: Arrival) async -> HandlerAnswer {
        switch behaviour {
        case .none:
            preconditionFailure("something was delivered to a handler that takes nothing: ask `takes` first")
        case .answering(let answer):
            arrivals.record(arrival)
            return answer
        case .later:
            return await withCheckedContinuation { continuation in
                waiting.withLock { waiting in
                    precondition(waiting[arrival.itemNumber] == nil, "an item was delivered twice at the same time")
                    waiting[arrival.itemNumber] = continuation
                }
                arrivals.record(arrival)
            }
        }
    }

    /// Lets the handler answer for an item; wait for its arrival first.
    package func answer(item: Int, _ answer: HandlerAnswer) {
        guard let continuation = waiting.withLock({ $0.removeValue(forKey: item) }) else {
            preconditionFailure("item \(item) has not arrived: wait with `arrivals.first { $0.itemNumber == … }`")
        }
        continuation.resume(returning: answer)
    }
}
