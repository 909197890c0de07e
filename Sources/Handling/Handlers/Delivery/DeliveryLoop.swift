import ContentCheck
import Glibc
import HandlerCatalog
import Logging
import Sharing
import Streams
import UniformTypes

/// The state of the engine between two events.
struct DeliveryLoop {
    let engine: DeliveryEngine
    var entries: [ArrivalNumber: Entry] = [:]
    var desks: [String: Desk] = [:]
    /// Transfers that may bring more items.
    private var open: Set<Source> = []
    var released = ReleasedItems()
    /// Programs that were missing when they were to be called, by their handlers. Their deliveries wait for them.
    var absent: [String: HandlerProgram] = [:]
    private var running = 0
    /// No call begins before this, because the journal could not be written.
    private var pausedUntil: Duration?
    private var wakeUp: Duration?
    private var timer: Task<Void, Never>?
    private(set) var isStopping = false
    /// The protections that can be opened, as this loop knows it: it looks once for each event. An unlock in the middle of
    /// one lets no later item overtake earlier ones.
    private var openable: Set<ProtectionClass>
    /// Whether no handler is being called.
    var isIdle: Bool { running == 0 }

    /// A transfer of one peer.
    private struct Source: Hashable {
        var transfer: TransferID
        var peer: PeerID
    }

    /// How long no call begins after a failed write of the journal.
    private static let journalPause: Duration = .seconds(10)

    init(_ engine: DeliveryEngine) {
        self.engine = engine
        openable = Self.openable(by: engine)
    }

    private static func openable(by engine: DeliveryEngine) -> Set<ProtectionClass> {
        Set(ProtectionClass.allCases.filter(engine.canOpen))
    }

    // MARK: Events

    /// Takes up the deliveries of an earlier run.
    mutating func start(_ group: inout DiscardingTaskGroup) {
        for delivery in engine.leftovers {
            // An unreadable one must not hold up the others; it stays in the journal.
            guard let arrival = read(delivery.number) else { continue }
            enter(delivery, arrival, answered: engine.observe)
        }
        if !entries.isEmpty {
            engine.logger.notice("deliveries resume", metadata: ["count": "\(entries.count)"])
        }
        dispatch(&group)
    }

    mutating func handle(_ event: DeliveryEngine.Event) {
        let openable = Self.openable(by: engine)
        if openable != self.openable {
            self.openable = openable
            chooseAnew()
        }
        switch event {
        case .arrived(let arrivals, let answered):
            lookForPrograms()
            for arrival in arrivals {
                open.insert(Source(transfer: arrival.transfer, peer: arrival.peer))
                let delivery = WaitingDelivery(
                    number: arrival.number, transfer: arrival.transfer, peer: arrival.peer, due: engine.clock.now())
                enter(delivery, arrival, answered: answered)
                // For example a received URL whose scheme no handler opens.
                guard let entry = entries[arrival.number], !entry.isHeld else { continue }
                if entry.candidate == nil { finish(arrival.number, as: .none, HandlerAnswer(.none)) }
            }
        case .followed(let arrivals, let answered):
            for arrival in arrivals { follow(arrival, answered) }
        case .transferEnded(let transfer, let peer):
            open.remove(Source(transfer: transfer, peer: peer))
        case .called(let call, let result):
            called(call, result)
        case .handlersChanged:
            chooseAnew()
        case .due:
            wakeUp = nil
        case .stop:
            isStopping = true
            timer?.cancel()
            for (number, entry) in entries where entry.asked != nil && !entry.isUnderWay {
                endAsked(number, .fault("the receiver is stopping"))
            }
        case .retry(let number, let continuation):
            continuation.resume(returning: retry(number))
        case .open(let call):
            open(call)
        case .release(let number, let limit, let answer):
            release(number, within: limit, answer)
        case .ping(let continuation):
            continuation.resume()
        }
    }

    private mutating func enter(_ delivery: WaitingDelivery, _ arrival: Arrival, answered: @escaping Answered) {
        let wait = DeliveryBackoff.wait(for: delivery, at: engine.clock.now())
        entries[delivery.number] = Entry(
            delivery: delivery,
            holder: arrival.holder,
            subject: engine.subject(arrival),
            answered: answered,
            notBefore: wait > .zero ? engine.clock.uptime() + wait : nil
        )
        assign(delivery.number)
    }

