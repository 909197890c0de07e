import Logging
import Sharing
import Streams

/// The state of the engine between two events.
struct OutboxLoop {
    /// A job that is not final.
    private struct Entry {
        var record: OutboxStore.Record
        /// The end of its wait, by the engine's clock.
        var notBefore: Duration?
        var attempt: Attempt?
    }

    /// An attempt under way.
    private struct Attempt {
        var task: Task<OutboxResult, Never>
        var cancellation: Cancellation
        /// The start of the attempt, by the engine's clock.
        var begun: Duration
        /// Whether it was cancelled because another job waits for its place.
        var isLeaving = false
        /// Whether the peer has appeared since the start: this attempt may have looked for it before.
        var hasPeerAppeared = false
    }

    private let engine: OutboxEngine
    private let executor: (any TaskExecutor)?
    private var entries: [JobNumber: Entry] = [:]
    /// The final jobs.
    private var final: Set<JobNumber> = []
    private var failed: Set<JobNumber> = []
    /// How often each job has left its place to another. Jobs with fewer departures start first.
    private var stalls: [JobNumber: Int] = [:]
    /// The final jobs whose report to the user is under way.
    private var reporting: Set<JobNumber> = []
    private var watch: Task<Void, Never>?
    private var timer: Task<Void, Never>?
    private var wakeUp: Duration?
    private var nextLook: Duration
    private var nextSweep: Duration
    private(set) var isStopping = false
    /// Whether nothing is being sent.
    var isIdle: Bool { entries.values.allSatisfy { $0.attempt == nil } }

    /// The interval of looks into the folder without a notification: a command may add a job and die before it notifies
    /// the engine.
    private static let lookEvery: Duration = .seconds(60)
    /// The interval of sweeps, which remove old final jobs.
    private static let sweepEvery: Duration = .seconds(3_600)
    /// The pause of a job after an error of the disk.
    private static let diskPause: Duration = .seconds(10)
    /// How long the notification of a peer about a cancelled job may take.
    private static let farewell: Duration = .seconds(2)

    init(_ engine: OutboxEngine, _ executor: (any TaskExecutor)?) {
        self.engine = engine
        self.executor = executor
        nextLook = engine.clock.uptime()
        nextSweep = nextLook
    }

    // MARK: Events

    mutating func start(_ group: inout DiscardingTaskGroup) {
        sweep()
        look(&group)
        if !entries.isEmpty { engine.logger.notice("jobs in the outbox", metadata: ["count": "\(entries.count)"]) }
        dispatch(&group)
    }

    private mutating func sweep() {
        nextSweep = engine.clock.uptime() + Self.sweepEvery
        do {
            try engine.store.sweep(at: engine.calendar.now())
        } catch {
            engine.logger.warning("the outbox could not be swept", metadata: ["reason": "\(error)"])
        }
    }

    mutating func handle(_ event: OutboxEngine.Event, _ group: inout DiscardingTaskGroup) {
        switch event {
        case .lookAgain:
            look(&group)
        case .due:
            wakeUp = nil
            if nextSweep <= engine.clock.uptime() { sweep() }
            if nextLook <= engine.clock.uptime() { look(&group) }
        case .appeared(let appearance):
            appeared(appearance)
        case .ended(let number, let result):
            ended(number, result, &group)
        case .reported(let number, let isSuperseded):
            reporting.remove(number)
            if isSuperseded, final.contains(number) { enter(number, &group) }
        case .cutOff(let number):
            entries[number]?.attempt?.task.cancel()
        case .cancel(let number, let continuation):
            continuation.resume(returning: cancel(number, &group))
        case .retry(let number, let continuation):
            continuation.resume(returning: retry(number))
        case .stop:
            isStopping = true
            timer?.cancel()
            watch?.cancel()
            for entry in entries.values { entry.attempt?.task.cancel() }
        }
        show()
    }

    /// Answers events after the engine has stopped.
    func turnAway(_ event: OutboxEngine.Event) {
        switch event {
        case .cancel(_, let continuation), .retry(_, let continuation):
            continuation.resume(returning: OutboxEngine.stopping)
        default: break
        }
    }

