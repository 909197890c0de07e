import Sharing

/// The places of the attempts, and the alarm.
extension OutboxLedger {
    /// Begins as many attempts as allowed, the oldest job first, and sets the alarm for waiting jobs. Call this after
    /// each event until nothing is left to do.
    /// - Parameter moves: when each job under way last advanced; a job that has not begun to send has none.
    mutating func dispatch(at now: Moment, moves: [JobNumber: Duration]) -> [Action] {
        if isStopping { return [] }
        wake(at: now)
        let expiring = jobs.filter { left($0.value, at: now) == .zero }.keys.sorted()
        if !expiring.isEmpty { return expiring.map { .expire($0) } }
        var busy = Set(jobs.values.filter { $0.state.attempt != nil }.map(\.peer))
        var running = jobs.count { takesPlace($0.key, $0.value, now, moves) }
        var actions: [Action] = []
        var waiting = 0
        let ready = jobs.filter { if case .ready = $0.value.state { true } else { false } }
        for (number, job) in ready.sorted(by: { ($0.value.stalls, $0.key) < ($1.value.stalls, $1.key) }) {
            guard !busy.contains(job.peer) else { continue }
            guard running < places, busy.count < places * OutboxLimits.attemptsPerPlace else {
                waiting += 1
                continue
            }
            jobs[number]?.state = .trying(Attempt(begun: now.uptime))
            actions.append(.begin(number))
            busy.insert(job.peer)
            running += 1
        }
        if !actions.isEmpty { return actions }
        var stall: Duration?
        if waiting > 0 {
            stall = nextPlace(now, moves)
            if stall == nil { (actions, stall) = leavePlaces(to: waiting, now, moves) }
        }
        return actions + watch() + setAlarm(now, stall)
    }

    /// Jobs whose wait is over are ready.
    private mutating func wake(at now: Moment) {
        for (number, job) in jobs {
            switch job.state {
            case .waiting(let end) where end <= now.uptime, .paused(let end) where end <= now.uptime:
                jobs[number]?.state = .ready
            default: break
            }
        }
    }

    /// The time until a job expires; nil if it cannot expire now. Until the clock is trusted, the next look comes soon
    /// enough.
    private func left(_ job: Job, at now: Moment) -> Duration? {
        switch job.state {
        case .trying, .cancelling, .paused, .final: return nil
        case .ready, .waiting:
            guard let today = now.today, let record = job.record else { return nil }
            let left = record.standing.expires.subtractingReportingOverflow(today.milliseconds)
            return left.overflow ? nil : .milliseconds(max(0, left.partialValue))
        }
    }

    /// Whether a job is being sent, or may be at any moment.
    private func takesPlace(_ number: JobNumber, _ job: Job, _ now: Moment, _ moves: [JobNumber: Duration]) -> Bool {
        guard let attempt = job.state.attempt else { return false }
        return moves[number] != nil || attempt.begun + OutboxLimits.opening > now.uptime
    }

    /// When the next job that has not begun to send takes no place any more; nil if there is none, or no more jobs may be
    /// under way.
    private func nextPlace(_ now: Moment, _ moves: [JobNumber: Duration]) -> Duration? {
        let attempts = jobs.compactMap { number, job in job.state.attempt.map { (number: number, begun: $0.begun) } }
        guard attempts.count < places * OutboxLimits.attemptsPerPlace else { return nil }
        return attempts.map { (number: $0.number, end: $0.begun + OutboxLimits.opening) }
            .filter { moves[$0.number] == nil && $0.end > now.uptime }.map(\.end).min()
    }

    /// Breaks off stalled jobs, the longest stalled first, so that waiting jobs get their places. The next attempts
    /// follow later.
    /// - Returns: also when the next job counts as stalled; nil if no further place is needed, or no job can leave one.
    private mutating func leavePlaces(
        to count: Int, _ now: Moment, _ moves: [JobNumber: Duration]
    ) -> ([Action], Duration?) {
        var needed = count
        var staying: [(number: JobNumber, attempt: Attempt, moved: Duration)] = []
        for (number, job) in jobs {
            switch job.state {
            case .trying(let attempt) where !attempt.isLeaving:
                staying.append((number, attempt, moves[number] ?? attempt.begun))
            case .trying, .cancelling: needed -= 1
            case .ready, .waiting, .paused, .final: break
            }
        }
        var actions: [Action] = []
        for var job in staying.sorted(by: { ($0.moved, $0.number) < ($1.moved, $1.number) }) where needed > 0 {
            let end = job.moved + OutboxLimits.stall
            guard end <= now.uptime else { return (actions, end) }
            job.attempt.isLeaving = true
            jobs[job.number]?.state = .trying(job.attempt)
            jobs[job.number]?.stalls += 1
            actions.append(.breakOff(job.number, isStalled: true))
            needed -= 1
        }
        return (actions, nil)
    }

    /// Looks for peers while any job is open.
    private mutating func watch() -> [Action] {
        let isOpen = jobs.values.contains { !$0.state.isFinal }
        defer { isWatching = isOpen }
        return isOpen == isWatching ? [] : [isOpen ? .watch : .stopWatching]
    }

    /// - Parameter stall: when the next job counts as stalled; nil if no job waits for a place.
    private mutating func setAlarm(_ now: Moment, _ stall: Duration?) -> [Action] {
        var next = min(nextLook, stall ?? nextLook)
        for job in jobs.values {
            if let left = left(job, at: now) { next = min(next, now.uptime + left) }
            switch job.state {
            case .waiting(let end), .paused(let end): next = min(next, end)
            default: break
            }
        }
        guard alarm.map({ next < $0 }) ?? true else { return [] }
        alarm = next
        return [.setAlarm(max(next - now.uptime, .zero))]
    }
}
