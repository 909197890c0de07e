import Sharing
import Streams

/// Items that are about to leave the Inbox: the requests that wait for readers, and the holds on deliveries. An item is
/// named by the arrival that stored it: its deliveries as sent again share the item.
///
/// All times are by the engine's clock.
struct ReleasedItems {
    /// The answer to a request.
    typealias Answered = (id: Int, answer: DeliveryEngine.ReleaseAnswer)

    private struct Request {
        var id: Int
        var deadline: Duration
    }

    private var requests: [ArrivalNumber: [Request]] = [:]
    private var holds: [ArrivalNumber: Duration] = [:]

    /// The earliest deadline.
    var nextDue: Duration? { requests.values.joined().map(\.deadline).min() }

    mutating func hold(_ number: ArrivalNumber, until instant: Duration) { holds[number] = instant }

    mutating func endHold(_ number: ArrivalNumber) { holds[number] = nil }

    /// Until when no handler is given the item; nil if there is no hold.
    func held(_ number: ArrivalNumber) -> Duration? { holds[number] }

    mutating func wait(for number: ArrivalNumber, until deadline: Duration, id: Int) {
        requests[number, default: []].append(Request(id: id, deadline: deadline))
    }

    /// No handler has the item any more.
    mutating func free(_ number: ArrivalNumber) -> [Answered] {
        (requests.removeValue(forKey: number) ?? []).map { ($0.id, .free) }
    }

    /// Answers the requests whose time is up, and forgets holds that are over.
    ///
    /// - Parameter reader: the name of the handler that has an item, and since when.
    mutating func expire(
        at now: Duration, reader: (ArrivalNumber) -> (name: String, since: Duration)?
    ) -> [Answered] {
        var answers: [Answered] = []
        for (number, waiting) in requests {
            guard let reader = reader(number) else {
                answers += free(number)
                continue
            }
            let due = waiting.filter { $0.deadline <= now }
            guard !due.isEmpty else { continue }
            answers += due.map { ($0.id, .read(by: reader.name, for: now - reader.since)) }
            let rest = waiting.filter { $0.deadline > now }
            requests[number] = rest.isEmpty ? nil : rest
            // The item stays, and its delivery goes on as usual.
            if rest.isEmpty { holds[number] = nil }
        }
        if !holds.isEmpty { holds = holds.filter { $0.value > now } }
        return answers
    }
}

extension DeliveryLedger {
    /// The item is about to leave the Inbox: no handler gets it any more, also not as sent again. Waits for a handler that
    /// has it.
    mutating func release(_ id: Int, _ number: ArrivalNumber, within limit: Duration) {
        let now = facts.uptime
        let holder = entries[number]?.holder ?? facts.arrival(number).arrival?.holder ?? number
        released.hold(holder, until: now + DeliveryEngine.releaseHold)
        for (other, entry) in entries where entry.holder == holder && !entry.isUnderWay && entry.state.candidate != nil
        {
            assign(other)
        }
        let readers = readers(of: holder)
        actions += readers.map { .itemWillMove($0.delivery.number) }
        if readers.isEmpty || limit <= .zero {
            actions.append(.answerRelease(id: id, .free))
        } else {
            released.wait(for: holder, until: now + limit, id: id)
        }
    }

    /// The deliveries under way that have an item.
    /// - Parameter holder: the arrival that stored it.
    func readers(of holder: ArrivalNumber) -> [Entry] {
        slots.values.flatMap(\.queue.underWay).compactMap { entries[$0] }.filter { $0.holder == holder }
    }

    mutating func answer(_ answers: [ReleasedItems.Answered]) {
        actions += answers.map { .answerRelease(id: $0.id, $0.answer) }
    }

    mutating func expireReleases(_ now: Duration) {
        var released = released
        let answers = released.expire(at: now) { holder in
            guard case .underWay(let candidate, let since) = readers(of: holder).first?.state else { return nil }
            return (candidate.program.name, since)
        }
        self.released = released
        answer(answers)
    }
}