    private func show() {
        let sending = entries.values.count { $0.attempt != nil }
        engine.show(.init(waiting: entries.count - sending, sending: sending, failed: failed.count))
    }

    // MARK: Jobs

    private mutating func look(_ group: inout DiscardingTaskGroup) {
        nextLook = engine.clock.uptime() + Self.lookEvery
        do throws(OutboxError) {
            let numbers = try engine.store.numbers()
            // Removed jobs are forgotten.
            final.formIntersection(numbers)
            failed.formIntersection(numbers)
            stalls = stalls.filter { numbers.contains($0.key) }
            for number in numbers where entries[number] == nil && !final.contains(number) { enter(number, &group) }
        } catch {
            engine.logger.error("the outbox cannot be read", metadata: ["reason": "\(error)"])
        }
    }

    private mutating func enter(_ number: JobNumber, _ group: inout DiscardingTaskGroup) {
        do throws(OutboxError) {
            let record = try engine.store.record(number)
            if record.standing.state.isFinal { return close(record, &group) }
            enter(record)
        } catch {
            guard error.code != .unknown else { return }
            // The job stays there for repair, and the error is logged only once.
            final.insert(number)
            engine.logger.error("a job cannot be read", metadata: ["job": "\(number)", "reason": "\(error)"])
        }
    }

    private mutating func enter(_ record: OutboxStore.Record) {
        let wait = Self.wait(for: record.standing, at: engine.clock.now())
        final.remove(record.number)
        failed.remove(record.number)
        entries[record.number] = Entry(
            record: record, notBefore: wait > .zero ? engine.clock.uptime() + wait : nil)
    }

    /// The remaining wait of a job, at most its whole delay, because clocks are set back. A job that was being sent
    /// when the program died is tried at once.
    private static func wait(for standing: JobStatus, at now: WallTime) -> Duration {
        guard standing.state == .waiting else { return .zero }
        let rest = standing.due.subtractingReportingOverflow(now.milliseconds)
        guard !rest.overflow, rest.partialValue > 0 else { return .zero }
        return .milliseconds(min(rest.partialValue, OutboxBackoff.delay(after: standing.attempts)))
    }

    /// Handles a job that has become final.
    private mutating func close(_ record: OutboxStore.Record, _ group: inout DiscardingTaskGroup) {
        let number = record.number
        entries[number] = nil
        final.insert(number)
        if record.standing.state == .failed {
            failed.insert(number)
        } else {
            failed.remove(number)
            engine.store.dropCopies(of: number)
        }
        guard !record.standing.isReported, reporting.insert(number).inserted else { return }
        show()
        let engine = self.engine
        group.addTask {
            await engine.report(record)
            // The job may have been tried again meanwhile. Then its new end needs a report of its own.
            var isSuperseded = false
            if !Task.isCancelled {
                _ = try? engine.store.change(number) { _, standing in
                    isSuperseded = standing != record.standing
                    guard !isSuperseded else { return false }
                    standing.isReported = true
                    return true
                }
            }
            engine.mailbox.post(.reported(number, isSuperseded: isSuperseded))
        }
    }

    // MARK: Sending

    /// Begins as many attempts as allowed, the oldest job first, and sets the timer for waiting jobs.
    mutating func dispatch(_ group: inout DiscardingTaskGroup) {
        let now = engine.clock.uptime()
        expire(&group)
        var busy = Set(entries.values.filter { $0.attempt != nil }.map { Self.peer(of: $0.record) })
        var running = entries.keys.count { takesPlace($0, at: now) }
        var waiting = 0
        for number in entries.keys.sorted(by: { (stalls[$0] ?? 0, $0) < (stalls[$1] ?? 0, $1) }) {
            guard let entry = entries[number], entry.attempt == nil, entry.notBefore.map({ $0 <= now }) ?? true else {
                continue
            }
            let peer = Self.peer(of: entry.record)
            guard !busy.contains(peer) else { continue }
            guard running < engine.places, busy.count < engine.places * OutboxLimits.attemptsPerPlace else {
                waiting += 1
                continue
            }
            if begin(number, &group) {
                busy.insert(peer)
                running += 1
            }
        }
        let nextStall = waiting > 0 ? nextPlace(now) ?? leavePlaces(to: waiting, now) : nil
        watchForPeers(&group)
        setTimer(now, nextStall)
        show()
    }

