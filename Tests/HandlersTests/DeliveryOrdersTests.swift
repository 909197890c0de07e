import HandlerCatalog
import Sharing
import TestSupport
import Testing
import UniformTypes

@testable import Handlers

/// A ledger of deliveries in its surroundings, with a record of the promises.
private struct DeliveryWorld: OrderedWorld {
    /// A request of a person or a sender.
    struct Request {
        var number: ArrivalNumber
        var answers = 0
    }

    static let places = 2

    let model = DeliveryModel()
    var ledger: DeliveryLedger
    var seed: UInt64
    var arrivals: [ArrivalNumber: Arrival] = [:]
    var transfers: [(id: TransferID, peer: UInt8, isOpen: Bool)] = []
    var calls: [(call: DeliveryCall, isAsked: Bool)] = []
    var alarm: Duration?
    /// Whether the handlers have changed, and the ledger does not know it.
    var isNoticeDue = false
    /// The last answers, as the listeners of this run heard them; nil: none yet.
    var heard: [ArrivalNumber: HandlerAnswer.State?] = [:]
    /// The deliveries that have ended in this run, or in one that could record it.
    var ended: Set<ArrivalNumber> = []
    /// The deliveries whose end could not be recorded.
    var unrecorded: Set<ArrivalNumber> = []
    var askers: [Int: Request] = [:]
    var asker: [ArrivalNumber: Int] = [:]
    var releases: [Int: Request] = [:]
    /// Until when no handler may get an item, by its holder.
    var holds: [ArrivalNumber: Duration] = [:]
    /// Until when a delivery waits because its handler asked for it.
    var waits: [ArrivalNumber: Duration] = [:]
    /// The protection as the ledger must know it.
    var protections: [ArrivalNumber: ProtectionClass] = [:]
    var refusals: [ArrivalNumber: Set<String>] = [:]
    var alarms = 0
    var broken: [String] = []

    init(seed: UInt64) {
        self.seed = seed
        ledger = DeliveryLedger(model, places: Self.places)
    }

    // MARK: The loop

    mutating func tell(_ event: DeliveryLedger.Event) {
        carryOut(ledger.handle(event))
        advance()
    }

    mutating func advance() {
        var rounds = 0
        while !ledger.isStopping {
            let actions = ledger.advance()
            if actions.isEmpty { return }
            carryOut(actions)
            rounds += 1
            if rounds > 1_000 { return broken.append("the ledger never comes to rest") }
        }
    }

    mutating func carryOut(_ actions: [DeliveryLedger.Action]) {
        for action in actions {
            switch action {
            case .record(let call, let isAsked):
                let attempts = try? model.journal.began(
                    call.numbers, handler: call.candidate.program.identifier, isAsked: isAsked, at: model.now)
                let actions = ledger.began(call, attempts: attempts)
                if attempts != nil { check(call, isAsked) }
                carryOut(actions)
            case .call(let call):
                calls.append((call, ledger.entries[call.numbers[0]]?.asked != nil))
            case .end(let numbers, let outcome, let step):
                let isRecorded = (try? model.journal.ended(numbers, outcome, next: step, at: model.now)) != nil
                if !isRecorded { unrecorded.formUnion(numbers) }
                for number in numbers { note(number, step) }
            case .finish(let number, let state):
                if (try? model.journal.end([number], as: state)) == nil { unrecorded.insert(number) }
            case .noteDepartures(let arrivals, let handler):
                let gone = arrivals.filter { model.missing.contains($0.holder) }.map(\.number)
                if !gone.isEmpty {
                    _ = try? model.journal.departed(gone, Departure(.handler, at: model.now, toward: handler))
                }
            case .answer(let arrival, let answer): hear(arrival.number, answer)
            case .forget(let number):
                ended.insert(number)
                if let last = heard[number], last == nil || last == .pending {
                    broken.append("the listener of \(number) is forgotten without an answer")
                }
                heard[number] = nil
            case .answerAsked(let number, _):
                guard let id = asker.removeValue(forKey: number) else {
                    broken.append("nobody waits for a call of \(number)")
                    continue
                }
                askers[id]?.answers += 1
            case .answerRelease(let id, let answer):
                releases[id]?.answers += 1
                if case .read = answer, let holder = releases[id]?.number { holds[holder] = nil }
            case .itemWillMove(let number):
                if !calls.contains(where: { $0.call.numbers.contains(number) }) {
                    broken.append("a handler without \(number) hears that it moves")
                }
            case .rest(let handler):
                if calls.contains(where: { $0.call.candidate.program.identifier == handler }) {
                    broken.append("\(handler) rests in a call")
                }
            case .reportMissing: break
            case .setAlarm(let due):
                alarm = due
                alarms += 1
            }
        }
    }

