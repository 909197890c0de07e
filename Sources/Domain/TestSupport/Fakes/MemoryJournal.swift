package import Sharing
private import Synchronization

/// A journal in memory, for tests: both of its ports, with faults on demand.
///
/// To simulate a crash, use the same journal again: `unsettled` has the intended arrivals that were never settled, and
/// attempts without an end have no outcome.
package final class MemoryJournal: ArrivalJournal, DeliveryJournal {
    /// The next operation, for tests that want it to fail.
    package enum Operation: Sendable, Hashable {
        case intend(count: Int)
        case settle(count: Int)
        /// The same, after it was recorded.
        case settled(count: Int)
        case arrivals(TransferID)
        case known(count: Int)
        case earlier(name: String)
        case waiting
        case arrival(ArrivalNumber)
        case began([ArrivalNumber], handler: String)
        case ended([ArrivalNumber], AttemptOutcome.Answer)
        case end([ArrivalNumber], DeliveryState)
        case retry(ArrivalNumber)
        case departed([ArrivalNumber])
    }

    /// One call of a handler for one arrival.
    package struct Attempt: Sendable, Hashable {
        package var number: Int
        package var handler: String
        package var began: WallTime
        /// Whether a person asked for it.
        package var isAsked = false
        package var ended: WallTime?
        /// Nil until it has ended.
        package var outcome: AttemptOutcome?
    }

    /// One arrival, settled or not.
    package struct Entry: Sendable {
        package var intended: IntendedArrival
        /// Nil until it is settled.
        package var stored: StoredItem?
        package var state: DeliveryState
        package var delivery: WaitingDelivery
        package var attempts: [Attempt] = []
        package var departure: Departure?
        /// The arrival that stored the item, of one that only calls for it again.
        package var again: ArrivalNumber?
    }

    /// The state of one delivery after a call that changed it.
    package struct Change: Sendable, Hashable {
        package var number: ArrivalNumber
        package var state: DeliveryState
        /// Attempts begun so far.
        package var attempts: Int

        package init(number: ArrivalNumber, state: DeliveryState, attempts: Int) {
            self.number = number
            self.state = state
            self.attempts = attempts
        }
    }

    private struct State {
        var entries: [ArrivalNumber: Entry] = [:]
        var last: Int64 = 0
    }

    /// The changes by `began`, `ended`, `end` and `retry`: for tests that wait for them.
    package let changes = Recorder<Change>()

    private let state = Mutex(State())
    private let now: @Sendable () -> WallTime
    private let fault: @Sendable (Operation) -> TransferError?

    /// - Parameters:
    ///   - now: the time of arrivals; deliveries are due from then on.
    ///   - fault: asked before each call; its result is thrown instead (its message, if a `JournalError` is thrown),
    ///   and nothing is recorded.
    package init(
        now: @escaping @Sendable () -> WallTime = { WallTime(milliseconds: 0) },
        fault: @escaping @Sendable (Operation) -> TransferError? = { _ in nil }
    ) {
        self.now = now
        self.fault = fault
    }

    /// All recorded arrivals, by number.
    package var entries: [(number: ArrivalNumber, entry: Entry)] {
        state.withLock { $0.entries.sorted { $0.key < $1.key }.map { (number: $0.key, entry: $0.value) } }
    }

    package subscript(number: ArrivalNumber) -> Entry? { state.withLock { $0.entries[number] } }

    /// Arrivals that were intended and not settled, by number.
    package var unsettled: [UnsettledArrival] {
        entries.filter { $0.entry.stored == nil }.map { number, entry in
            let facts = entry.intended.facts
            return UnsettledArrival(
                number: number, identity: entry.intended.identity, name: facts.item.name,
                folder: facts.destination.folder)
        }
    }

    private func attempt(_ operation: Operation) throws(JournalError) {
        if let fault = fault(operation) { throw JournalError(fault.message) }
    }
}

// MARK: - Arrivals

extension MemoryJournal {
    package func intend(_ arrivals: [IntendedArrival]) throws(TransferError) -> [ArrivalNumber] {
        if let fault = fault(.intend(count: arrivals.count)) { throw fault }
        let due = now()
        return state.withLock { state in
            arrivals.map { arrival in
                state.last += 1
                let number = ArrivalNumber(state.last)
                state.entries[number] = Entry(
                    intended: arrival,
                    stored: nil,
                    state: arrival.isDelivered ? .waiting : .none,
                    delivery: WaitingDelivery(
                        number: number, transfer: arrival.facts.transfer, peer: arrival.facts.peer, due: due)
                )
                return number
            }
        }
    }