    /// Whether a job is being sent, or may be at any moment.
    private func takesPlace(_ number: JobNumber, at now: Duration) -> Bool {
        guard let attempt = entries[number]?.attempt else { return false }
        return engine.board.lastMove(of: number) != nil || attempt.begun + OutboxLimits.opening > now
    }

    /// When the next job that has not begun to send takes no place any more; nil if there is none, or no more jobs may be
    /// under way.
    private func nextPlace(_ now: Duration) -> Duration? {
        let attempts = entries.compactMap { number, entry in entry.attempt.map { (number: number, begun: $0.begun) } }
        guard attempts.count < engine.places * OutboxLimits.attemptsPerPlace else { return nil }
        return attempts.filter { engine.board.lastMove(of: $0.number) == nil && $0.begun + OutboxLimits.opening > now }
            .map { $0.begun + OutboxLimits.opening }.min()
    }

    /// Cancels stalled jobs, the longest stalled first, so that waiting jobs get their places. The next attempts follow
    /// later.
    /// - Returns: when the next job counts as stalled; nil if no further place is needed, or no job can leave one.
    private mutating func leavePlaces(to count: Int, _ now: Duration) -> Duration? {
        let leaving = entries.values.count { $0.attempt?.isLeaving ?? false }
        var needed = count - leaving
        let attempts = entries.compactMap { number, entry -> (number: JobNumber, moved: Duration)? in
            guard let attempt = entry.attempt, !attempt.isLeaving else { return nil }
            return (number, engine.board.lastMove(of: number) ?? attempt.begun)
        }
        for (number, moved) in attempts.sorted(by: { ($0.moved, $0.number) < ($1.moved, $1.number) }) {
            guard needed > 0 else { return nil }
            guard moved + OutboxLimits.stall <= now else { return moved + OutboxLimits.stall }
            entries[number]?.attempt?.isLeaving = true
            entries[number]?.attempt?.task.cancel()
            stalls[number, default: 0] += 1
            needed -= 1
            engine.logger.info(
                "a job makes little progress, and makes room for another", metadata: ["job": "\(number)"])
        }
        return nil
    }

    private mutating func expire(_ group: inout DiscardingTaskGroup) {
        guard let today = engine.calendar.now()?.milliseconds else { return }
        let now = engine.clock.now()
        for (number, entry) in entries where entry.attempt == nil && entry.record.standing.expires <= today {
            let record = try? engine.store.change(number) { _, standing in
                guard !standing.state.isFinal else { return false }
                standing.expire(standing.failure, at: now)
                return true
            }
            if let record { close(record, &group) }
        }
    }

    /// The receiver of a job: at most one job at a time is sent to it.
    private static func peer(of record: OutboxStore.Record) -> String {
        (record.job.destination.key ?? record.standing.peer)?.text ?? record.job.destination.text.lowercased()
    }

    private mutating func begin(_ number: JobNumber, _ group: inout DiscardingTaskGroup) -> Bool {
        var wasOffered = false
        let changed: OutboxStore.Record?
        do throws(OutboxError) {
            changed = try engine.store.change(number) { _, standing in
                guard !standing.state.isFinal else { return false }
                wasOffered = standing.wasOffered
                standing.begin()
                return true
            }
        } catch {
            if error.code == .unknown {
                entries[number] = nil
            } else {
                entries[number]?.notBefore = engine.clock.uptime() + Self.diskPause
                engine.logger.error(
                    "the outbox cannot be written", metadata: ["job": "\(number)", "reason": "\(error)"])
            }
            return false
        }
        guard let record = changed else {
            // Another process cancelled it meanwhile.
            entries[number] = nil
            final.insert(number)
            return false
        }
        engine.logger.debug(
            "a job is tried", metadata: ["job": "\(number)", "attempt": "\(record.standing.attempts)"])
        let cancellation = Cancellation()
        let engine = self.engine
        let task = Task(executorPreference: executor) {
            await Self.attempt(record, wasOffered: wasOffered, engine, cancellation)
        }
        entries[number]?.record = record
        entries[number]?.notBefore = nil
        entries[number]?.attempt = Attempt(task: task, cancellation: cancellation, begun: engine.clock.uptime())
        group.addTask { engine.mailbox.post(.ended(number, await task.value)) }
        return true
    }

