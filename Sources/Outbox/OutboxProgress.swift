import Synchronization

/// How far a job is that is being sent.
package struct OutboxProgress: Sendable, Hashable {
    package var job: JobNumber
    /// Bytes of contents that were handed over, or were there already.
    package var bytes: UInt64
    /// Bytes of all items that were accepted; nil where that is not known.
    package var total: UInt64?

    package init(job: JobNumber, bytes: UInt64, total: UInt64?) {
        self.job = job
        self.bytes = bytes
        self.total = total
    }
}

/// The progress of all that are being sent: in memory only, since it says nothing that has to survive.
final class OutboxProgressBoard: Sendable {
    private let state = Mutex<[JobNumber: OutboxProgress]>([:])

    /// By their numbers.
    var all: [OutboxProgress] { state.withLock { $0.values.sorted { $0.job < $1.job } } }

    func note(_ progress: OutboxProgress) { state.withLock { $0[progress.job] = progress } }

    func remove(_ job: JobNumber) { state.withLock { $0[job] = nil } }
}