    func read(_ number: ArrivalNumber) -> Arrival? {
        do {
            return try engine.journal.arrival(number)
        } catch {
            engine.logger.error("an arrival cannot be read", metadata: ["number": "\(number)", "reason": "\(error)"])
            return nil
        }
    }

    // MARK: Assigning

    /// Queues the delivery at its next handler. Without one it waits until a handler is installed.
    mutating func assign(_ number: ArrivalNumber) {
        guard var entry = entries[number] else { return }
        // The user may have changed the protection of an item that waits.
        if entry.isHeld || entry.isStale, let arrival = read(number) {
            guard openable.contains(arrival.protection) else { return hold(number) }
            // The contents could not be read while it was locked.
            let chosen = entry.subject.chosen
            entry.subject = engine.subject(arrival)
            entry.subject.chosen = chosen
        }
        guard openable.contains(entry.subject.protection) else { return hold(number) }
        let candidates = engine.choice.candidates(for: entry.subject)
        let candidate = candidates.first { candidate in
            let handler = candidate.program.identifier
            guard let asked = entry.asked else { return !entry.delivery.refusedBy.contains(handler) }
            return asked.call.handler == handler
        }
        entry.candidate = candidate
        (entry.isHeld, entry.isStale) = (false, false)
        entries[number] = entry
        guard let candidate else {
            if let asked = entry.asked {
                return endAsked(number, .fault("there is no enabled handler \(asked.call.handler)"))
            }
            // A handler has refused it, and there is no other.
            if !entry.delivery.refusedBy.isEmpty { finish(number, as: .no, HandlerAnswer(.no)) }
            return
        }
        let handler = candidate.program.identifier
        var desk = desks[handler] ?? Desk(program: candidate.program)
        // A changed program must answer its launch questions again.
        if !desk.program.isSame(as: candidate.program) { desk.isLaunched = false }
        desk.program = candidate.program
        desks[handler] = desk
        if let notBefore = [entry.notBefore, released.held(entry.holder)].compactMap(\.self).max() {
            desks[handler]?.queue.insert(number, notBefore: notBefore)
        } else {
            desks[handler]?.queue.insert(number)
        }
    }

    /// A locked item waits for the unlock. That is no attempt; its sender gets to know that it is not opened yet.
    private mutating func hold(_ number: ArrivalNumber) {
        if entries[number]?.asked != nil { return endAsked(number, .locked) }
        entries[number]?.candidate = nil
        guard entries[number]?.isHeld == false, let answered = entries[number]?.answered, let arrival = read(number)
        else { return }
        entries[number]?.isHeld = true
        answered(arrival, HandlerAnswer(.later))
    }

    /// The handlers have changed, or what can be opened: deliveries that have not begun are assigned again.
    private mutating func chooseAnew() {
        for handler in desks.keys { desks[handler]?.queue = DeliveryQueue() }
        for number in entries.keys.sorted() where entries[number]?.isUnderWay == false { assign(number) }
    }

    private mutating func retry(_ number: ArrivalNumber) -> DeliveryEngine.RetryAnswer {
        if let entry = entries[number], entry.isUnderWay || entry.asked != nil { return .underWay }
        do {
            guard let arrival = try engine.journal.arrival(number) else { return .unknown }
            if arrival.content?.outcome == .lying {
                return .fault("its content does not match its type: no handler is asked")
            }
            guard try engine.journal.isThere(number) else { return .left }
            if engine.choice.candidates(for: engine.subject(arrival)).isEmpty {
                let name = TypeRegistry.system.description(of: arrival.type).map { "\($0) (\(arrival.type))" }
                return .fault("no handler for this type: \(name ?? arrival.type.identifier)")
            }
            guard let delivery = try engine.journal.retry(number, at: engine.clock.now()) else { return .unknown }
            let old = entries[number]
            if let handler = old?.candidate?.program.identifier { desks[handler]?.queue.remove(number) }
            released.endHold(arrival.holder)
            enter(delivery, arrival, answered: old?.answered ?? engine.observe)
            return .begun
        } catch {
            return .fault(error.description)
        }
    }