    private static func attempt(
        _ record: OutboxStore.Record, wasOffered: Bool, _ engine: OutboxEngine, _ cancellation: Cancellation
    ) async -> OutboxResult {
        let (job, standing) = (record.job, record.standing)
        let open = job.items.indices.filter { standing.outcomes[$0] == nil }
        do throws(OutboxJobError) {
            guard let transfer = TransferID(standing.transfer) else {
                throw OutboxJobError(.unexpected, "job \(job.number) of the outbox is damaged", isFinal: true)
            }
            let store = engine.store
            let shipment = OutboxShipment(
                job: job, open: open,
                sources: { items throws(OutboxJobError) in try OutboxSources.make(job, items, in: store) },
                transfer: transfer, peer: job.destination.key ?? standing.peer, wasOffered: wasOffered,
                offered: standing.offered ?? Array(job.items.indices),
                progressed: { bytes, total in
                    engine.board.note(
                        OutboxProgress(job: job.number, bytes: bytes, total: total), at: engine.clock.uptime())
                })
            return await engine.sender.send(shipment, cancellation: cancellation) { step throws(OutboxError) in
                try note(step, job.number, engine.store)
            }
        } catch {
            return OutboxResult(failure: error)
        }
    }

    /// Records a step on the disk before the attempt continues.
    private static func note(
        _ step: OutboxStep, _ number: JobNumber, _ store: OutboxStore
    ) throws(OutboxError) {
        let record = try store.change(number) { job, standing in
            guard standing.state == .sending else { return false }
            switch step {
            case .settled(let outcomes): standing.settle(outcomes)
            case .offering(let transfer, let items, let peer, let name):
                let isWhole = items.count == job.items.count
                standing.offer(as: transfer, isWhole ? nil : items, to: peer, callingItself: name)
            }
            return true
        }
        guard record != nil else { throw OutboxError(.unfit, "the job was cancelled") }
    }

    private mutating func ended(_ number: JobNumber, _ result: OutboxResult, _ group: inout DiscardingTaskGroup) {
        let hasLeft = entries[number]?.attempt?.isLeaving ?? false
        let hasPeerAppeared = entries[number]?.attempt?.hasPeerAppeared ?? false
        entries[number]?.attempt = nil
        engine.board.remove(number)
        var failure = result.failure
        if hasLeft, failure?.isFinal == false { failure = Self.leftPlace }
        // The calendar is read first, so that the recorded end of a job that is given up is not before its expiry.
        let today = engine.calendar.now()
        let now = engine.clock.now()
        let (isStopping, clock) = (self.isStopping, engine.clock)
        let changed: OutboxStore.Record?
        do throws(OutboxError) {
            changed = try engine.store.change(number) { job, standing in
                standing.settle(result.outcomes)
                if isStopping, !standing.isDelivered(job), failure?.isFinal != true {
                    standing.interrupt(at: now)
                } else {
                    let isTimeUp = today.map { $0.milliseconds >= standing.expires } ?? false
                    standing.end(job, failure, at: now, isTimeUp: isTimeUp)
                }
                return true
            }
        } catch  where error.code == .unknown {
            // It was cancelled and removed meanwhile.
            entries[number] = nil
            return
        } catch {
            // On the disk the job is still being sent, so the next attempt asks the peer for its receipt first.
            entries[number]?.notBefore = clock.uptime() + Self.diskPause
            engine.logger.error("the outbox cannot be written", metadata: ["job": "\(number)", "reason": "\(error)"])
            return
        }
        guard let record = changed else { return }
        log(record)
        if record.standing.state.isFinal { return close(record, &group) }
        enter(record)
        if hasPeerAppeared { tryAtOnce(number) }
    }

