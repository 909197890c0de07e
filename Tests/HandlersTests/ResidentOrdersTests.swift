import HandlerCatalog
import Programs
import Sharing
import TestSupport
import Testing

@testable import Handlers

@Suite("The ledger of a resident handler, in random orders")
struct ResidentOrdersTests {
    @Test(
        "each question has one outcome, no answer is taken for another's, no notice is lost, and a stop ends all",
        arguments: [false, true])
    func orders(isKept: Bool) {
        #expect(brokenStory(1_500, steps: 60, of: { _ in ResidentWorld(isKept: isKept) }) == nil)
    }
}

/// A ledger with a model of the handler's processes, its callers and the clock.
private struct ResidentWorld: OrderedWorld {
    typealias Action = ResidentLedger.Action

    /// How a process answers.
    private enum Manner: CaseIterable {
        case numbered, unnumbered
        /// It takes the notice that an item leaves for a question.
        case twiceNumbered, twiceUnnumbered
        /// It writes what it likes, too.
        case nonsense
    }

    private enum Input: Equatable {
        case question(call: Int)
        case move(Int64)
        case other
    }

    private struct Process {
        let manner: Manner
        var input: [Input] = []
        /// Whether its pipe has taken all lines.
        var isDrained = true
        /// The lines that are not heard yet, and the calls that they answer.
        var output: [(line: [UInt8]?, call: Int?)] = []
        var open: Int?
        var settings: [String: HandlerSettingValue]
        /// The last notice about the lock, until it is told.
        var owedLock: LaunchRules.Notice?
        var isStarting = true
        var isDismissed = false
        var hasDeparted = false
        /// Whether it has exited, and whether the ledger knows.
        var hasExited = false, isOver = false
        /// Whether it has answered without a question.
        var hasMisbehaved = false
        /// Calls that take its output.
        var readers = 0
        var isFinished = false

        var isUsable: Bool { !isStarting && !isDismissed && !isOver }
    }

    private enum Event {
        case call
        case cancel(Int)
        case keep, stop
        case move(Int)
        case settings, lock, alarm, wait
        case launched(Bool)
        case began(Bool)
        case caughtUp(Int)
        case taken(Int)
        case reads(Int)
        case babbles(Int)
        case exits(Int)
        case heard(Int)
        case over(Int)
        case departed(Int)
        case concluded(Int)
        case finished(Int)
    }

    private static let limit = Duration.seconds(60)

    private var ledger: ResidentLedger
    private let isKept: Bool
    private var now = ContinuousClock.now
    private var number = 0
    private var processes: [Int: Process] = [:]
    private var launching: Int?
    private var isCut = false
    private var catchingUp: [Int] = []
    private var concluding: [Int] = []
    private var ending: [Int] = []
    private var finishing: [Int] = []
    /// All calls with the number of their outcomes, and the calls that were asked.
    private var outcomes: [Int: Int] = [:]
    private var asked: Set<Int> = []
    private var cancelled: Set<Int> = []
    private var waiters: Set<Int> = []
    private var hasStarted = false
    private var isStopping = false
    private var faults: [String] = []

    init(isKept: Bool) {
        self.isKept = isKept
        let rules = ResidentLedger.Rules(
            timeLimit: Self.limit, idleTime: isKept ? nil : .seconds(300), isKept: isKept)
        ledger = ResidentLedger(rules, settings: [:], pacing: RestartPacing(first: .seconds(1), longest: .seconds(8)))
    }

    // MARK: Events

    mutating func step(_ dice: inout SeededNumbers) -> String {
        var events: [Event] = [.call, .call, .call, .keep, .settings, .lock, .alarm, .wait]
        if Int.random(in: 0..<20, using: &dice) == 0 { events.append(.stop) }
        let open = outcomes.filter { $0.value == 0 }.keys.sorted()
        if let call = open.randomElement(using: &dice) { events += [.cancel(call), .move(call), .move(call)] }
        events += progress(isCalm: false) + progress(isCalm: false)
        // `randomElement` of a list with at least its first events.
        let event = events.randomElement(using: &dice) ?? .wait
        happen(event, &dice)
        return "\(event)"
    }