    /// Queues a call that a person asked for, in the place of the usual delivery.
    private mutating func open(_ call: AskedCall) {
        let number = call.number
        let old = entries[number]
        if isStopping { return call.answer.resume(returning: .fault("the receiver is stopping")) }
        if old?.isUnderWay == true || old?.asked != nil { return call.answer.resume(returning: .underWay) }
        do {
            guard let arrival = try engine.journal.arrival(number) else {
                return call.answer.resume(returning: .unknown)
            }
            guard try engine.journal.isThere(number) else { return call.answer.resume(returning: .left) }
            if arrival.content?.outcome == .lying {
                let reason = "its content does not match its type: no handler is asked"
                return call.answer.resume(returning: .fault(reason))
            }
            if let handler = old?.candidate?.program.identifier { desks[handler]?.queue.remove(number) }
            var subject = engine.subject(arrival)
            subject.chosen = call.handler
            let delivery = WaitingDelivery(
                number: number, transfer: arrival.transfer, peer: arrival.peer, due: engine.clock.now())
            entries[number] = Entry(
                delivery: old?.delivery ?? delivery, holder: arrival.holder, subject: subject, answered: engine.observe,
                asked: Asked(
                    call: call, delivery: old?.delivery, notBefore: old?.notBefore,
                    answered: old?.answered ?? engine.observe))
            assign(number)
        } catch {
            call.answer.resume(returning: .fault(error.description))
        }
    }

    /// Answers the person who asked. The usual delivery goes on, if there was one that the answer has not ended.
    mutating func endAsked(_ number: ArrivalNumber, _ answer: DeliveryEngine.AskedAnswer) {
        guard let asked = entries.removeValue(forKey: number)?.asked else { return }
        asked.call.answer.resume(returning: answer)
        if case .answered(let outcome) = answer, outcome.answer == .yes { return }
        guard let delivery = asked.delivery, answer != .left, let arrival = read(number) else { return }
        entries[number] = Entry(
            delivery: delivery, holder: arrival.holder, subject: engine.subject(arrival), answered: asked.answered,
            notBefore: asked.notBefore)
        if !isStopping { assign(number) }
    }

    /// A call that a person asked for has ended.
    private mutating func askedEnded(_ number: ArrivalNumber, _ asked: Asked, _ result: CallResult, _ handler: String) {
        entries[number]?.isUnderWay = false
        let outcome =
            switch result {
            case .answered(let outcome): outcome
            case .cutShort: AttemptOutcome(.later, reason: "the receiver stopped")
            case .postponed: AttemptOutcome(.later, reason: "the handler crashed, and is started again later")
            case .locked: AttemptOutcome(.later, reason: "it is locked")
            }
        let isDone = outcome.answer == .yes
        write([number], outcome, isDone ? .ended(.yes) : .unchanged)
        if case .locked = result { return endAsked(number, .locked) }
        guard let arrival = read(number) else { return endAsked(number, .answered(outcome)) }
        if isDone { asked.answered(arrival, HandlerAnswer(.yes, exitCode: outcome.exitCode)) }
        noteDepartures([arrival], handler)
        endAsked(number, .answered(outcome))
    }

    // MARK: Calling

    /// Begins as many calls as may run at once, the oldest first, and sets the timer for waiting deliveries.
    mutating func dispatch(_ group: inout DiscardingTaskGroup) {
        let now = engine.clock.uptime()
        if let pause = pausedUntil, pause <= now { pausedUntil = nil }
        released.expire(at: now) { [self] holder in
            guard let entry = readers(of: holder).first, let candidate = entry.candidate else { return nil }
            return (candidate.program.name, entry.begun)
        }
        for handler in desks.keys {
            desks[handler]?.queue.wake(at: now)
            if let notBefore = desks[handler]?.notBefore, notBefore <= now { desks[handler]?.notBefore = nil }
        }
        while running < engine.places, pausedUntil == nil, let (handler, numbers) = next() {
            begin(numbers, handler, &group)
        }
        letRest(&group)
        setTimer(now)
    }

