import HandlerCatalog
import Sharing
import Streams

// The calls of handlers: their beginnings in the order of arrival, and their ends.

extension DeliveryLedger {
    /// How long no call begins after a failed write of the journal, and none of an item after a failed read.
    static let journalPause: Duration = .seconds(10)

    /// Takes the next step that nothing outside must cause: a call that can begin, the oldest first, or the alarm.
    /// - Returns: its actions; carry them out and ask again, until there are none.
    mutating func advance() -> [Action] {
        let now = facts.uptime
        if let pause = pausedUntil, pause <= now { pausedUntil = nil }
        expireReleases(now)
        for handler in slots.keys {
            for number in slots[handler]?.queue.wake(at: now) ?? [] {
                if let candidate = entries[number]?.state.candidate { entries[number]?.state = .ready(candidate) }
            }
            if let notBefore = slots[handler]?.notBefore, notBefore <= now { slots[handler]?.notBefore = nil }
        }
        while actions.isEmpty, pausedUntil == nil, running < places, let (handler, numbers) = next() {
            prepare(numbers, handler)
        }
        if actions.isEmpty {
            letRest()
            setAlarm()
        }
        return takeActions()
    }

    /// The oldest delivery that can begin, with the deliveries of the same call.
    private func next() -> (handler: String, numbers: [ArrivalNumber])? {
        var best: (handler: String, number: ArrivalNumber)?
        for (handler, slot) in slots where !slot.isBusy && slot.notBefore == nil {
            guard let first = slot.queue.ready.first(where: { canBegin($0, slot) }) else { continue }
            if let best, best.number < first { continue }
            best = (handler, first)
        }
        guard let (handler, first) = best, let slot = slots[handler] else { return nil }
        guard slot.program.mode == .perTransfer, entries[first]?.asked == nil, let source = source(of: first) else {
            return (handler, [first])
        }
        let batch = slot.queue.ready.filter {
            self.source(of: $0) == source && sameLink($0, first) && entries[$0]?.asked == nil
        }
        return (handler, Array(batch))
    }

    /// A handler that takes whole transfers waits for their end.
    private func canBegin(_ number: ArrivalNumber, _ slot: HandlerSlot) -> Bool {
        guard slot.program.mode == .perTransfer, entries[number]?.asked == nil, let source = source(of: number) else {
            return true
        }
        return !open.contains(source)
    }

    private func source(of number: ArrivalNumber) -> Source? {
        entries[number].map { Source(transfer: $0.delivery.transfer, peer: $0.delivery.peer) }
    }

    /// A URL that is opened for its scheme has a call of its own.
    private func sameLink(_ number: ArrivalNumber, _ first: ArrivalNumber) -> Bool {
        number == first
            || entries[first]?.state.candidate?.link == nil && entries[number]?.state.candidate?.link == nil
    }

    /// Looks for the items of a call, and lets its beginning be recorded.
    private mutating func prepare(_ numbers: [ArrivalNumber], _ handler: String) {
        let wasAbsent = absent[handler] != nil
        if let reason = missing(handler) {
            for number in numbers { suspend(number, reason) }
            return
        }
        // Those that waited for the program go first.
        if wasAbsent, resume(handler) { return }
        var arrivals: [Arrival] = []
        for number in numbers {
            let isAsked = entries[number]?.asked != nil
            let arrival: Arrival
            switch facts.arrival(number) {
            case .there(let found): arrival = found
            case .none:
                if isAsked { actions.append(.answerAsked(number, .unknown)) }
                drop(number)
                continue
            case .unreadable:
                postponeReading(number)
                continue
            }
            switch facts.presence(of: arrival) {
            case .there(let arrival): arrivals.append(arrival)
            case .left where isAsked, .gone where isAsked: endAsked(number, .left)
            // Its watchers already know that it left.
            case .left: finish(arrival, as: .gone, HandlerAnswer(.none))
            case .gone: finish(arrival, as: .gone, HandlerAnswer(.failed))
            case .unknown:
                pausedUntil = facts.uptime + Self.journalPause
                return
            }
        }
        // Without its first item, an item of another transfer may have come before the others.
        guard arrivals.first?.number == numbers.first else { return }
        // One by one while their clear copies are together too large.
        if arrivals.count > 1, !facts.fits(arrivals) { arrivals.removeLast(arrivals.count - 1) }
        guard let first = arrivals.first, let entry = entries[first.number], let candidate = entry.state.candidate
        else {
            return
        }
        let call = DeliveryCall(
            candidate: candidate, items: arrivals.map { DeliveryCall.Item(arrival: $0, attempt: 1) },
            isLaunch: slots[handler]?.isLaunched != true, annotation: entry.asked?.annotation ?? [:])
        actions.append(.record(call, isAsked: entry.asked != nil))
    }

