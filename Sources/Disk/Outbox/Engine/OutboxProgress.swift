import Synchronization

/// The progress of a job that is being sent.
package struct OutboxProgress: Sendable, Hashable {
    package var job: JobNumber
    /// Bytes of contents that were handed over, or that the peer already had.
    package var bytes: UInt64
    /// Bytes of all accepted items; nil if unknown.
    package var total: UInt64?

    package init(job: JobNumber, bytes: UInt64, total: UInt64?) {
        self.job = job
        self.bytes = bytes
        self.total = total
    }
}

/// The progress of all jobs that are being sent. It is kept in memory only, since it need not survive.
final class OutboxProgressBoard: Sendable {
    private struct Entry {
        var progress: OutboxProgress
        /// Bytes sent, and when. Replaced only after at least `OutboxLimits.stallBytes` more.
        var mark: (bytes: UInt64, at: Duration)
    }

    private let state = Mutex<[JobNumber: Entry]>([:])

    /// Sorted by the numbers of the jobs.
    var all: [OutboxProgress] { state.withLock { $0.values.map(\.progress).sorted { $0.job < $1.job } } }

    /// - Parameter now: by the engine's clock.
    func note(_ progress: OutboxProgress, at now: Duration) {
        state.withLock { state in
            let mark = state[progress.job]?.mark
            let isAhead = mark.map { progress.bytes >= $0.bytes + OutboxLimits.stallBytes } ?? true
            state[progress.job] = Entry(
                progress: progress, mark: isAhead ? (progress.bytes, now) : mark ?? (progress.bytes, now))
        }
    }

    /// When each job last advanced by `OutboxLimits.stallBytes`, or else reported its first progress.
    var moves: [JobNumber: Duration] { state.withLock { $0.mapValues(\.mark.at) } }

    func remove(_ job: JobNumber) { state.withLock { $0[job] = nil } }
}