    /// The oldest delivery that can begin, with the deliveries of the same call.
    private func next() -> (handler: String, numbers: [ArrivalNumber])? {
        var best: (handler: String, numbers: [ArrivalNumber])?
        for (handler, desk) in desks where !desk.isBusy && desk.notBefore == nil {
            guard let first = desk.queue.ready.first(where: { canBegin($0, desk) }) else { continue }
            if let number = best?.numbers.first, number < first { continue }
            best = (handler, [first])
        }
        guard let (handler, numbers) = best, let desk = desks[handler], let first = numbers.first,
            desk.program.mode == .perTransfer, let source = source(of: first)
        else { return best }
        if entries[first]?.asked != nil { return best }
        return (
            handler,
            desk.queue.ready.filter {
                self.source(of: $0) == source && sameLink($0, first) && entries[$0]?.asked == nil
            }
        )
    }

    /// A handler that takes whole transfers waits for their end.
    private func canBegin(_ number: ArrivalNumber, _ desk: Desk) -> Bool {
        guard desk.program.mode == .perTransfer, entries[number]?.asked == nil, let source = source(of: number) else {
            return true
        }
        return !open.contains(source)
    }

    private func source(of number: ArrivalNumber) -> Source? {
        entries[number].map { Source(transfer: $0.delivery.transfer, peer: $0.delivery.peer) }
    }

    /// A URL that is opened for its scheme has a call of its own.
    private func sameLink(_ number: ArrivalNumber, _ first: ArrivalNumber) -> Bool {
        number == first || entries[first]?.candidate?.link == nil && entries[number]?.candidate?.link == nil
    }

    private mutating func begin(_ numbers: [ArrivalNumber], _ handler: String, _ group: inout DiscardingTaskGroup) {
        desks[handler]?.queue.take(numbers)
        if isMissing(handler, for: numbers) { return }
        var arrivals: [Arrival] = []
        for number in numbers {
            guard var arrival = read(number) else {
                endAsked(number, .unknown)
                entries[number] = nil
                continue
            }
            var place = place(of: arrival)
            if place == .gone, let moved = engine.findAgain(arrival) {
                arrival = moved
                place = self.place(of: arrival)
            }
            if entries[number]?.asked != nil, place == .left || place == .gone {
                endAsked(number, .left)
                continue
            }
            switch place {
            case .there: arrivals.append(arrival)
            // Its watchers already know that it left.
            case .left: finish(number, as: .gone, HandlerAnswer(.none))
            case .gone: finish(number, as: .gone, HandlerAnswer(.failed))
            case .unknown:
                pausedUntil = engine.clock.uptime() + Self.journalPause
                for number in numbers where entries[number] != nil { desks[handler]?.queue.insert(number) }
                return
            }
        }
        if arrivals.count > 1, engine.copies?.fits(arrivals) == false {
            // One by one while their clear copies are together too large.
            for arrival in arrivals.dropFirst() { desks[handler]?.queue.insert(arrival.number) }
            arrivals.removeLast(arrivals.count - 1)
        }
        guard let first = arrivals.first, let candidate = entries[first.number]?.candidate else { return }
        let asked = entries[first.number]?.asked
        let attempts: [Int]
        do {
            attempts = try engine.journal.began(
                arrivals.map(\.number), handler: handler, isAsked: asked != nil, at: engine.clock.now())
        } catch {
            // Without a record no handler is called: the call could repeat again and again unseen.
            engine.logger.error("a delivery cannot be stored", metadata: ["reason": "\(error)"])
            pausedUntil = engine.clock.uptime() + Self.journalPause
            for arrival in arrivals { desks[handler]?.queue.insert(arrival.number) }
            return
        }
        for arrival in arrivals {
            entries[arrival.number]?.isUnderWay = true
            entries[arrival.number]?.begun = engine.clock.uptime()
        }
        let call = DeliveryCall(
            candidate: candidate,
            items: zip(arrivals, attempts).map { DeliveryCall.Item(arrival: $0, attempt: $1) },
            isLaunch: desks[handler]?.isLaunched != true,
            annotation: asked?.call.annotation ?? [:]
        )
        desks[handler]?.isBusy = true
        desks[handler]?.isLaunched = true
        running += 1
        let engine = self.engine
        group.addTask { engine.mailbox.post(.called(call, await engine.caller.call(call))) }
    }

