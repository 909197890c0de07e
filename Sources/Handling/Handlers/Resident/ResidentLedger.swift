import HandlerCatalog
import Programs
import Sharing

/// The state of a resident handler. Decides without waiting, without a clock and without a process: `ResidentHandler`
/// gives it the time, and carries out its actions in their order.
///
/// ```
///                a call       launched       began, kept         a call       caught up     answer
///   ┌─▶ resting ───────▶ launching ──▶ starting ──────▶ running ──────▶ preparing ───▶ asked ──▶ concluding
///   │    │   └────── kept ────────────────▲  │             ▲                             ▲           │
///   │    ▼ stop                              └─────────────│──── began, for a call ──────┘           │
///   │  stopped                                             └──────────────── concluded ──────────────┘
///   │
///   ├──── exited ◀── running, preparing, asked, concluding
///   └── departed ◀── leaving ◀── the same: idle, out of time, cancelled, nonsense, ambiguous, stop
/// ```
struct ResidentLedger {
    /// Facts of the program that stay.
    struct Rules {
        /// Of one question.
        var timeLimit: Duration
        /// How long it runs with nothing to do; nil: for ever.
        var idleTime: Duration?
        /// Whether it runs without a call too, and is started again after a failure.
        var isKept: Bool
    }

    /// The end of a question.
    enum Reply: Equatable {
        case answered(ResidentAnswer)
        /// Its output is no answer.
        case nonsense(String)
        case exited(ProgramExit)
        case outOfTime
    }

    enum Notice: Equatable {
        /// The item of its question is about to leave the Inbox. Some handlers answer this as if it were a question.
        case move(ArrivalNumber)
        case settings([String: HandlerSettingValue])
        case lock(LaunchRules.Notice)
    }

    /// Calls, waiters and processes have numbers. Those of processes rise from 1.
    enum Action: Equatable {
        /// Asks the questions before the first start. `launched` follows.
        case launch(call: Int)
        /// Ends these questions: `launched` comes soon.
        case cutLaunch
        /// `began` or `failedToStart` follows.
        case start(process: Int, [String: HandlerSettingValue])
        /// Reads its output about earlier questions, and drops it. `caughtUp` follows.
        case catchUp(process: Int)
        /// - Parameter isMoving: whether the item is about to leave: then `itemWillMove` must follow.
        case ask(call: Int, process: Int, [String: HandlerSettingValue], isMoving: Bool)
        case tell(Notice, process: Int)
        /// Ends it with all that it has started. `departed` follows.
        case end(process: Int)
        /// Ends its input, so that it leaves by itself, and later as `end`. `departed` follows.
        case retire(process: Int)
        /// The call returns with the meaning of the reply and the output of the process. `concluded` follows.
        case conclude(call: Int, Reply, process: Int)
        /// The call returns.
        case refuse(call: Int, AttemptOutcome)
        /// The call returns, and does not count.
        case cancel(call: Int)
        /// `keep` or `stop` returns.
        case release(waiter: Int)
        /// Removes the resources of a process that has exited. `finished` follows.
        case finish(process: Int)
        case warn(String, about: String, String)
    }

    /// A call that has not returned.
    struct Call {
        let arrival: ArrivalNumber?
        /// Whether its item is about to leave the Inbox, and the handler has no notice of that yet.
        var isMoving = false
        var isCancelled = false
    }

    struct Question {
        let call: Int
        let asked: ContinuousClock.Instant
        /// Whether the handler has read all of it, and a notice followed.
        var isRead = false
        /// Whether that was a notice that its item is about to leave.
        var isMoving = false
        /// Whether the settings have changed since.
        var owesSettings = false
        /// The last notice about the lock that came before it was read.
        var owedLock: LaunchRules.Notice?
    }

    /// One turn follows the other.
    enum Turn: Equatable {
        case call(Int)
        /// Starts it if it does not run. Nil: no waiter returns then.
        case keep(waiter: Int?)
    }

    enum State {
        case resting
        case launching(call: Int)
        /// - Parameters:
        ///   - with: the settings in its environment.
        ///   - owedLock: the last notice about the lock that came meanwhile.
        case starting(
            Turn, process: Int, with: [String: HandlerSettingValue], owedLock: LaunchRules.Notice? = nil)
        case running(process: Int, since: ContinuousClock.Instant)
        /// Its output about earlier questions is being dropped.
        case preparing(call: Int, process: Int)
        case asked(Question, process: Int)
        /// A call takes its output with the answer.
        case concluding(process: Int)
        /// - Parameters:
        ///   - call: returns when the process has left; nil if no question was open.
        ///   - reply: nil if the call was cancelled.
        case leaving(process: Int, call: Int? = nil, Reply? = nil)
        case stopped
    }