    mutating func settle(_ dice: inout SeededNumbers) {
        for _ in 0..<2_000 {
            if let event = progress(isCalm: true).randomElement(using: &dice) {
                happen(event, &dice)
            } else if outcomes.values.contains(0) || !waiters.isEmpty {
                guard ledger.alarm != nil else { return faults.append("a call waits for ever") }
                happen(.alarm, &dice)
            } else {
                return
            }
        }
        faults.append("it has no end")
    }

    /// The events that are under way.
    /// - Parameter isCalm: whether processes do only what must be done.
    private func progress(isCalm: Bool) -> [Event] {
        var events: [Event] = []
        if launching != nil { events += isCut || isCalm ? [.launched(true)] : [.launched(true), .launched(false)] }
        events += catchingUp.map { .caughtUp($0) } + concluding.map { .concluded($0) }
        events += ending.map { .departed($0) } + finishing.map { .finished($0) }
        for (number, process) in processes.sorted(by: { $0.key < $1.key }) {
            if process.isStarting {
                events += isCalm ? [.began(true)] : [.began(true), .began(true), .began(false)]
                continue
            }
            if !process.output.isEmpty { events.append(.heard(number)) }
            if process.hasExited {
                if process.output.isEmpty, !process.isOver { events.append(.over(number)) }
                continue
            }
            if !process.isDrained { events.append(.taken(number)) }
            if process.isDrained, !process.input.isEmpty { events.append(.reads(number)) }
            if process.manner == .nonsense, !isCalm { events.append(.babbles(number)) }
            if process.isDismissed || !isCalm { events.append(.exits(number)) }
        }
        return events
    }

    private mutating func happen(_ event: Event, _ dice: inout SeededNumbers) {
        let arrival = { (call: Int) in call % 5 == 0 ? nil : ArrivalNumber(Int64(call)) }
        switch event {
        case .call:
            number += 1
            outcomes[number] = 0
            perform(ledger.call(number, about: arrival(number), at: now), &dice)
        case .cancel(let call):
            cancelled.insert(call)
            perform(ledger.cancel(call, at: now), &dice)
        case .keep:
            number += 1
            waiters.insert(number)
            perform(ledger.keep(waiter: number, at: now), &dice)
        case .stop:
            number += 1
            waiters.insert(number)
            isStopping = true
            perform(ledger.stop(waiter: number, at: now), &dice)
        case .move(let call):
            guard let arrival = arrival(call) else { return }
            perform(ledger.itemWillMove(arrival, hasRead: hasRead), &dice)
        case .settings:
            perform(ledger.use(["size": .integer(Int64.random(in: 0..<3, using: &dice))]), &dice)
        case .lock:
            let notice = LaunchRules.Notice.allCases[Int.random(in: 0...1, using: &dice)]
            for (number, process) in processes where process.isStarting || process.isUsable {
                processes[number]?.owedLock = notice
            }
            let mustBeTold = hasRead
            perform(ledger.tell(notice, hasRead: hasRead), &dice)
            if mustBeTold, processes.values.contains(where: { $0.isUsable && $0.owedLock != nil }) {
                faults.append("a notice waits although the question was read")
            }
        case .alarm:
            now = max(now, ledger.alarm ?? now)
            perform(ledger.timePassed(at: now), &dice)
        case .wait:
            now += .milliseconds(Int.random(in: 0..<9_000, using: &dice))
            if let alarm = ledger.alarm, alarm <= now { perform(ledger.timePassed(at: now), &dice) }
        case .launched(let isWanted):
            launching = nil
            perform(ledger.launched(isWanted ? nil : AttemptOutcome(.no), at: now), &dice)
        case .began(let isWell):
            guard let number = processes.first(where: { $0.value.isStarting })?.key else { return }
            processes[number]?.isStarting = false
            if isWell {
                hasStarted = true
                return perform(ledger.began(at: now), &dice)
            }
            processes[number] = nil
            perform(ledger.failedToStart(AttemptOutcome(.failed), at: now), &dice)
        case .caughtUp(let process):
            catchingUp.removeAll { $0 == process }
            perform(ledger.caughtUp(process, at: now), &dice)
        case .taken(let process): processes[process]?.isDrained = true
        case .reads(let process): read(process, &dice)
        case .babbles(let process):
            let lines: [[UInt8]?] = [nil, Array("what".utf8), Self.answer(nil), Self.answer(Int64(number) + 7)]
            processes[process]?.output.append((lines.randomElement(using: &dice) ?? nil, nil))
        case .exits(let process): processes[process]?.hasExited = true
        case .heard(let process): hear(process, &dice)
        case .over(let process):
            processes[process]?.isOver = true
            let exit = [ProgramExit.code(0), .code(3), .signal(9)].randomElement(using: &dice) ?? .unknown
            if processes[process]?.isDismissed == false, exit == .code(0) { hasStarted = false }
            perform(ledger.exited(process, exit, at: now), &dice)
        case .departed(let process):
            ending.removeAll { $0 == process }
            processes[process]?.hasDeparted = true
            perform(ledger.departed(process, at: now), &dice)
        case .concluded(let process):
            concluding.remove(at: concluding.firstIndex(of: process) ?? 0)
            processes[process]?.readers -= 1
            perform(ledger.concluded(process, at: now), &dice)
        case .finished(let process):
            finishing.removeAll { $0 == process }
            processes[process]?.isFinished = true
            perform(ledger.finished(process, at: now), &dice)
        }
    }