    mutating func note(_ number: ArrivalNumber, _ step: DeliveryStep) {
        switch step {
        case .deferred(_, _, let deferrals):
            waits[number] = model.uptime + .milliseconds(DeliveryBackoff.delay(after: deferrals - 1))
        case .refused(let handler):
            refusals[number, default: []].insert(handler)
            waits[number] = nil
        case .again: waits[number] = nil
        case .unchanged: break
        case .ended: ended.insert(number)
        }
    }

    mutating func hear(_ number: ArrivalNumber, _ answer: HandlerAnswer) {
        guard let last = heard[number] else { return }
        if let last, last != .later { broken.append("the answer \(last) to \(number) was not the last one") }
        heard[number] = answer.state
    }

    // MARK: Promises

    /// A call is about to begin.
    mutating func check(_ call: DeliveryCall, _ isAsked: Bool) {
        let handler = call.candidate.program.identifier
        if calls.count >= Self.places { broken.append("too many calls at once") }
        if calls.contains(where: { $0.call.candidate.program.identifier == handler }) {
            broken.append("\(handler) has two calls at once")
        }
        if model.handlers[handler]?.isProgramThere != true, call.isLaunch || model.handlers[handler]?.mode != .resident
        {
            broken.append("\(handler) is called without a program")
        }
        for item in call.items {
            let number = item.arrival.number
            if calls.contains(where: { $0.call.numbers.contains(number) }) {
                broken.append("\(number) is called twice")
            }
            if !isAsked, ended.contains(number) { broken.append("\(number) is called after its end") }
            if let until = holds[item.arrival.holder], until > model.uptime {
                broken.append("\(number) is called while its item leaves")
            }
            if let protection = protections[number], !model.canOpen(protection) {
                broken.append("\(number) is called while it is locked")
            }
            if model.missing.contains(item.arrival.holder) { broken.append("\(number) is called without its item") }
            if isAsked { continue }
            if refusals[number]?.contains(handler) == true { broken.append("\(number) is called after a no") }
            if let until = waits[number], until > model.uptime { broken.append("\(number) is called too early") }
            if call.candidate.program.mode == .perTransfer, isOpen(item.arrival) {
                broken.append("\(number) is called before the end of its transfer")
            }
        }
        guard !isAsked, !isNoticeDue, let first = call.numbers.first else { return }
        for (number, arrival) in arrivals where number < first && isOvertaken(arrival, at: handler) {
            broken.append("\(first) overtakes \(number) at \(handler)")
        }
    }

    func isOpen(_ arrival: Arrival) -> Bool { transfers.contains { $0.id == arrival.transfer && $0.isOpen } }

    /// Whether nothing but its turn keeps an item from a handler.
    func isOvertaken(_ arrival: Arrival, at handler: String) -> Bool {
        let number = arrival.number
        if ended.contains(number) || ledger.entries[number] == nil || asker[number] != nil { return false }
        if calls.contains(where: { $0.call.numbers.contains(number) }) { return false }
        if let until = waits[number], until > model.uptime { return false }
        if holds[arrival.holder] != nil || releases.values.contains(where: { $0.number == arrival.holder }) {
            return false
        }
        guard let now = model.current(number), now.protection == protections[number],
            now.protection == arrival.protection, model.canOpen(now.protection)
        else { return false }
        let candidate = model.candidates(for: model.subject(now)).first {
            refusals[number]?.contains($0.program.identifier) != true
        }
        guard let candidate, candidate.program.identifier == handler else { return false }
        return candidate.program.mode != .perTransfer || !isOpen(arrival)
    }

    func brokenPromises() -> [String] {
        var broken = broken
        for (id, request) in askers where request.answers > 1 { broken.append("person \(id) has two answers") }
        for (id, request) in releases where request.answers > 1 { broken.append("release \(id) has two answers") }
        for (number, entry) in ledger.entries {
            let isCalled = calls.contains { $0.call.numbers.contains(number) }
            if isCalled != entry.isUnderWay { broken.append("\(number) is in the state \(entry.state)") }
        }
        return broken
    }