    private static let leftPlace = OutboxJobError(
        .noAnswer, "it made little progress, and another job was waiting", isFinal: false)

    private func log(_ record: OutboxStore.Record) {
        let standing = record.standing
        engine.logger.log(
            level: standing.state == .failed ? .warning : .info, "an attempt at a job has ended",
            metadata: [
                "job": "\(record.number)", "state": "\(standing.state.rawValue)", "attempts": "\(standing.attempts)",
                "reason": "\(standing.failure?.code.rawValue ?? "-")",
            ])
    }

    // MARK: Waiting

    private mutating func appeared(_ appearance: OutboxAppearance) {
        for (number, entry) in entries where appearance.matches(entry.record) {
            if entry.attempt != nil { entries[number]?.attempt?.hasPeerAppeared = true } else { tryAtOnce(number) }
        }
    }

    /// The peer of a job has come into view.
    private mutating func tryAtOnce(_ number: JobNumber) {
        // After other failures the peer was present, so its appearance changes nothing.
        switch entries[number]?.record.standing.failure?.code {
        case .peerNotFound, .unreachable, nil: entries[number]?.notBefore = nil
        default: break
        }
    }

    /// Looks for peers while any job is open.
    private mutating func watchForPeers(_ group: inout DiscardingTaskGroup) {
        if entries.isEmpty {
            watch?.cancel()
            watch = nil
            return
        }
        guard watch == nil else { return }
        let engine = self.engine
        watch = Task {
            for await appearance in engine.sender.appearances() { engine.mailbox.post(.appeared(appearance)) }
        }
    }

    /// - Parameter stall: when the next job counts as stalled; nil if no job waits for a place.
    private mutating func setTimer(_ now: Duration, _ stall: Duration?) {
        var next = min(nextLook, stall ?? nextLook)
        let today = engine.calendar.now()?.milliseconds
        for entry in entries.values where entry.attempt == nil {
            if let notBefore = entry.notBefore { next = min(next, notBefore) }
            // Until the clock is trusted, the next look comes soon enough.
            guard let today else { continue }
            let left = entry.record.standing.expires.subtractingReportingOverflow(today)
            if !left.overflow { next = min(next, now + .milliseconds(max(0, left.partialValue))) }
        }
        guard wakeUp.map({ next < $0 }) ?? true else { return }
        wakeUp = next
        timer?.cancel()
        let (engine, rest) = (self.engine, next - now)
        timer = Task {
            do { try await engine.clock.sleep(max(rest, .zero)) } catch { return }
            engine.mailbox.post(.due)
        }
    }

    // MARK: Commands of users

    private mutating func cancel(_ number: JobNumber, _ group: inout DiscardingTaskGroup) -> OutboxError? {
        let now = engine.clock.now()
        guard let attempt = entries[number]?.attempt else {
            do throws(OutboxError) {
                try engine.store.cancel(number, at: now)
            } catch {
                return error
            }
            entries[number] = nil
            final.insert(number)
            failed.remove(number)
            return nil
        }
        do throws(OutboxError) {
            // Recorded first, so that the cancellation survives the end of this program.
            guard try engine.store.change(number, { _, standing in standing.cancel(at: now) }) != nil else {
                return OutboxError(.unfit, "job \(number) is being cancelled already")
            }
        } catch {
            return error
        }
        attempt.cancellation.request()
        let engine = self.engine
        group.addTask {
            try? await engine.clock.sleep(Self.farewell)
            engine.mailbox.post(.cutOff(number))
        }
        return nil
    }

    private mutating func retry(_ number: JobNumber) -> OutboxError? {
        if entries[number]?.attempt != nil {
            return OutboxError(.unfit, "job \(number) is being sent now")
        }
        do throws(OutboxError) {
            enter(try engine.store.retry(number, at: engine.clock.now()))
            return nil
        } catch {
            return error
        }
    }
}