    private var hasRead: Bool { ledger.process.flatMap { processes[$0] }?.isDrained ?? true }

    private static func answer(_ number: Int64?) -> [UInt8] {
        Array((number.map { #"{"answer":"yes","number":\#($0)}"# } ?? #"{"answer":"yes"}"#).utf8)
    }

    /// The handler reads a line, and answers if that is its manner.
    private mutating func read(_ number: Int, _ dice: inout SeededNumbers) {
        guard let process = processes[number], let line = process.input.first else { return }
        processes[number]?.input.removeFirst()
        let isNumbered = process.manner == .numbered || process.manner == .twiceNumbered
        switch line {
        case .question(let call):
            let arrival = isNumbered && call % 5 != 0 ? Int64(call) : nil
            processes[number]?.output.append((Self.answer(arrival), call))
        case .move(let arrival) where process.manner == .twiceNumbered || process.manner == .twiceUnnumbered:
            processes[number]?.output.append((Self.answer(isNumbered ? arrival : nil), nil))
        case .move, .other: break
        }
    }

    private mutating func hear(_ number: Int, _ dice: inout SeededNumbers) {
        guard let line = processes[number]?.output.removeFirst() else { return }
        let isUnasked = processes[number]?.open == nil && processes[number]?.isDismissed == false
        let actions = ledger.heard(line.line, from: number, hasRead: processes[number]?.isDrained ?? true, at: now)
        if processes[number]?.manner == .nonsense {
            if isUnasked { processes[number]?.hasMisbehaved = true }
        } else if actions.contains(where: { if case .end = $0 { true } else { false } }) {
            faults.append("a process is ended that answers well")
        }
        for case .conclude(let call, .answered, let process) in actions {
            if process != number || (line.call != call && processes[number]?.manner != .nonsense) {
                faults.append("an answer is taken for another question, of call \(call)")
            }
        }
        if processes[number]?.isDismissed == true, !actions.isEmpty { faults.append("a dismissed process answers") }
        perform(actions, &dice)
    }

    // MARK: Actions

    private mutating func perform(_ actions: [Action], _ dice: inout SeededNumbers) {
        var actions = actions[...]
        while let action = actions.popFirst() { actions += carryOut(action, &dice) }
    }

    private mutating func carryOut(_ action: Action, _ dice: inout SeededNumbers) -> [Action] {
        switch action {
        case .launch(let call): (launching, isCut) = (call, false)
        case .cutLaunch: isCut = true
        case .start(let number, let settings):
            if processes.values.contains(where: { !$0.isOver && !$0.hasDeparted }) {
                faults.append("two processes run")
            }
            if isStopping { faults.append("a process is started after the stop") }
            let manner = Manner.allCases.randomElement(using: &dice) ?? .numbered
            processes[number] = Process(manner: manner, settings: settings)
        case .catchUp(let process): catchingUp.append(process)
        case .ask(let call, let process, _, let isMoving):
            if !asked.insert(call).inserted { faults.append("call \(call) is asked twice") }
            if processes[process]?.open != nil { faults.append("a second question is open") }
            if processes[process]?.hasMisbehaved == true { faults.append("a process that answered too much is asked") }
            if cancelled.contains(call) { faults.append("call \(call) is asked although it was cancelled") }
            processes[process]?.open = call
            tell(.question(call: call), process, &dice)
            if isMoving {
                return ledger.itemWillMove(ArrivalNumber(Int64(call)), hasRead: processes[process]?.isDrained ?? true)
            }
        case .tell(.move(let arrival), let process): tell(.move(arrival.value), process, &dice)
        case .tell(.settings(let settings), let process):
            if processes[process]?.open != nil { faults.append("settings are told during a question") }
            processes[process]?.settings = settings
            tell(.other, process, &dice)
        case .tell(.lock(let notice), let process):
            if processes[process]?.owedLock == notice { processes[process]?.owedLock = nil }
            tell(.other, process, &dice)
        case .end(let process), .retire(let process):
            if processes[process]?.isUsable != true { faults.append("process \(process) is ended twice") }
            processes[process]?.isDismissed = true
            ending.append(process)
        case .conclude(let call, _, let process):
            if processes[process]?.isFinished == true || finishing.contains(process) {
                faults.append("the output of call \(call) is gone")
            }
            if processes[process]?.open == call { processes[process]?.open = nil }
            processes[process]?.readers += 1
            concluding.append(process)
            outcomes[call, default: 0] += 1
        case .refuse(let call, _), .cancel(let call):
            outcomes[call, default: 0] += 1
            for (number, process) in processes where process.open == call {
                processes[number]?.open = nil
                if !process.hasDeparted { faults.append("call \(call) returns while its process runs") }
            }
        case .release(let waiter):
            if waiters.remove(waiter) == nil { faults.append("a waiter returns twice") }
        case .finish(let process):
            if processes[process]?.isOver != true || processes[process]?.readers != 0 || finishing.contains(process) {
                faults.append("process \(process) is not over")
            }
            finishing.append(process)
        case .warn: break
        }
        return []
    }

    private mutating func tell(_ line: Input, _ process: Int, _ dice: inout SeededNumbers) {
        if processes[process]?.isUsable != true { faults.append("a line for a process that is not used") }
        processes[process]?.input.append(line)
        processes[process]?.isDrained = Bool.random(using: &dice)
    }

    // MARK: Promises

    func brokenPromises() -> [String] {
        var broken = faults
        broken += outcomes.filter { $0.value > 1 }.map { "call \($0.key) has \($0.value) outcomes" }
        for (number, process) in processes where process.isUsable && process.open == nil {
            if process.owedLock != nil { broken.append("process \(number) does not hear of the lock") }
            if process.settings != ledger.settings { broken.append("process \(number) has old settings") }
        }
        if isStopping, waiters.isEmpty {
            if outcomes.values.contains(0) { broken.append("a call waits after the stop") }
            if processes.values.contains(where: { !$0.isFinished }) { broken.append("a process runs after the stop") }
        }
        return broken
    }

    func brokenAtRest() -> [String] {
        var broken: [String] = []
        if outcomes.values.contains(0) { broken.append("a call waits for ever") }
        if !waiters.isEmpty { broken.append("a waiter waits for ever") }
        if isKept, hasStarted, !isStopping, ledger.process == nil, ledger.alarm == nil {
            broken.append("a handler that stays is not started again")
        }
        if !isStopping, ledger.process == nil, case .resting = ledger.state {
        } else if ledger.process == nil {
            if case .stopped = ledger.state {} else { broken.append("it is not at rest: \(ledger.state)") }
        }
        return broken
    }
}