    private enum Presence {
        case there
        /// The journal records that it has left.
        case left
        case gone
        case unknown
    }

    private func place(of arrival: Arrival) -> Presence {
        // Another item may have its name by now. A fault of the journal shows when the call is recorded.
        if (try? engine.journal.isThere(arrival.number)) == false { return .left }
        var status = stat()
        if lstat(arrival.stored.path, &status) == 0 || errno != ENOENT { return .there }
        // While the disk of the Inbox is not mounted, the item may still exist.
        return engine.isInboxThere() ? .gone : .unknown
    }

    private mutating func called(_ call: DeliveryCall, _ result: CallResult) {
        let handler = call.candidate.program.identifier
        running -= 1
        desks[handler]?.isBusy = false
        if let number = call.numbers.first, let asked = entries[number]?.asked {
            switch result {
            case .answered(let outcome) where outcome.answer != .yes && call.isLaunch:
                desks[handler]?.isLaunched = false
            case .postponed(let wait): desks[handler]?.notBefore = engine.clock.uptime() + wait
            default: break
            }
            askedEnded(number, asked, result, handler)
            return free(call.items)
        }
        switch result {
        case .cutShort:
            write(call.numbers, AttemptOutcome(.later, reason: "the receiver stopped"), .again)
            for number in call.numbers { takeUpAgain(number, notBefore: nil) }
        case .postponed(let wait):
            desks[handler]?.notBefore = engine.clock.uptime() + wait
            write(
                call.numbers, AttemptOutcome(.later, reason: "the handler crashed, and is started again later"), .again)
            for number in call.numbers { takeUpAgain(number, notBefore: nil) }
        case .locked:
            write(call.numbers, AttemptOutcome(.later, reason: "it is locked"), .again)
            for number in call.numbers {
                entries[number]?.isStale = true
                takeUpAgain(number, notBefore: nil)
            }
        case .answered(let outcome):
            if outcome.answer != .yes, call.isLaunch { desks[handler]?.isLaunched = false }
            // Items of a batch may have waited differently, but mostly have not: equal steps are recorded together.
            var steps: [DeliveryStep: [Arrival]] = [:]
            for item in call.items {
                guard let entry = entries[item.arrival.number] else { continue }
                steps[step(after: outcome, entry, by: handler), default: []].append(item.arrival)
            }
            for (step, arrivals) in steps {
                write(arrivals.map(\.number), outcome, step)
                for arrival in arrivals { go(on: arrival, outcome, step) }
            }
            noteDepartures(call.items.map(\.arrival), handler)
        }
        free(call.items)
    }

    private mutating func go(on arrival: Arrival, _ outcome: AttemptOutcome, _ step: DeliveryStep) {
        let number = arrival.number
        guard var entry = entries[number] else { return }
        switch step {
        case .deferred(let until, let since, let deferrals):
            (entry.delivery.due, entry.delivery.deferredSince, entry.delivery.deferrals) = (until, since, deferrals)
            entries[number] = entry
            entry.answered(arrival, HandlerAnswer(.later, exitCode: outcome.exitCode))
            let wait = DeliveryBackoff.wait(for: entry.delivery, at: engine.clock.now())
            takeUpAgain(number, notBefore: engine.clock.uptime() + wait)
        case .refused(let handler):
            entry.delivery.refusedBy.append(handler)
            entries[number] = entry
            takeUpAgain(number, notBefore: nil)
        case .again, .unchanged:
            takeUpAgain(number, notBefore: nil)
        case .ended(let state):
            entries[number] = nil
            entry.answered(arrival, Self.answer(state, outcome))
        }
    }