    /// The journal cannot read an arrival. The others go on, and it is tried again later.
    private mutating func postponeReading(_ number: ArrivalNumber) {
        guard let entry = entries[number], let candidate = entry.state.candidate else { return }
        if entry.asked != nil { return endAsked(number, .fault("the journal cannot be read")) }
        move(number, to: .waiting(candidate, until: facts.uptime + Self.journalPause))
    }

    /// The beginning of a call was recorded.
    /// - Parameter attempts: for each of its items the number of the attempt; nil if the journal could not be written:
    ///   without a record no handler is called, because the call could repeat again and again unseen.
    mutating func began(_ call: DeliveryCall, attempts: [Int]?) -> [Action] {
        guard let attempts else {
            pausedUntil = facts.uptime + Self.journalPause
            return []
        }
        let handler = call.candidate.program.identifier
        var call = call
        for (index, attempt) in attempts.enumerated() { call.items[index].attempt = attempt }
        for number in call.numbers { move(number, to: .underWay(call.candidate, since: facts.uptime)) }
        slots[handler]?.isLaunched = true
        return [.call(call)]
    }

    // MARK: Ends of calls

    mutating func called(_ call: DeliveryCall, _ result: CallResult) {
        let handler = call.candidate.program.identifier
        let now = facts.uptime
        if case .postponed(let wait) = result { slots[handler]?.notBefore = now + wait }
        let outcome = result.outcome
        if case .answered = result, outcome.answer != .yes, call.isLaunch { slots[handler]?.isLaunched = false }
        if let arrival = call.items.first?.arrival, entries[arrival.number]?.asked != nil {
            askedEnded(arrival, result, handler)
        } else if case .answered = result {
            answered(call.items.map(\.arrival), outcome, handler)
        } else {
            actions.append(.end(call.numbers, outcome, .again))
            for number in call.numbers {
                if case .locked = result {
                    takeUpAgain(number, notBefore: nil, isStale: true)
                } else {
                    takeUpAgain(number, notBefore: nil)
                }
            }
        }
        for holder in Set(call.items.map(\.arrival.holder)) where readers(of: holder).isEmpty {
            answer(released.free(holder))
        }
    }

    private mutating func answered(_ arrivals: [Arrival], _ outcome: AttemptOutcome, _ handler: String) {
        // Items of a batch may have waited differently, but mostly have not: equal steps are recorded together.
        var steps: [(step: DeliveryStep, arrivals: [Arrival])] = []
        for arrival in arrivals {
            guard let entry = entries[arrival.number] else { continue }
            let step = step(after: outcome, entry, by: handler)
            if let index = steps.firstIndex(where: { $0.step == step }) {
                steps[index].arrivals.append(arrival)
            } else {
                steps.append((step, [arrival]))
            }
        }
        for (step, arrivals) in steps {
            actions.append(.end(arrivals.map(\.number), outcome, step))
            for arrival in arrivals { go(on: arrival, outcome, step) }
        }
        actions.append(.noteDepartures(arrivals, handler: handler))
    }

    private mutating func go(on arrival: Arrival, _ outcome: AttemptOutcome, _ step: DeliveryStep) {
        let number = arrival.number
        switch step {
        case .deferred(let until, let since, let deferrals):
            entries[number]?.delivery.due = until
            entries[number]?.delivery.deferredSince = since
            entries[number]?.delivery.deferrals = deferrals
            actions.append(.answer(arrival, HandlerAnswer(.later, exitCode: outcome.exitCode)))
            let wait = entries[number].map { DeliveryBackoff.wait(for: $0.delivery, at: facts.now) } ?? .zero
            takeUpAgain(number, notBefore: facts.uptime + wait)
        case .refused(let handler):
            entries[number]?.delivery.refusedBy.append(handler)
            takeUpAgain(number, notBefore: nil)
        case .again, .unchanged:
            takeUpAgain(number, notBefore: nil)
        case .ended(let state):
            actions.append(.answer(arrival, HandlerAnswer(Self.answer(state), exitCode: outcome.exitCode)))
            drop(number)
        }
    }