    func brokenAtRest() -> [String] {
        var broken: [String] = []
        for (id, request) in askers where request.answers != 1 { broken.append("person \(id) waits for ever") }
        for (id, request) in releases where request.answers != 1 { broken.append("release \(id) waits for ever") }
        for (number, answer) in heard where answer == nil || answer == .pending || answer == .later {
            broken.append("the listener of \(number) waits for ever")
        }
        for number in ledger.entries.keys { broken.append("\(number) waits for ever") }
        for delivery in (try? model.journal.waiting()) ?? [] where !unrecorded.contains(delivery.number) {
            broken.append("\(delivery.number) is lost")
        }
        if !ledger.slots.isEmpty || alarm != nil || !calls.isEmpty { broken.append("the ledger is not at rest") }
        if !model.faults.began, !model.faults.ended, ledger.running != 0 { broken.append("a call is under way") }
        return broken
    }

    // MARK: Events

    mutating func step(_ dice: inout SeededNumbers) -> String {
        while true {
            if let event = happen(Int.random(in: 0..<35, using: &dice), &dice) { return event }
        }
    }

    /// - Returns: nil if this event cannot happen now.
    mutating func happen(_ event: Int, _ dice: inout SeededNumbers) -> String? {
        switch event {
        case 0...5: return arrive(&dice)
        case 6...7: return endTransfer(&dice)
        case 8...14: return endCall(&dice)
        case 15...16: return changeLock(&dice)
        case 17: return changeHandler(&dice)
        case 18:
            isNoticeDue = false
            tell(.handlersChanged)
            return "the handlers are chosen anew"
        case 19...20:
            guard let name = DeliveryModel.names.randomElement(using: &dice) else { return nil }
            model.handlers[name]?.isProgramThere.toggle()
            return "the program of \(name) \(model.handlers[name]?.isProgramThere == true ? "is back" : "is missing")"
        case 21:
            model.faults.began.toggle()
            return "beginnings \(model.faults.began ? "cannot" : "can") be recorded"
        case 22:
            model.faults.ended.toggle()
            return "ends \(model.faults.ended ? "cannot" : "can") be recorded"
        case 34:
            model.faults.read.toggle()
            return "arrivals \(model.faults.read ? "cannot" : "can") be read"
        case 23:
            model.isMounted.toggle()
            return "the disk of the Inbox is \(model.isMounted ? "there" : "absent")"
        case 24...25: return ask(&dice)
        case 26: return retry(&dice)
        case 27: return release(&dice)
        case 28: return lose(&dice)
        case 29:
            guard let number = arrivals.keys.sorted().randomElement(using: &dice), let arrival = model.current(number)
            else { return nil }
            let protection: ProtectionClass = Bool.random(using: &dice) ? .none : .complete
            model.journal.reseal(number, as: protection, at: arrival.stored)
            // The ledger may have read the old one.
            protections[number] = nil
            return "\(number) is sealed as \(protection)"
        case 30: return restart()
        default: return pass(Int.random(in: 1...40, using: &dice))
        }
    }

    mutating func arrive(_ dice: inout SeededNumbers) -> String {
        if transfers.last?.isOpen != true || Int.random(in: 0..<3, using: &dice) == 0 {
            transfers.append((TransferID(), UInt8.random(in: 1...2, using: &dice), true))
        }
        let transfer = transfers.filter(\.isOpen).randomElement(using: &dice) ?? transfers[transfers.count - 1]
        let type = Int.random(in: 0..<3, using: &dice) == 0 ? "public.plain-text" : "public.png"
        let protection = [ProtectionClass.none, .none, .untilFirstUnlock, .complete].randomElement(using: &dice)
        let chosen = Int.random(in: 0..<4, using: &dice) == 0 ? DeliveryModel.names.randomElement(using: &dice) : nil
        let old = Int.random(in: 0..<4, using: &dice) == 0 ? arrivals.keys.sorted().randomElement(using: &dice) : nil
        let holder = old.flatMap { arrivals[$0]?.holder }.flatMap { model.missing.contains($0) ? nil : $0 }
        var new: [Arrival] = []
        for _ in 0..<Int.random(in: 1...3, using: &dice) {
            let arrival = model.arrive(
                transfer.id, of: transfer.peer, type: type, protection ?? .none, to: chosen, again: holder)
            new.append(arrival)
            arrivals[arrival.number] = arrival
            heard[arrival.number] = .some(nil)
            protections[arrival.number] = arrival.protection
        }
        tell(.arrived(new))
        return
            "\(new.map(\.number)) arrive, \(protection ?? .none), for \(chosen ?? type), of \(holder.map { "\($0)" } ?? "-")"
    }