    private func step(after outcome: AttemptOutcome, _ entry: Entry, by handler: String) -> DeliveryStep {
        switch outcome.answer {
        case .yes: return .ended(.yes)
        case .failed: return .ended(.failed)
        case .later: return DeliveryBackoff.step(after: entry.delivery, at: engine.clock.now())
        case .no:
            let refused = entry.delivery.refusedBy + [handler]
            let isAnybodyLeft = engine.choice.candidates(for: entry.subject).contains {
                !refused.contains($0.program.identifier)
            }
            return isAnybodyLeft ? .refused(by: handler) : .ended(.no)
        }
    }

    private static func answer(_ state: DeliveryState, _ outcome: AttemptOutcome) -> HandlerAnswer {
        switch state {
        case .yes: HandlerAnswer(.yes, exitCode: outcome.exitCode)
        case .no: HandlerAnswer(.no, exitCode: outcome.exitCode)
        case .parked: HandlerAnswer(.later, exitCode: outcome.exitCode)
        default: HandlerAnswer(.failed, exitCode: outcome.exitCode)
        }
    }

    private mutating func takeUpAgain(_ number: ArrivalNumber, notBefore: Duration?) {
        entries[number]?.isUnderWay = false
        entries[number]?.notBefore = notBefore
        assign(number)
    }

    /// Ends a delivery without a call of a handler.
    private mutating func finish(_ number: ArrivalNumber, as state: DeliveryState, _ answer: HandlerAnswer) {
        let entry = entries.removeValue(forKey: number)
        do {
            try engine.journal.end([number], as: state)
        } catch {
            engine.logger.error("a delivery cannot be stored", metadata: ["reason": "\(error)"])
        }
        if let answered = entry?.answered, let arrival = read(number) { answered(arrival, answer) }
    }

    /// Handlers may move and delete items: an item that is missing after a call was taken by the handler.
    private func noteDepartures(_ arrivals: [Arrival], _ handler: String) {
        let taken = arrivals.filter { engine.caller.hasTaken($0.number) }
        defer { for arrival in taken { engine.copies?.remove(arrival) } }
        let gone =
            taken
            + arrivals.filter { arrival in
                // Under its present name: another protection may have given it another one.
                !taken.contains(arrival) && [.left, .gone].contains(place(of: read(arrival.number) ?? arrival))
            }
        guard !gone.isEmpty else { return }
        do {
            let departure = Departure(.handler, at: engine.clock.now(), toward: handler)
            // With --now the user may have taken it before.
            let new = Set(try engine.journal.departed(gone.map(\.number), departure))
            for arrival in gone where new.contains(arrival.number) { engine.left(arrival, departure) }
        } catch {
            engine.logger.error("a departure cannot be stored", metadata: ["reason": "\(error)"])
        }
    }

    /// After a failed write only memory has the result: a restart repeats the call, which is the lesser evil.
    private func write(_ numbers: [ArrivalNumber], _ outcome: AttemptOutcome, _ step: DeliveryStep) {
        do {
            try engine.journal.ended(numbers, outcome, next: step, at: engine.clock.now())
        } catch {
            engine.logger.error("a handler's answer cannot be stored", metadata: ["reason": "\(error)"])
        }
    }

    // MARK: Waiting

    /// Notifies handlers without deliveries, and forgets them.
    private mutating func letRest(_ group: inout DiscardingTaskGroup) {
        for (handler, desk) in desks where !desk.isBusy && desk.queue.ready.isEmpty {
            desks[handler]?.isLaunched = false
            guard desk.queue.isEmpty else { continue }
            desks[handler] = nil
            let engine = self.engine
            group.addTask { await engine.caller.rests(handler) }
        }
    }

    private mutating func setTimer(_ now: Duration) {
        let due = desks.values.flatMap { desk in
            desk.isBusy ? [] : [desk.queue.nextDue, desk.notBefore]
        }
        let next = (due + [pausedUntil, released.nextDue]).compactMap { $0 }.min()
        guard next != wakeUp else { return }
        timer?.cancel()
        wakeUp = next
        timer = nil
        guard let next else { return }
        let engine = self.engine
        timer = Task {
            try? await engine.clock.sleep(next - now)
            if !Task.isCancelled { engine.mailbox.post(.due) }
        }
    }
}