    struct Process {
        let begun: ContinuousClock.Instant
        /// Counts, by the arrivals, the notices of items that leave, which may be answered.
        var notices: [Int64: Int] = [:]
        var hasExited = false
        /// Whether a call needs its output.
        var isInUse = false
    }

    let rules: Rules
    private(set) var settings: [String: HandlerSettingValue]
    var pacing: RestartPacing
    var state = State.resting
    /// The turns that wait, the oldest first.
    var line: [Turn] = []
    var calls: [Int: Call] = [:]
    /// Those that have not finished.
    var processes: [Int: Process] = [:]
    private var lastProcess = 0
    /// Whether the last process left by itself and without a fault: it is started again only for a call.
    var hasLeft = false
    private(set) var isStopping = false
    private var stopWaiters: [Int] = []

    init(_ rules: Rules, settings: [String: HandlerSettingValue], pacing: RestartPacing) {
        (self.rules, self.settings, self.pacing) = (rules, settings, pacing)
    }

    /// The process that can be told something.
    var process: Int? {
        switch state {
        case .running(let process, _), .preparing(_, let process), .asked(_, let process), .concluding(let process):
            process
        case .resting, .launching, .starting, .leaving, .stopped: nil
        }
    }

    /// The call whose question is open, or is about to be asked to the process.
    var openCall: Int? {
        switch state {
        case .preparing(let call, _): call
        case .asked(let question, _): question.call
        default: nil
        }
    }

    /// The earliest time of a restart; nil if it runs, or may start now.
    func notBefore(at now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        process == nil && pacing.isWaiting(at: now) ? pacing.notBefore : nil
    }

    // MARK: Time

    /// When `timePassed` must be called; nil if nothing waits for a time.
    var alarm: ContinuousClock.Instant? {
        switch state {
        case .resting: rules.isKept && !hasLeft ? pacing.notBefore : nil
        case .running(_, let since): rules.idleTime.map { since + $0 }
        case .asked(let question, _): question.asked + rules.timeLimit
        default: nil
        }
    }

    mutating func timePassed(at now: ContinuousClock.Instant) -> [Action] {
        guard let alarm, alarm <= now else { return [] }
        switch state {
        case .running(let process, _): return retire(process)
        case .asked(let question, let process): return end(process, question.call, .outOfTime, at: now)
        default:
            line.append(.keep(waiter: nil))
            return nextTurn(at: now)
        }
    }

    // MARK: Calls

    /// A call waits for its turn.
    mutating func call(_ call: Int, about arrival: ArrivalNumber?, at now: ContinuousClock.Instant) -> [Action] {
        if isStopping { return [.cancel(call: call)] }
        calls[call] = Call(arrival: arrival)
        line.append(.call(call))
        return nextTurn(at: now)
    }

    /// The outcome of a call is of no use any more.
    mutating func cancel(_ call: Int, at now: ContinuousClock.Instant) -> [Action] {
        if let index = line.firstIndex(of: .call(call)) {
            line.remove(at: index)
            return [cancelled(call)]
        }
        calls[call]?.isCancelled = true
        if case .launching(call) = state { return [.cutLaunch] }
        guard openCall == call, let process else { return [] }
        return end(process, call, nil, at: now)
    }

    /// Starts it if it is to run without a call, unless it runs or has left by itself.
    mutating func keep(waiter: Int, at now: ContinuousClock.Instant) -> [Action] {
        guard rules.isKept, !isStopping else { return [.release(waiter: waiter)] }
        line.append(.keep(waiter: waiter))
        return nextTurn(at: now)
    }

    /// Refuses all calls, and ends it.
    mutating func stop(waiter: Int, at now: ContinuousClock.Instant) -> [Action] {
        isStopping = true
        stopWaiters.append(waiter)
        var actions: [Action] = []
        for turn in line {
            switch turn {
            case .call(let call): actions.append(cancelled(call))
            case .keep(let waiter): actions += Self.released(waiter)
            }
        }
        line = []
        switch state {
        case .launching(let call): actions += cancel(call, at: now)
        case .running(let process, _): actions += retire(process)
        default: if let openCall { actions += cancel(openCall, at: now) }
        }
        return actions + nextTurn(at: now)
    }

    // MARK: Notices