    mutating func endTransfer(_ dice: inout SeededNumbers) -> String? {
        guard let index = transfers.indices.filter({ transfers[$0].isOpen }).randomElement(using: &dice) else {
            return nil
        }
        transfers[index].isOpen = false
        tell(.transferEnded(transfers[index].id, .sample(transfers[index].peer)))
        return "a transfer ends"
    }

    mutating func endCall(_ dice: inout SeededNumbers) -> String? {
        guard let index = calls.indices.randomElement(using: &dice) else { return nil }
        let call = calls[index].call
        let isLocked = call.items.contains {
            model.current($0.arrival.number).map { !model.canOpen($0.protection) } ?? false
        }
        var result: CallResult
        switch Int.random(in: 0..<12, using: &dice) {
        case 0...3: result = .answered(AttemptOutcome(.yes, exitCode: 0))
        case 4...5: result = .answered(AttemptOutcome(.no))
        case 6...8: result = .answered(AttemptOutcome(.later))
        case 9: result = .answered(AttemptOutcome(.failed))
        case 10: result = .postponed(.seconds(Int.random(in: 1...20, using: &dice)))
        default: result = .cutShort
        }
        if isLocked { result = .locked }
        if case .answered = result, Int.random(in: 0..<5, using: &dice) == 0, let first = call.items.first {
            model.missing.insert(first.arrival.holder)
        }
        end(index, result)
        return "\(call.candidate.program.identifier) answers \(call.numbers): \(result)"
    }

    mutating func end(_ index: Int, _ result: CallResult) {
        let call = calls.remove(at: index).call
        if case .locked = result {
            for number in call.numbers { protections[number] = model.current(number)?.protection }
        }
        tell(.called(call, result))
    }

    mutating func changeLock(_ dice: inout SeededNumbers) -> String {
        let protection = Bool.random(using: &dice) ? ProtectionClass.untilFirstUnlock : .complete
        if model.unlocked.remove(protection) == nil { model.unlocked.insert(protection) }
        return "\(protection) is \(model.canOpen(protection) ? "unlocked" : "locked")"
    }

    mutating func changeHandler(_ dice: inout SeededNumbers) -> String {
        let name = DeliveryModel.names.randomElement(using: &dice) ?? "a"
        isNoticeDue = true
        if Bool.random(using: &dice) {
            model.handlers[name]?.version += 1
            return "\(name) has another version"
        }
        model.handlers[name]?.isInstalled.toggle()
        return "\(name) is \(model.handlers[name]?.isInstalled == true ? "installed" : "removed")"
    }

    /// A person asks for a call.
    mutating func ask(_ dice: inout SeededNumbers) -> String? {
        guard let number = arrivals.keys.sorted().randomElement(using: &dice), !ledger.isTaken(number),
            let arrival = model.current(number), (try? model.journal.isThere(number)) == true,
            let handler = DeliveryModel.names.randomElement(using: &dice)
        else { return nil }
        askers[askers.count] = Request(number: number)
        asker[number] = askers.count - 1
        protections[number] = arrival.protection
        tell(.asked(arrival, handler: handler, annotation: [:]))
        return "a person asks \(handler) to open \(number)"
    }

    mutating func retry(_ dice: inout SeededNumbers) -> String? {
        guard let number = arrivals.keys.sorted().randomElement(using: &dice), !ledger.isTaken(number),
            let arrival = model.current(number), (try? model.journal.isThere(number)) == true,
            !model.candidates(for: model.subject(arrival)).isEmpty,
            let delivery = try? model.journal.retry(number, at: model.now)
        else { return nil }
        if ledger.entries[number] == nil { heard[number] = nil }
        ended.remove(number)
        unrecorded.remove(number)
        waits[number] = nil
        refusals[number] = nil
        holds[arrival.holder] = nil
        protections[number] = arrival.protection
        tell(.retried(delivery, arrival))
        return "a person restarts \(number)"
    }

