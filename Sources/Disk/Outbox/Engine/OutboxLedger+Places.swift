import Sharing
import Streams

/// The places of the attempts, and the alarm.
extension OutboxLedger {
    /// Begins as many attempts as allowed, the oldest job first, and sets the alarm for waiting jobs. Jobs of a group that
    /// are ready begin together, and take one place. Call this after each event until nothing is left to do.
    /// - Parameter moves: when each job under way last advanced; a job that has not begun to send has none.
    mutating func dispatch(at now: Moment, moves: [JobNumber: Duration]) -> [Action] {
        if isStopping { return [] }
        for number in open.wake(at: now.uptime) { set(number, .ready) }
        let expiring = jobs.filter { left($0.value, at: now) == .zero }.keys.sorted()
        if !expiring.isEmpty { return expiring.map { .expire($0) } }
        let attempts = attempts
        var busy = Set(attempts.compactMap { jobs[$0.number]?.peer })
        var held = Set(attempts.map(\.place))
        var running = Set(
            attempts.filter { moves[$0.number] != nil || $0.attempt.openingEnd > now.uptime }.map(\.place))
        var actions: [Action] = []
        var waiting = 0
        let ready = open.ready.compactMap { number in jobs[number].map { (number: number, job: $0) } }
        for (number, job) in ready.sorted(by: { ($0.job.stalls, $0.number) < ($1.job.stalls, $1.number) }) {
            guard !busy.contains(job.peer) else { continue }
            guard running.count < places, held.count < places * OutboxLimits.attemptsPerPlace else {
                waiting += 1
                continue
            }
            held.insert(number)
            running.insert(number)
            var party = [number]
            busy.insert(job.peer)
            if let group = job.group {
                party += ready.filter { $0.job.group == group && busy.insert($0.job.peer).inserted }.map(\.number)
            }
            lastParty += 1
            for (member, each) in party.enumerated() {
                let party =
                    party.count > 1
                    ? OutboxParty(id: lastParty, first: number, members: party.count, member: member) : nil
                set(each, .trying(Attempt(begun: now.uptime, party: party)))
                actions.append(.begin(each))
            }
        }
        if !actions.isEmpty { return actions }
        var stall: Duration?
        if waiting > 0 {
            stall = nextPlace(of: attempts, now, moves)
            if stall == nil { (actions, stall) = leavePlaces(to: waiting, attempts, now, moves) }
        }
        return actions + watch() + setAlarm(now, stall)
    }

    private typealias NumberedAttempt = (number: JobNumber, attempt: Attempt, place: JobNumber)

    private var attempts: [NumberedAttempt] {
        open.underWay.compactMap { number in
            jobs[number]?.state.attempt.map { (number, $0, $0.party?.first ?? number) }
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

    /// When the next job that has not begun to send takes no place any more; nil if there is none, or no more jobs may be
    /// under way.
    private func nextPlace(
        of attempts: [NumberedAttempt], _ now: Moment, _ moves: [JobNumber: Duration]
    ) -> Duration? {
        guard Set(attempts.map(\.place)).count < places * OutboxLimits.attemptsPerPlace else { return nil }
        return attempts.filter { moves[$0.number] == nil }.map(\.attempt.openingEnd).filter { $0 > now.uptime }.min()
    }

    /// Breaks off stalled jobs, the longest stalled first, so that waiting jobs get their places. The next attempts
    /// follow later.
    /// - Returns: also when the next job counts as stalled; nil if no further place is needed, or no job can leave one.
    private mutating func leavePlaces(
        to count: Int, _ attempts: [NumberedAttempt], _ now: Moment,
        _ moves: [JobNumber: Duration]
    ) -> ([Action], Duration?) {
        var staying: [(number: JobNumber, attempt: Attempt, moved: Duration)] = []
        for (number, attempt, _) in attempts where !attempt.isLeaving {
            guard case .trying = jobs[number]?.state else { continue }
            staying.append((number, attempt, moves[number] ?? attempt.begun))
        }
        var needed = count - (attempts.count - staying.count)
        var actions: [Action] = []
        for job in staying.sorted(by: { ($0.moved, $0.number) < ($1.moved, $1.number) }) where needed > 0 {
            let end = job.moved + OutboxLimits.stall
            guard end <= now.uptime else { return (actions, end) }
            leave(job.number, job.attempt)
            actions.append(.breakOff(job.number, isStalled: true))
            needed -= 1
        }
        return (actions, nil)
    }

    /// Looks for peers while any job is open.
    private mutating func watch() -> [Action] {
        let isOpen = !open.isEmpty
        defer { isWatching = isOpen }
        return isOpen == isWatching ? [] : [isOpen ? .watch : .stopWatching]
    }

    /// - Parameter stall: when the next job counts as stalled; nil if no job waits for a place.
    private mutating func setAlarm(_ now: Moment, _ stall: Duration?) -> [Action] {
        var next = min(nextLook, stall ?? nextLook, open.nextDue ?? nextLook)
        for job in jobs.values {
            if let left = left(job, at: now) { next = min(next, now.uptime + left) }
        }
        // It is never put off: it may go off in vain.
        next = min(next, alarm.due ?? next)
        return alarm.move(to: next) ? [.setAlarm(max(next - now.uptime, .zero))] : []
    }
}