    private func step(after outcome: AttemptOutcome, _ entry: Entry, by handler: String) -> DeliveryStep {
        switch outcome.answer {
        case .yes: return .ended(.yes)
        case .failed: return .ended(.failed)
        case .later: return DeliveryBackoff.step(after: entry.delivery, at: facts.now)
        case .no:
            let refused = entry.delivery.refusedBy + [handler]
            let isAnybodyLeft = facts.candidates(for: entry.subject).contains {
                !refused.contains($0.program.identifier)
            }
            return isAnybodyLeft ? .refused(by: handler) : .ended(.no)
        }
    }

    private static func answer(_ state: DeliveryState) -> HandlerAnswer.State {
        switch state {
        case .yes: .yes
        case .no: .no
        case .parked: .later
        default: .failed
        }
    }

    private mutating func takeUpAgain(_ number: ArrivalNumber, notBefore: Duration?, isStale: Bool = false) {
        leaveCall(number)
        entries[number]?.notBefore = notBefore
        assign(number, isStale: isStale)
    }

    /// A call that a person asked for has ended.
    private mutating func askedEnded(_ arrival: Arrival, _ result: CallResult, _ handler: String) {
        let outcome = result.outcome
        let isDone = outcome.answer == .yes
        leaveCall(arrival.number)
        actions.append(.end([arrival.number], outcome, isDone ? .ended(.yes) : .unchanged))
        if case .locked = result { return endAsked(arrival.number, .locked) }
        if isDone { actions.append(.answer(arrival, HandlerAnswer(.yes, exitCode: outcome.exitCode))) }
        actions.append(.noteDepartures([arrival], handler: handler))
        endAsked(arrival.number, .answered(outcome))
    }

    private mutating func leaveCall(_ number: ArrivalNumber) { move(number, to: .unhandled) }

    // MARK: Missing programs

    /// Why the program of a handler is missing; its deliveries wait then. A resident one that runs needs no file.
    mutating func missing(_ handler: String) -> String? {
        guard let slot = slots[handler], slot.program.mode != .resident || !slot.isLaunched else { return nil }
        guard let reason = facts.absence(of: slot.program) else { return nil }
        if absent.updateValue(slot.program, forKey: handler) == nil {
            actions.append(.reportMissing(handler: handler, reason: reason))
        }
        return reason
    }

    /// The program of its handler is missing: an item waits until the program is there again. That is no attempt; its
    /// sender gets to know that it is not opened yet.
    private mutating func suspend(_ number: ArrivalNumber, _ reason: String) {
        guard let entry = entries[number], let candidate = entry.state.candidate else { return }
        if entry.asked != nil { return endAsked(number, .fault(reason)) }
        switch facts.arrival(number) {
        case .none: drop(number)
        case .unreadable: postponeReading(number)
        case .there(let arrival):
            move(number, to: .suspended(candidate))
            actions.append(.answer(arrival, HandlerAnswer(.later)))
        }
    }

    /// Takes up the deliveries whose programs are there again.
    mutating func lookForPrograms() {
        for (handler, program) in absent where facts.absence(of: program) == nil { resume(handler) }
    }

    /// The program of a handler is there again.
    /// - Returns: whether deliveries have waited for it.
    @discardableResult
    private mutating func resume(_ handler: String) -> Bool {
        absent[handler] = nil
        let waiting = entries.keys.sorted().filter { number in
            guard case .suspended(let candidate) = entries[number]?.state else { return false }
            return candidate.program.identifier == handler
        }
        for number in waiting { assign(number) }
        return !waiting.isEmpty
    }

    // MARK: Waiting

    /// Notifies handlers without deliveries, and forgets them.
    private mutating func letRest() {
        for (handler, slot) in slots where !slot.isBusy && slot.queue.ready.isEmpty {
            slots[handler]?.isLaunched = false
            guard slot.queue.isEmpty else { continue }
            slots[handler] = nil
            actions.append(.rest(handler: handler))
        }
    }

    private mutating func setAlarm() {
        let due = slots.values.flatMap { $0.isBusy ? [] : [$0.queue.nextDue, $0.notBefore] }
        let next = (due + [pausedUntil, released.nextDue]).compactMap(\.self).min()
        if alarm.move(to: next) { actions.append(.setAlarm(next)) }
    }
}

extension CallResult {
    /// The outcome for the journal.
    fileprivate var outcome: AttemptOutcome {
        switch self {
        case .answered(let outcome): outcome
        case .cutShort: AttemptOutcome(.later, reason: "the receiver stopped")
        case .postponed: AttemptOutcome(.later, reason: "the handler crashed, and is started again later")
        case .locked: AttemptOutcome(.later, reason: "it is locked")
        }
    }
}
