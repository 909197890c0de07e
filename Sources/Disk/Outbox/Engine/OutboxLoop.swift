import Logging
import Sharing
import Streams

/// Carries out the decisions of an `OutboxLedger`: on the disk, with tasks and with a timer.
struct OutboxLoop {
    private let engine: OutboxEngine
    private let executor: (any TaskExecutor)?
    private var ledger: OutboxLedger
    /// The attempts under way.
    private var attempts: [JobNumber: (task: Task<OutboxResult, Never>, cancellation: Cancellation)] = [:]
    private var watch: Task<Void, Never>?
    private var timer: Task<Void, Never>?

    /// How long the notification of a peer about a cancelled job may take.
    private static let farewell: Duration = .seconds(2)

    init(_ engine: OutboxEngine, _ executor: (any TaskExecutor)?) {
        self.engine = engine
        self.executor = executor
        ledger = OutboxLedger(places: engine.places, at: engine.clock.uptime())
    }

    var isStopping: Bool { ledger.isStopping }

    /// Whether nothing is being sent.
    var isIdle: Bool { ledger.isIdle }

    /// The trusted clock is read first, so that the recorded end of a job that is given up is not before its expiry.
    private var now: OutboxLedger.Moment {
        let today = engine.calendar.now()
        return OutboxLedger.Moment(uptime: engine.clock.uptime(), wall: engine.clock.now(), today: today)
    }

    // MARK: Events

    mutating func start(_ group: inout DiscardingTaskGroup) {
        perform(ledger.due(at: now), &group)
        let summary = ledger.summary
        if summary.waiting > 0 {
            engine.logger.notice("jobs in the outbox", metadata: ["count": "\(summary.waiting)"])
        }
        dispatch(&group)
    }

    mutating func handle(_ event: OutboxEngine.Event, _ group: inout DiscardingTaskGroup) {
        switch event {
        case .lookAgain: perform(ledger.lookAgain(at: now), &group)
        case .due: perform(ledger.due(at: now), &group)
        case .appeared(let appearance): ledger.appeared(appearance)
        case .ended(let number, let result):
            attempts[number] = nil
            engine.board.remove(number)
            perform(ledger.ended(number, result), &group)
        case .reported(let number, let isSuperseded):
            perform(ledger.reported(number, isSuperseded: isSuperseded), &group)
        case .farewellIsOver(let number): perform(ledger.farewellIsOver(number), &group)
        case .cancel(let number, let continuation): continuation.resume(returning: cancel(number, &group))
        case .retry(let number, let continuation): continuation.resume(returning: retry(number, &group))
        case .stop:
            timer?.cancel()
            watch?.cancel()
            perform(ledger.stop(), &group)
        }
        dispatch(&group)
    }

    private mutating func dispatch(_ group: inout DiscardingTaskGroup) {
        var actions: [OutboxLedger.Action]
        repeat {
            actions = ledger.dispatch(at: now, moves: engine.board.moves)
            perform(actions, &group)
        } while !actions.isEmpty
    }

    /// Answers events after the engine has stopped.
    func turnAway(_ event: OutboxEngine.Event) {
        switch event {
        case .cancel(_, let continuation), .retry(_, let continuation):
            continuation.resume(returning: OutboxEngine.stopping)
        default: break
        }
    }

    // MARK: Commands of users

    /// Recorded first, so that the cancellation survives the end of this program.
    private mutating func cancel(_ number: JobNumber, _ group: inout DiscardingTaskGroup) -> OutboxError? {
        let now = engine.clock.now()
        do throws(OutboxError) {
            if !ledger.isUnderWay(number) {
                try engine.store.cancel(number, at: now)
            } else if try engine.store.change(number, { _, standing in standing.cancel(at: now) }) == nil {
                return OutboxError(.unfit, "job \(number) is being cancelled already")
            }
        } catch {
            return error
        }
        perform(ledger.cancelled(number), &group)
        return nil
    }

    private mutating func retry(_ number: JobNumber, _ group: inout DiscardingTaskGroup) -> OutboxError? {
        if ledger.isUnderWay(number) { return OutboxError(.unfit, "job \(number) is being sent now") }
        do throws(OutboxError) {
            perform(ledger.enter(try engine.store.retry(number, at: engine.clock.now()), at: now), &group)
            return nil
        } catch {
            return error
        }
    }

    // MARK: Actions

    private mutating func perform(_ actions: [OutboxLedger.Action], _ group: inout DiscardingTaskGroup) {
        engine.show(ledger.summary)
        var actions = actions[...]
        while let action = actions.popFirst() {
            let next = carryOut(action, &group)
            engine.show(ledger.summary)
            actions += next
        }
    }

