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

/// Items that are about to leave the Inbox: the requests that wait for readers, and the holds on deliveries. An item is
/// named by the arrival that stored it: its deliveries as sent again share the item.
///
/// All times are by the engine's clock.
struct ReleasedItems {
    typealias Answer = CheckedContinuation<DeliveryEngine.ReleaseAnswer, Never>

    private struct Request {
        var deadline: Duration
        var answer: Answer
    }

    private var requests: [ArrivalNumber: [Request]] = [:]
    private var holds: [ArrivalNumber: Duration] = [:]

    /// The earliest deadline.
    var nextDue: Duration? { requests.values.joined().map(\.deadline).min() }

    mutating func hold(_ number: ArrivalNumber, until instant: Duration) { holds[number] = instant }

    mutating func endHold(_ number: ArrivalNumber) { holds[number] = nil }

    /// Until when no handler is given the item; nil if there is no hold.
    func held(_ number: ArrivalNumber) -> Duration? { holds[number] }

    mutating func wait(for number: ArrivalNumber, until deadline: Duration, _ answer: Answer) {
        requests[number, default: []].append(Request(deadline: deadline, answer: answer))
    }

    /// No handler has the item any more.
    mutating func free(_ number: ArrivalNumber) {
        for request in requests.removeValue(forKey: number) ?? [] { request.answer.resume(returning: .free) }
    }

    /// Answers the requests whose time is up, and forgets holds that are over.
    ///
    /// - Parameter reader: the name of the handler that has an item, and since when.
    mutating func expire(at now: Duration, reader: (ArrivalNumber) -> (name: String, since: Duration)?) {
        for (number, waiting) in requests {
            guard let reader = reader(number) else {
                free(number)
                continue
            }
            let due = waiting.filter { $0.deadline <= now }
            guard !due.isEmpty else { continue }
            for request in due {
                request.answer.resume(returning: .read(by: reader.name, for: now - reader.since))
            }
            let rest = waiting.filter { $0.deadline > now }
            requests[number] = rest.isEmpty ? nil : rest
            // The item stays, and its delivery goes on as usual.
            if rest.isEmpty { holds[number] = nil }
        }
        if !holds.isEmpty { holds = holds.filter { $0.value > now } }
    }
}