    mutating func release(_ dice: inout SeededNumbers) -> String? {
        guard let number = arrivals.keys.sorted().randomElement(using: &dice), let arrival = arrivals[number] else {
            return nil
        }
        let limit = Bool.random(using: &dice) ? 0 : 5
        releases[releases.count] = Request(number: arrival.holder)
        holds[arrival.holder] = model.uptime + DeliveryEngine.releaseHold
        tell(.release(id: releases.count - 1, number, limit: .seconds(limit)))
        return "\(number) is about to leave, within \(limit) s"
    }

    /// An item leaves the Inbox.
    mutating func lose(_ dice: inout SeededNumbers) -> String? {
        guard let number = arrivals.keys.sorted().randomElement(using: &dice), let holder = arrivals[number]?.holder
        else { return nil }
        model.missing.insert(holder)
        if Bool.random(using: &dice) { return "the user deletes \(holder)" }
        _ = try? model.journal.departed([holder], Departure(.taken, at: model.now))
        return "\(holder) is taken"
    }

    mutating func pass(_ seconds: Int) -> String {
        model.uptime += .seconds(seconds)
        ring()
        return "\(seconds) s pass"
    }

    mutating func ring() {
        var rings = 0
        while let due = alarm, due <= model.uptime {
            alarm = nil
            tell(.due)
            rings += 1
            if rings > 1_000 { return broken.append("the alarm rings for ever") }
        }
    }

    mutating func restart() -> String {
        tell(.stop)
        while !calls.isEmpty { end(0, .cutShort) }
        for (id, request) in askers where request.answers != 1 {
            broken.append("person \(id) has no answer at the end")
        }
        for (id, request) in releases where request.answers != 1 {
            broken.append("release \(id) has no answer at the end")
        }
        // The listeners and the holds of a process end with it.
        (heard, holds, releases, waits) = ([:], [:], [:], [:])
        (alarm, isNoticeDue) = (nil, false)
        for index in transfers.indices { transfers[index].isOpen = false }
        // A fault of the reads at a start leaves the deliveries to the next one.
        model.faults.read = false
        let deliveries = ((try? model.journal.waiting()) ?? []).compactMap { delivery in
            model.current(delivery.number).map { (delivery: delivery, arrival: $0) }
        }
        for (delivery, arrival) in deliveries {
            ended.remove(delivery.number)
            refusals[delivery.number] = Set(delivery.refusedBy)
            protections[delivery.number] = arrival.protection
            let wait = DeliveryBackoff.wait(for: delivery, at: model.now)
            if wait > .zero { waits[delivery.number] = model.uptime + wait }
            heard[delivery.number] = .some(nil)
        }
        ledger = DeliveryLedger(model, places: Self.places)
        tell(.resumed(deliveries))
        return "the receiver starts again"
    }

    mutating func settle(_ dice: inout SeededNumbers) {
        (model.faults.began, model.faults.ended, model.faults.read) = (false, false, false)
        model.isMounted = true
        model.unlocked = Set(ProtectionClass.allCases)
        for name in DeliveryModel.names {
            if model.handlers[name]?.isInstalled != true { isNoticeDue = true }
            model.handlers[name]?.isInstalled = true
            model.handlers[name]?.isProgramThere = true
        }
        // Without a notice, an arrival shows that the programs are there again.
        if isNoticeDue { _ = happen(18, &dice) }
        _ = arrive(&dice)
        for index in transfers.indices where transfers[index].isOpen {
            transfers[index].isOpen = false
            tell(.transferEnded(transfers[index].id, .sample(transfers[index].peer)))
        }
        for _ in 0..<1_000 {
            while !calls.isEmpty { end(0, .answered(AttemptOutcome(.yes, exitCode: 0))) }
            guard let due = alarm else { break }
            model.uptime = max(model.uptime, due)
            ring()
        }
    }
}

@Suite("Deliveries in random orders of events")
struct DeliveryOrdersTests {
    @Test("each item is called and answered, in order, whatever meets what")
    func orders() {
        #expect(brokenStory(200, steps: 60) { DeliveryWorld(seed: $0) } == nil)
    }
}