    /// An item is about to leave the Inbox: the handler gets a notice during its question about the item.
    /// - Parameter hasRead: whether the handler's input has taken all lines.
    mutating func itemWillMove(_ arrival: ArrivalNumber, hasRead: Bool) -> [Action] {
        for (call, known) in calls where known.arrival == arrival { calls[call]?.isMoving = true }
        guard case .asked(var question, let process) = state, calls[question.call]?.isMoving == true else { return [] }
        calls[question.call]?.isMoving = false
        // With the question still on its way, the notice would be the second line that the handler has not read.
        guard hasRead else { return [] }
        (question.isMoving, question.isRead) = (true, true)
        state = .asked(question, process: process)
        processes[process]?.notices[arrival.value, default: 0] += 1
        return [.tell(.move(arrival), process: process)]
    }

    /// Its settings are others now. The notice never comes during a question: the handler could answer the question
    /// before it has read the notice.
    mutating func use(_ settings: [String: HandlerSettingValue]) -> [Action] {
        guard settings != self.settings else { return [] }
        self.settings = settings
        guard case .asked(var question, let process) = state else {
            return process.map { [.tell(.settings(settings), process: $0)] } ?? []
        }
        question.owesSettings = true
        state = .asked(question, process: process)
        return []
    }

    /// It is told of the lock if it runs or starts; during a question too, once it has read the question.
    /// - Parameter hasRead: as for `itemWillMove`.
    mutating func tell(_ notice: LaunchRules.Notice, hasRead: Bool) -> [Action] {
        switch state {
        case .starting(let turn, let process, let settings, _):
            state = .starting(turn, process: process, with: settings, owedLock: notice)
            return []
        case .asked(var question, let process):
            if hasRead { question.isRead = true } else { question.owedLock = notice }
            state = .asked(question, process: process)
            return hasRead ? [.tell(.lock(notice), process: process)] : []
        default: return process.map { [.tell(.lock(notice), process: $0)] } ?? []
        }
    }

    // MARK: Steps

    /// Gives the turns, as far as the state allows; and lets `stop` return at the end.
    mutating func nextTurn(at now: ContinuousClock.Instant) -> [Action] {
        var actions: [Action] = []
        while true {
            switch state {
            case .resting where isStopping: state = .stopped
            case .stopped where processes.isEmpty:
                defer { stopWaiters = [] }
                return actions + stopWaiters.map { .release(waiter: $0) }
            case .resting where !line.isEmpty: actions += wake(for: line.removeFirst(), at: now)
            case .running(let process, _) where !line.isEmpty:
                switch line.removeFirst() {
                case .keep(let waiter): actions += Self.released(waiter)
                case .call(let call):
                    state = .preparing(call: call, process: process)
                    actions.append(.catchUp(process: process))
                }
            default: return actions
            }
        }
    }

    private mutating func wake(for turn: Turn, at now: ContinuousClock.Instant) -> [Action] {
        let mustWait = pacing.isWaiting(at: now)
        switch turn {
        case .keep(let waiter): return hasLeft || mustWait ? Self.released(waiter) : [start(turn)]
        case .call(let call) where mustWait:
            let reason = "it failed a short time ago, and is not started again yet"
            return [refused(call, AttemptOutcome(.later, reason: reason))]
        case .call(let call):
            state = .launching(call: call)
            return [.launch(call: call)]
        }
    }

    mutating func start(_ turn: Turn) -> Action {
        lastProcess += 1
        state = .starting(turn, process: lastProcess, with: settings)
        return .start(process: lastProcess, settings)
    }

    mutating func runOn(_ process: Int, at now: ContinuousClock.Instant) -> [Action] {
        if isStopping { return retire(process) }
        state = .running(process: process, since: now)
        return nextTurn(at: now)
    }

    /// Ends it for a fault, or because a call is cancelled.
    mutating func end(_ process: Int, _ call: Int?, _ reply: Reply?, at now: ContinuousClock.Instant) -> [Action] {
        pacing.failed(at: now)
        if reply != nil { processes[process]?.isInUse = true }
        state = .leaving(process: process, call: call, reply)
        return [.end(process: process)]
    }

    mutating func retire(_ process: Int) -> [Action] {
        state = .leaving(process: process)
        return [.retire(process: process)]
    }

    mutating func concluded(_ call: Int, _ reply: Reply, _ process: Int) -> Action {
        calls[call] = nil
        processes[process]?.isInUse = true
        return .conclude(call: call, reply, process: process)
    }

    mutating func refused(_ call: Int, _ outcome: AttemptOutcome) -> Action {
        calls[call] = nil
        return .refuse(call: call, outcome)
    }

    mutating func cancelled(_ call: Int) -> Action {
        calls[call] = nil
        return .cancel(call: call)
    }

    static func released(_ waiter: Int?) -> [Action] { waiter.map { [.release(waiter: $0)] } ?? [] }
}
