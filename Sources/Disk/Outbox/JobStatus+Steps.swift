import Sharing

extension JobStatus {
    /// An attempt begins.
    mutating func begin() {
        state = .sending
        attempts += 1
    }

    /// The offer is about to be sent: from now on the peer may have the items.
    ///
    /// - Parameter items: their indices; nil for all.
    mutating func offer(as transfer: TransferID, _ items: [Int]?, to peer: PeerID, callingItself name: String?) {
        self.transfer = transfer.text
        offered = items
        // The id of a peer without a key is for one visit.
        (self.peer, isWithKeyless) = peer.unprovenBy == nil ? (peer, nil) : (nil, true)
        peerName = name ?? peerName
    }

    /// Records final outcomes of items, from the peer or the disk.
    mutating func settle(_ outcomes: [Int: SettledItem]) {
        for (item, outcome) in outcomes where self.outcomes[item]?.isStored != true { self.outcomes[item] = outcome }
    }

    /// An attempt has ended.
    ///
    /// - Parameters:
    ///   - failure: why items are left; nil if none is left.
    ///   - isTimeUp: whether a job with items left is given up; nil compares `now` with the expiry.
    mutating func end(_ job: OutboxJob, _ failure: OutboxJobError?, at now: WallTime, isTimeUp: Bool? = nil) {
        if isDelivered(job) {
            // This includes a job that was cancelled too late.
            isReported = false
            return finish(.done, nil, at: now)
        }
        if state == .cancelled { return }
        if job.items.indices.allSatisfy({ outcomes[$0] != nil }) {
            return finish(.failed, firstFailure ?? failure, at: now)
        }
        let reason = failure ?? OutboxJobError(.unexpected, "it ended without a receipt", isFinal: false)
        if reason.isFinal { return finish(.failed, reason, at: now) }
        if isTimeUp ?? (now.milliseconds >= expires) { return expire(reason, at: now) }
        state = .waiting
        self.failure = reason
        due = now.milliseconds &+ OutboxBackoff.delay(after: attempts)
    }

    /// An attempt has ended with these outcomes.
    ///
    /// - Parameter isInterrupted: whether it was cut short because this program ends.
    mutating func conclude(
        _ job: OutboxJob, _ outcomes: [Int: SettledItem], _ failure: OutboxJobError?, isInterrupted: Bool,
        at now: OutboxLedger.Moment
    ) {
        settle(outcomes)
        if isInterrupted, !isDelivered(job), failure?.isFinal != true { return interrupt(at: now.wall) }
        end(job, failure, at: now.wall, isTimeUp: now.today.map { $0.milliseconds >= expires } ?? false)
    }

    /// The attempt was cut short because this program ends: it does not count.
    mutating func interrupt(at now: WallTime) {
        guard state == .sending else { return }
        state = .waiting
        due = now.milliseconds
    }

    /// The job has reached its expiry.
    mutating func expire(_ last: OutboxJobError?, at now: WallTime) {
        let why = last.map { "; the last reason: \($0.reason)" } ?? ""
        finish(.failed, OutboxJobError(.expired, "it could not be sent in time\(why)", isFinal: true), at: now)
    }

    /// - Returns: whether the job could be cancelled.
    mutating func cancel(at now: WallTime) -> Bool {
        // A failed job is kept for another try; cancelling it frees its place.
        guard state != .done, state != .cancelled else { return false }
        finish(.cancelled, nil, at: now)
        isReported = true
        return true
    }

    /// - Returns: whether the job is tried again now.
    mutating func retry(_ job: OutboxJob, at now: WallTime) -> Bool {
        guard state == .waiting || state == .failed else { return false }
        if state == .failed {
            // The job gets its whole lifetime again.
            expires = now.milliseconds &+ (job.expires &- job.queued)
            outcomes = outcomes.filter { $0.value.isStored }
            (finished, isReported) = (nil, false)
        }
        state = .waiting
        due = now.milliseconds
        return true
    }

    private mutating func finish(_ state: JobState, _ failure: OutboxJobError?, at now: WallTime) {
        self.state = state
        self.failure = state == .done ? nil : failure
        finished = now.milliseconds
    }

    private var firstFailure: OutboxJobError? {
        outcomes.sorted { $0.key < $1.key }.lazy.compactMap(\.value.failure).first
    }
}

/// The delay before a job is tried again.
package enum OutboxBackoff {
    private static let first: Int64 = 5_000
    package static let longest: Int64 = 600_000

    /// - Parameter attempts: the number of attempts so far.
    /// - Returns: milliseconds: five seconds, doubling up to ten minutes.
    package static func delay(after attempts: Int) -> Int64 {
        switch attempts {
        case ..<1: 0
        case ..<8: min(first << Int64(attempts - 1), longest)
        default: longest
        }
    }
}