    package func sendAgain(
        _ facts: ArrivalFacts, of holder: ArrivalNumber, isDelivered: Bool
    ) throws(TransferError) -> Arrival {
        guard (try? isThere(holder)) == true, let stored = self[holder]?.stored else {
            throw TransferError(.notKept, "\(facts.item.name) has left the Inbox")
        }
        let number = try intend([IntendedArrival(facts: facts, identity: nil, isDelivered: isDelivered)])[0]
        state.withLock { $0.entries[number]?.again = holder }
        try settle([(number: number, stored: stored)])
        return Arrival(number: number, facts: facts, stored: stored, again: holder)
    }

    package func arrivals(of transfer: TransferID, from peer: PeerID) throws(JournalError) -> [Arrival] {
        try attempt(.arrivals(transfer))
        return settledArrivals { $0.transfer == transfer && $0.peer == peer }
    }

    package func known(_ names: Set<SafeName>, from peer: PeerID) throws(JournalError) -> Set<SafeName> {
        try attempt(.known(count: names.count))
        let settled = entries.map(\.entry).filter { $0.stored != nil && $0.intended.facts.peer == peer }
        return names.intersection(settled.map(\.intended.facts.item.name))
    }

    package func earlier(
        _ item: OfferedItem, from peer: PeerID, limit: Int
    ) throws(JournalError) -> [Arrival] {
        try attempt(.earlier(name: item.name.text))
        let arrivals = settledArrivals { facts in
            facts.peer == peer && facts.item.kind == item.kind && facts.item.name == item.name
                && facts.size == item.size && facts.item.entries == item.entries
        }
        let latest = Dictionary(arrivals.map { ($0.holder, $0.number) }) { max($0, $1) }
        return Array(arrivals.reversed().filter { latest[$0.holder] == $0.number }.prefix(limit))
    }

    package func deliveryState(of number: ArrivalNumber) throws(JournalError) -> DeliveryState? {
        self[number]?.state
    }

    private func settledArrivals(_ isWanted: (ArrivalFacts) -> Bool) -> [Arrival] {
        let all = state.withLock { $0.entries }
        let wanted = all.compactMap { number, entry -> Arrival? in
            guard let stored = entry.stored, isWanted(entry.intended.facts) else { return nil }
            return Arrival(number: number, facts: entry.intended.facts, stored: stored, again: entry.again)
        }
        return wanted.sorted { $0.number < $1.number }
    }

    package func settle(_ outcomes: [(number: ArrivalNumber, stored: StoredItem?)]) throws(TransferError) {
        if let fault = fault(.settle(count: outcomes.count)) { throw fault }
        let unknown: ArrivalNumber? = state.withLock { state in
            var entries = state.entries
            for (number, stored) in outcomes {
                guard var entry = entries[number], entry.stored == nil else { return number }
                entry.stored = stored
                entries[number] = stored == nil ? nil : entry
            }
            state.entries = entries
            return nil
        }
        if let unknown { throw TransferError(.storage, "arrival \(unknown) does not wait to be settled") }
        if let fault = fault(.settled(count: outcomes.count)) { throw fault }
    }
}

// MARK: - Deliveries

extension MemoryJournal {
    package func waiting() throws(JournalError) -> [WaitingDelivery] {
        try attempt(.waiting)
        return entries.filter { $0.entry.stored != nil && $0.entry.state == .waiting }.map(\.entry.delivery)
    }

    /// The item got another protection, and with it another place.
    package func reseal(_ number: ArrivalNumber, as protection: ProtectionClass, at stored: StoredItem) {
        state.withLock { state in
            let handler = state.entries[number]?.intended.facts.destination.handler
            state.entries[number]?.intended.facts.destination = Destination(
                handler: handler.flatMap { try? SafeName($0) }, folder: nil, protection: protection)
            state.entries[number]?.stored = stored
        }
    }

    package func arrival(_ number: ArrivalNumber) throws(JournalError) -> Arrival? {
        try attempt(.arrival(number))
        guard let entry = self[number], let stored = entry.stored else { return nil }
        return Arrival(number: number, facts: entry.intended.facts, stored: stored, again: entry.again)
    }

