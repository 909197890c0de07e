import Sharing
import Streams

/// The jobs of one outbox and their states. Decides without waiting, without a clock and without a disk: `OutboxLoop`
/// gives it the time and the results of the disk, and carries out its actions in their order.
///
/// ```
///                      due, or its peer has appeared
///        ┌───────────┐◀──────────────────────────── waiting ◀─┐
///  read ▶│   ready   │◀── the pause is over ─────── paused ◀──┤ recorded: items are left (the disk failed: paused)
///        └───────────┘                                        │
///           │     │ begin                                     │
///           │     └─────────▶ trying ─────────────────────────┤
///           │                   │ cancelled                   │
///           │                   └─────────▶ cancelling ───────┤ recorded: done, failed or cancelled
///           │ expired, cancelled                              │
///           └──────────────────────────▶ final ◀──────────────┘
///                                          │ retry: ready; removed from the disk: forgotten
/// ```
///
/// `waiting` and `paused` end like `ready`, too, if the job is cancelled; `waiting` also if it expires.
struct OutboxLedger {
    typealias Record = OutboxStore.Record

    /// The clocks, read at once.
    struct Moment {
        /// The time since a fixed moment.
        var uptime: Duration
        /// The wall clock, for recorded times.
        var wall: WallTime
        /// The trusted wall clock, read first: nil while it is not trusted.
        var today: WallTime?
    }

    /// The result of a change of one job on the disk.
    enum DiskResult {
        case record(Record)
        /// The job's state does not allow the change: another process has cancelled it.
        case unfit
        /// The job was removed.
        case missing
        case failed
    }

    /// Those that name a job of the disk are followed at once by the event with the result.
    enum Action: Equatable {
        /// Removes old final jobs from the disk.
        case sweep
        /// Lists the jobs on the disk: `looked` follows.
        case look
        case read(JobNumber)
        /// Records that an attempt begins: `began` follows.
        case begin(JobNumber)
        /// Starts the attempt: later `ended` follows.
        /// - Parameter wasOffered: before this attempt.
        case attempt(Record, wasOffered: Bool, OutboxParty?)
        /// Breaks the attempt off: `ended` comes soon.
        /// - Parameter isStalled: whether it leaves its place to another job.
        case breakOff(JobNumber, isStalled: Bool = false)
        /// Lets the attempt notify its peer: `farewellIsOver` comes later.
        case notifyPeer(JobNumber)
        /// Records the end of an attempt: `recorded` follows.
        /// - Parameter isInterrupted: whether it does not count, because the program ends.
        case conclude(JobNumber, [Int: SettledItem], OutboxJobError?, isInterrupted: Bool)
        /// Records that the time of a job is over: `expired` follows.
        case expire(JobNumber)
        case dropCopies(JobNumber)
        /// Tells the user about a final job, and records that: later `reported` follows.
        case report(Record)
        /// Posts `appeared` from now on.
        case watch
        case stopWatching
        /// `due` comes after this time, in place of the one before.
        case setAlarm(Duration)
    }

    /// An attempt under way.
    struct Attempt {
        /// By the time since the fixed moment.
        var begun: Duration
        /// Nil for a job that is tried by itself.
        var party: OutboxParty?
        /// Whether it was broken off because another job waits for its place.
        var isLeaving = false
        /// Whether the peer has appeared since the start: this attempt may have looked for it before.
        var hasPeerAppeared = false

        /// When it takes no place any more, if it has not begun to send.
        var openingEnd: Duration { begun + OutboxLimits.opening }
    }

    enum State {
        /// It is tried as soon as there is a place.
        case ready
        case waiting(until: Duration)
        /// After an error of the disk.
        case paused(until: Duration)
        case trying(Attempt)
        /// The user has cancelled it, and the peer is notified.
        case cancelling(Attempt)
        /// Also a job that cannot be read: it stays there for repair.
        case final(isFailed: Bool)

        var attempt: Attempt? {
            switch self {
            case .trying(let attempt), .cancelling(let attempt): attempt
            case .ready, .waiting, .paused, .final: nil
            }
        }

        var isFinal: Bool { if case .final = self { true } else { false } }
    }

    struct Job {
        var state: State
        /// As on the disk; nil for a final one.
        var record: Record?
        /// How often it has left its place to another. Jobs with fewer departures start first.
        var stalls = 0
        /// Whether a report to the user is under way. It may be of an end before the last retry.
        var isBeingReported = false

        var group: String? { record?.job.options.group }

