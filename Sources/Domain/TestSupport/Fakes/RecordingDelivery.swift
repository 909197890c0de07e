package import Sharing
private import Synchronization

/// A handler that records its calls, and gives the answers that the test sets, at the time that the test sets.
package final class RecordingDelivery: Delivering {
    package enum Behaviour: Sendable {
        /// Takes nothing.
        case none
        /// Answers everything at once.
        case answering(HandlerAnswer)
        /// Answers each arrival when `answer` is called for its item.
        case later
    }

    /// The arrivals that it was asked to open, in order.
    package let arrivals = Recorder<Arrival>()

    /// The arrivals whose answers others wait for, in order.
    package let followed = Recorder<Arrival>()

    private let behaviour: Behaviour
    private let waiting = Mutex<[Int: (Arrival, @Sendable (Arrival, HandlerAnswer) -> Void)]>([:])
    /// The ended transfers reported to it, in order.
    package let ended = Recorder<TransferID>()

    package init(_ behaviour: Behaviour = .none) {
        self.behaviour = behaviour
    }

    package func takes(_ facts: ArrivalFacts) -> Bool {
        if case .none = behaviour { return false }
        return true
    }

    package func deliver(_ arrivals: [Arrival], answered: @escaping @Sendable (Arrival, HandlerAnswer) -> Void) {
        for arrival in arrivals {
            switch behaviour {
            case .none:
                preconditionFailure("something was delivered to a handler that takes nothing: ask `takes` first")
            case .answering(let answer):
                self.arrivals.record(arrival)
                answered(arrival, answer)
            case .later:
                waiting.withLock { waiting in
                    precondition(waiting[arrival.itemNumber] == nil, "an item was delivered twice at the same time")
                    waiting[arrival.itemNumber] = (arrival, answered)
                }
                self.arrivals.record(arrival)
            }
        }
    }

    package func follow(_ arrivals: [Arrival], answered: @escaping @Sendable (Arrival, HandlerAnswer?) -> Void) {
        for arrival in arrivals {
            guard case .later = behaviour else {
                answered(arrival, nil)
                continue
            }
            // As after a restart: an earlier process has taken it over.
            waiting.withLock { waiting in
                let before = waiting[arrival.itemNumber]?.1
                waiting[arrival.itemNumber] = (
                    arrival,
                    { arrival, answer in
                        before?(arrival, answer)
                        answered(arrival, answer)
                    }
                )
            }
            followed.record(arrival)
        }
    }

    package func transferEnded(_ transfer: TransferID, from peer: PeerID) { ended.record(transfer) }

    /// Lets the handler answer for an item; wait for its arrival first.
    package func answer(item: Int, _ answer: HandlerAnswer) {
        guard let (arrival, answered) = waiting.withLock({ $0.removeValue(forKey: item) }) else {
            preconditionFailure("item \(item) has not arrived: wait with `arrivals.first { $0.itemNumber == … }`")
        }
        answered(arrival, answer)
    }
}