    /// - Returns: the actions that follow at once.
    private mutating func carryOut(
        _ action: OutboxLedger.Action, _ group: inout DiscardingTaskGroup
    ) -> [OutboxLedger.Action] {
        switch action {
        case .sweep: sweep()
        case .look: return look()
        case .read(let number):
            let record = disk(number, "a job cannot be read") { () throws(OutboxError) in
                try engine.store.record(number)
            }
            return ledger.read(number, record, at: now)
        case .begin(let number): return begin(number)
        case .attempt(let record, let wasOffered, let party):
            attempt(record, wasOffered: wasOffered, party, &group)
        case .breakOff(let number, let isStalled):
            attempts[number]?.task.cancel()
            guard isStalled else { break }
            engine.logger.info(
                "a job makes little progress, and makes room for another", metadata: ["job": "\(number)"])
        case .notifyPeer(let number): notifyPeer(number, &group)
        case .conclude(let number, let outcomes, let failure, let isInterrupted):
            return conclude(number, outcomes, failure, isInterrupted: isInterrupted)
        case .expire(let number):
            let now = now
            let record = change(number) { _, standing in
                guard !standing.state.isFinal else { return false }
                standing.expire(standing.failure, at: now.wall)
                return true
            }
            return ledger.expired(number, record, at: now)
        case .dropCopies(let number): engine.store.dropCopies(of: number)
        case .report(let record): report(record, &group)
        case .watch:
            let engine = self.engine
            watch = Task {
                for await appearance in engine.sender.appearances() { engine.mailbox.post(.appeared(appearance)) }
            }
        case .stopWatching: watch?.cancel()
        case .setAlarm(let rest):
            let engine = self.engine
            timer?.cancel()
            timer = Task {
                do { try await engine.clock.sleep(rest) } catch { return }
                engine.mailbox.post(.due)
            }
        }
        return []
    }

    private func sweep() {
        do {
            try engine.store.sweep(at: engine.calendar.now())
        } catch {
            engine.logger.warning("the outbox could not be swept", metadata: ["reason": "\(error)"])
        }
    }

    private mutating func look() -> [OutboxLedger.Action] {
        do throws(OutboxError) {
            return ledger.looked(try engine.store.numbers())
        } catch {
            engine.logger.error("the outbox cannot be read", metadata: ["reason": "\(error)"])
            return []
        }
    }

    /// - Parameter fault: logged after an error of the disk.
    private func disk(
        _ number: JobNumber, _ fault: Logger.Message = "the outbox cannot be written",
        _ body: () throws(OutboxError) -> OutboxStore.Record?
    ) -> OutboxLedger.DiskResult {
        do throws(OutboxError) {
            return try body().map { .record($0) } ?? .unfit
        } catch  where error.code == .unknown {
            return .missing
        } catch {
            engine.logger.error(fault, metadata: ["job": "\(number)", "reason": "\(error)"])
            return .failed
        }
    }

    private func change(
        _ number: JobNumber, _ body: (OutboxJob, inout JobStatus) -> Bool
    ) -> OutboxLedger.DiskResult {
        disk(number) { () throws(OutboxError) in try engine.store.change(number, body) }
    }

    private mutating func begin(_ number: JobNumber) -> [OutboxLedger.Action] {
        var wasOffered = false
        let record = change(number) { _, standing in
            guard !standing.state.isFinal else { return false }
            wasOffered = standing.wasOffered
            standing.begin()
            return true
        }
        return ledger.began(number, record, wasOffered: wasOffered, at: now)
    }

    private mutating func attempt(
        _ record: OutboxStore.Record, wasOffered: Bool, _ party: OutboxParty?,
        _ group: inout DiscardingTaskGroup
    ) {
        let number = record.number
        engine.logger.debug(
            "a job is tried", metadata: ["job": "\(number)", "attempt": "\(record.standing.attempts)"])
        let cancellation = Cancellation()
        let engine = self.engine
        let task = Task(executorPreference: executor) {
            await engine.attempt(record, wasOffered: wasOffered, party, cancellation)
        }
        attempts[number] = (task, cancellation)
        group.addTask { engine.mailbox.post(.ended(number, await task.value)) }
    }

    private func notifyPeer(_ number: JobNumber, _ group: inout DiscardingTaskGroup) {
        attempts[number]?.cancellation.request()
        let engine = self.engine
        group.addTask {
            try? await engine.clock.sleep(Self.farewell)
            engine.mailbox.post(.farewellIsOver(number))
        }
    }

    private mutating func conclude(
        _ number: JobNumber, _ outcomes: [Int: SettledItem], _ failure: OutboxJobError?, isInterrupted: Bool
    ) -> [OutboxLedger.Action] {
        let now = now
        let result = change(number) { job, standing in
            standing.conclude(job, outcomes, failure, isInterrupted: isInterrupted, at: now)
            return true
        }
        if case .record(let record) = result { log(record.standing, of: number) }
        return ledger.recorded(number, result, at: self.now)
    }

    private func log(_ standing: JobStatus, of number: JobNumber) {
        engine.logger.log(
            level: standing.state == .failed ? .warning : .info, "an attempt at a job has ended",
            metadata: [
                "job": "\(number)", "state": "\(standing.state.rawValue)", "attempts": "\(standing.attempts)",
                "reason": "\(standing.failure?.code.rawValue ?? "-")",
            ])
    }

    private func report(_ record: OutboxStore.Record, _ group: inout DiscardingTaskGroup) {
        let engine = self.engine
        group.addTask {
            await engine.report(record)
            // The job may have been tried again meanwhile. Then its new end needs a report of its own.
            var isSuperseded = false
            if !Task.isCancelled {
                _ = try? engine.store.change(record.number) { _, standing in
                    isSuperseded = standing != record.standing
                    guard !isSuperseded else { return false }
                    standing.isReported = true
                    return true
                }
            }
            engine.mailbox.post(.reported(record.number, isSuperseded: isSuperseded))
        }
    }
}