        /// The receiver: at most one job at a time is sent to it.
        var peer: String {
            guard let record else { return "" }
            return (record.job.destination.key ?? record.standing.peer)?.text
                ?? record.job.destination.text.lowercased()
        }
    }

    let places: Int
    private(set) var jobs: [JobNumber: Job] = [:]
    /// The open jobs, by their states: the order of the attempts, and the ends of the waits.
    var open = RetryLedger<JobNumber>()
    var isWatching = false
    var lastParty: UInt64 = 0
    /// Of `due`.
    var alarm = LoopAlarm()
    private(set) var nextLook: Duration
    private var nextSweep: Duration
    private(set) var isStopping = false

    /// The interval of looks into the folder without a notification: a command may add a job and die before it notifies
    /// the engine.
    private static let lookEvery: Duration = .seconds(60)
    /// The interval of sweeps, which remove old final jobs.
    private static let sweepEvery: Duration = .seconds(3_600)
    /// The pause of a job after an error of the disk.
    private static let diskPause: Duration = .seconds(10)

    /// - Parameters:
    ///   - places: maximum number of jobs sent at once.
    ///   - now: by the time since the fixed moment.
    init(places: Int, at now: Duration) {
        (self.places, nextLook, nextSweep) = (places, now, now)
    }

    /// Whether nothing is being sent.
    var isIdle: Bool { open.isIdle }

    var summary: OutboxEngine.Summary {
        var summary = OutboxEngine.Summary()
        for job in jobs.values {
            switch job.state {
            case .ready, .waiting, .paused: summary.waiting += 1
            case .trying, .cancelling: summary.sending += 1
            case .final(let isFailed): summary.failed += isFailed ? 1 : 0
            }
        }
        return summary
    }

    func isUnderWay(_ number: JobNumber) -> Bool { open.underWay.contains(number) }

    /// Brings a job to a state. Its place among the open jobs follows.
    mutating func set(_ number: JobNumber, _ state: State) {
        jobs[number, default: Job(state: state)].state = state
        switch state {
        case .ready: open.put(number)
        case .waiting(let end), .paused(let end): open.put(number, notBefore: end)
        case .trying, .cancelling: if !isUnderWay(number) { open.begin(number) }
        case .final:
            open.remove(number)
            jobs[number]?.record = nil
        }
    }

    /// A job leaves its place to another.
    mutating func leave(_ number: JobNumber, _ attempt: Attempt) {
        var attempt = attempt
        attempt.isLeaving = true
        set(number, .trying(attempt))
        jobs[number]?.stalls += 1
    }

    private mutating func forget(_ number: JobNumber) {
        open.remove(number)
        jobs[number] = nil
    }

    // MARK: The folder

    mutating func lookAgain(at now: Moment) -> [Action] {
        nextLook = now.uptime + Self.lookEvery
        return [.look]
    }

    /// The alarm went off.
    mutating func due(at now: Moment) -> [Action] {
        alarm.rang()
        var actions: [Action] = []
        if nextSweep <= now.uptime {
            nextSweep = now.uptime + Self.sweepEvery
            actions.append(.sweep)
        }
        return nextLook <= now.uptime ? actions + lookAgain(at: now) : actions
    }

    /// - Parameter numbers: of all jobs on the disk.
    mutating func looked(_ numbers: [JobNumber]) -> [Action] {
        // Removed jobs are forgotten.
        for number in Set(jobs.keys).subtracting(numbers) where !isUnderWay(number) { forget(number) }
        return numbers.filter { jobs[$0] == nil }.map { .read($0) }
    }

    /// A job was read that is new here, or whose report is superseded.
    mutating func read(_ number: JobNumber, _ result: DiskResult, at now: Moment) -> [Action] {
        switch result {
        case .record(let record): return enter(record, at: now)
        case .missing: break
        // It is read only once, so that the error is logged only once.
        case .failed, .unfit: set(number, .final(isFailed: false))
        }
        return []
    }

    /// A job is as on the disk.
    mutating func enter(_ record: Record, at now: Moment) -> [Action] {
        let number = record.number
        guard record.standing.state.isFinal else {
            let wait = Self.wait(for: record.standing, at: now.wall)
            set(number, wait > .zero ? .waiting(until: now.uptime + wait) : .ready)
            jobs[number]?.record = record
            return []
        }
        let isFailed = record.standing.state == .failed
        set(number, .final(isFailed: isFailed))
        var actions: [Action] = isFailed ? [] : [.dropCopies(number)]
        if !record.standing.isReported, jobs[number]?.isBeingReported == false {
            jobs[number]?.isBeingReported = true
            actions.append(.report(record))
        }
        return actions
    }

