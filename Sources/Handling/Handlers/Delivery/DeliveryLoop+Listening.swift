import Sharing

// Those who wait for a handler: senders for its answer, and people for an item that it has.

extension DeliveryLoop {
    /// Another listener hears the answer: at once, if the sender of the item would know it already.
    mutating func follow(_ arrival: Arrival, _ answered: @escaping @Sendable (Arrival, HandlerAnswer?) -> Void) {
        guard var entry = entries[arrival.number] else { return answered(arrival, nil) }
        let before = entry.asked?.answered ?? entry.answered
        let both: Answered = { arrival, answer in
            before(arrival, answer)
            answered(arrival, answer)
        }
        if entry.asked != nil { entry.asked?.answered = both } else { entry.answered = both }
        entries[arrival.number] = entry
        let waits = entry.isHeld || entry.isSuspended || entry.asked == nil && entry.candidate == nil
        if waits { answered(arrival, HandlerAnswer(.later)) }
    }

    /// The item is about to leave the Inbox: no handler gets it any more, also not as sent again. Waits for a handler that
    /// has it.
    mutating func release(_ number: ArrivalNumber, within limit: Duration, _ answer: ReleasedItems.Answer) {
        let now = engine.clock.uptime()
        let holder = entries[number]?.holder ?? read(number)?.holder ?? number
        released.hold(holder, until: now + DeliveryEngine.releaseHold)
        for (other, entry) in entries where entry.holder == holder && !entry.isUnderWay {
            guard let handler = entry.candidate?.program.identifier else { continue }
            desks[handler]?.queue.remove(other)
            assign(other)
        }
        let readers = readers(of: holder)
        if readers.isEmpty { return answer.resume(returning: .free) }
        for reader in readers { Task { [caller = engine.caller] in await caller.itemWillMove(reader.delivery.number) } }
        if limit > .zero {
            released.wait(for: holder, until: now + limit, answer)
        } else {
            answer.resume(returning: .free)
        }
    }

    /// The calls that have an item now.
    /// - Parameter holder: the arrival that stored it.
    func readers(of holder: ArrivalNumber) -> [Entry] {
        entries.values.filter { $0.holder == holder && $0.isUnderWay }
    }

    /// A call with these items has ended.
    mutating func free(_ items: [DeliveryCall.Item]) {
        for holder in Set(items.map(\.arrival.holder)) where readers(of: holder).isEmpty { released.free(holder) }
    }
}