    package func isThere(_ number: ArrivalNumber) throws(JournalError) -> Bool {
        try attempt(.arrival(number))
        guard let entry = self[number], let path = entry.stored?.path, entry.departure == nil else { return false }
        return !entries.contains { later in
            later.number > entry.again ?? number && later.entry.again == nil && later.entry.stored?.path == path
                && later.entry.departure == nil
                && later.entry.state != .gone
        }
    }

    package func began(
        _ numbers: [ArrivalNumber], handler: String, isAsked: Bool, at time: WallTime
    ) throws(JournalError) -> [Int] {
        try attempt(.began(numbers, handler: handler))
        return try change(numbers) { entry in
            entry.delivery.attempts += 1
            entry.attempts.append(
                Attempt(number: entry.delivery.attempts, handler: handler, began: time, isAsked: isAsked))
            return entry.delivery.attempts
        }
    }

    package func ended(
        _ numbers: [ArrivalNumber], _ outcome: AttemptOutcome, next: DeliveryStep, at time: WallTime
    ) throws(JournalError) {
        try attempt(.ended(numbers, outcome.answer))
        _ = try change(numbers) { entry in
            guard let last = entry.attempts.last, last.ended == nil else { return nil }
            entry.attempts[entry.attempts.count - 1].ended = time
            entry.attempts[entry.attempts.count - 1].outcome = outcome
            switch next {
            case .deferred(let until, let since, let deferrals):
                entry.delivery.due = until
                entry.delivery.deferredSince = since
                entry.delivery.deferrals = deferrals
                entry.state = .waiting
            case .refused(let handler):
                if !entry.delivery.refusedBy.contains(handler) { entry.delivery.refusedBy.append(handler) }
                entry.delivery.due = time
                entry.state = .waiting
            case .again:
                entry.delivery.due = time
                entry.state = .waiting
            case .unchanged: break
            case .ended(let state):
                entry.state = state
            }
            return last.number
        }
    }

    package func end(_ numbers: [ArrivalNumber], as state: DeliveryState) throws(JournalError) {
        try attempt(.end(numbers, state))
        _ = try change(numbers) { entry in
            entry.state = state
            return 0
        }
    }

    @discardableResult
    package func departed(
        _ numbers: [ArrivalNumber], _ departure: Departure
    ) throws(JournalError) -> [ArrivalNumber] {
        try attempt(.departed(numbers))
        let new = numbers.filter { self[$0]?.departure == nil }
        let calls = entries.filter { call in call.entry.again.map(numbers.contains) ?? false }.map(\.number)
        _ = try change(numbers + calls) { entry in
            entry.departure = entry.departure ?? departure
            if [.waiting, .parked].contains(entry.state) { entry.state = .gone }
            return 0
        }
        return new
    }

    package func retry(_ number: ArrivalNumber, at time: WallTime) throws(JournalError) -> WaitingDelivery? {
        try attempt(.retry(number))
        guard self[number]?.stored != nil else { return nil }
        _ = try change([number]) { entry in
            entry.state = .waiting
            entry.delivery.due = time
            entry.delivery.deferredSince = nil
            entry.delivery.deferrals = 0
            entry.delivery.refusedBy = []
            return 0
        }
        return self[number]?.delivery
    }

    /// Changes all of them, or none if one is missing, is not settled, or `body` returns nil for it.
    private func change(
        _ numbers: [ArrivalNumber], _ body: (inout Entry) -> Int?
    ) throws(JournalError) -> [Int] {
        let result: Result<([Int], [Change]), JournalError> = state.withLock { state in
            var entries = state.entries
            var results: [Int] = []
            var changes: [Change] = []
            for number in numbers {
                guard var entry = entries[number], entry.stored != nil else {
                    return .failure(JournalError("there is no stored item \(number)"))
                }
                guard let result = body(&entry) else {
                    return .failure(JournalError("no attempt is under way for arrival \(number)"))
                }
                entries[number] = entry
                results.append(result)
                changes.append(Change(number: number, state: entry.state, attempts: entry.delivery.attempts))
            }
            state.entries = entries
            return .success((results, changes))
        }
        let (results, changes) = try result.get()
        for change in changes { self.changes.record(change) }
        return results
    }
}