    /// The remaining wait of a job, at most its whole delay, because clocks are set back. A job that was being sent
    /// when the program died is tried at once.
    private static func wait(for standing: JobStatus, at now: WallTime) -> Duration {
        guard standing.state == .waiting else { return .zero }
        let rest = standing.due.subtractingReportingOverflow(now.milliseconds)
        guard !rest.overflow, rest.partialValue > 0 else { return .zero }
        return .milliseconds(min(rest.partialValue, OutboxBackoff.delay(after: standing.attempts)))
    }

    /// - Parameter isSuperseded: whether the job has another state than the reported one: it was tried again meanwhile,
    ///   and its new end needs a report of its own.
    mutating func reported(_ number: JobNumber, isSuperseded: Bool) -> [Action] {
        jobs[number]?.isBeingReported = false
        return isSuperseded && jobs[number]?.state.isFinal == true ? [.read(number)] : []
    }

    /// A change failed: nothing is known about the job that the disk does not say.
    private mutating func note(_ failure: DiskResult, of number: JobNumber, at now: Moment) {
        switch failure {
        case .record: break
        case .unfit: set(number, .final(isFailed: false))
        case .missing: forget(number)
        case .failed: set(number, .paused(until: now.uptime + Self.diskPause))
        }
    }

    mutating func expired(_ number: JobNumber, _ result: DiskResult, at now: Moment) -> [Action] {
        if case .record(let record) = result { return enter(record, at: now) }
        note(result, of: number, at: now)
        return []
    }

    // MARK: Attempts

    mutating func began(
        _ number: JobNumber, _ result: DiskResult, wasOffered: Bool, at now: Moment
    ) -> [Action] {
        guard case .trying(let before) = jobs[number]?.state else {
            preconditionFailure("job \(number) was not to begin")
        }
        guard case .record(let record) = result else {
            note(result, of: number, at: now)
            return []
        }
        set(number, .trying(Attempt(begun: now.uptime, party: before.party)))
        jobs[number]?.record = record
        return [.attempt(record, wasOffered: wasOffered, before.party)]
    }

    mutating func ended(_ number: JobNumber, _ result: OutboxResult) -> [Action] {
        guard let attempt = jobs[number]?.state.attempt else { preconditionFailure("job \(number) was not tried") }
        let failure = attempt.isLeaving && result.failure?.isFinal == false ? Self.leftPlace : result.failure
        return [.conclude(number, result.outcomes, failure, isInterrupted: isStopping)]
    }

    private static let leftPlace = OutboxJobError(
        .noAnswer, "it made little progress, and another job was waiting", isFinal: false)

    /// The end of an attempt is on the disk. If it cannot be written, the job is still being sent there, so the next
    /// attempt asks the peer for its receipt first.
    mutating func recorded(_ number: JobNumber, _ result: DiskResult, at now: Moment) -> [Action] {
        let hasPeerAppeared = jobs[number]?.state.attempt?.hasPeerAppeared == true
        guard case .record(let record) = result else {
            note(result, of: number, at: now)
            return []
        }
        let actions = enter(record, at: now)
        if hasPeerAppeared { tryAtOnce(number) }
        return actions
    }

    mutating func appeared(_ appearance: OutboxAppearance) {
        for (number, job) in jobs where job.record.map(appearance.matches) == true {
            if case .trying(var attempt) = job.state {
                attempt.hasPeerAppeared = true
                set(number, .trying(attempt))
            } else {
                tryAtOnce(number)
            }
        }
    }

    /// The peer of a job has come into view.
    private mutating func tryAtOnce(_ number: JobNumber) {
        guard case .waiting = jobs[number]?.state else { return }
        // After other failures the peer was present, so its appearance changes nothing.
        switch jobs[number]?.record?.standing.failure?.code {
        case .peerNotFound, .unreachable, nil: set(number, .ready)
        default: break
        }
    }

    // MARK: The user

    /// The cancellation of a job is on the disk.
    mutating func cancelled(_ number: JobNumber) -> [Action] {
        if let attempt = jobs[number]?.state.attempt {
            set(number, .cancelling(attempt))
            return [.notifyPeer(number)]
        }
        set(number, .final(isFailed: false))
        return []
    }

    /// The time for the notice to the peer is over.
    func farewellIsOver(_ number: JobNumber) -> [Action] {
        if case .cancelling = jobs[number]?.state { [.breakOff(number)] } else { [] }
    }

    /// No attempt begins any more, and those under way end.
    mutating func stop() -> [Action] {
        isStopping = true
        return open.underWay.sorted().map { .breakOff($0) }
    }
}
