import Digests
import Sharing
import Synchronization

/// The accepted files of a session: those that wait, that are on their way, and that have ended. Shared by the connections
/// that send them.
final class UploadBoard: Sendable {
    /// One sending of one file.
    struct Job {
        /// The file's index in the plan.
        let file: Int
        /// Answers that the contents were not what they should be.
        var mismatches = 0
        /// Connections that broke.
        var breaks = 0
        /// The most bytes that were sent of it in one attempt.
        var furthest: UInt64 = 0
        /// Bytes sent in this attempt.
        fileprivate(set) var sent: UInt64 = 0
    }

    enum End {
        case stored(Digest)
        case unread(SourceError)
        case failed(TransferError)
    }

    private struct State {
        /// In reverse order.
        var waiting: [Job]
        var ends: [Int: End] = [:]
        var onTheirWay = 0
        var connections = 1
        var storedBytes: UInt64 = 0
        var comingBytes: UInt64 = 0
        var movedBytes: UInt64 = 0
        var shownBytes: UInt64 = 0
        /// Refusals one after the other, of files that should have been taken.
        var refusals = 0
        /// The time while the machine sleeps is not counted: no progress is possible then.
        var lastProgress: SuspendingClock.Instant = .now
        var stop: TransferError?
    }

    /// After so many of them the session is over on the other side.
    private static let refusals = 4

    private let state: Mutex<State>
    private let progressed: @Sendable (_ done: UInt64, _ moved: UInt64) -> Void

    /// - Parameter progressed: called with bytes handed over, never less than before, and with bytes sent in all attempts.
    init(_ files: [Int], progressed: @escaping @Sendable (_ done: UInt64, _ moved: UInt64) -> Void) {
        state = Mutex(State(waiting: files.reversed().map { Job(file: $0) }))
        self.progressed = progressed
    }

    // MARK: Connections

    /// One more connection takes part.
    func enter() { state.withLock { $0.connections += 1 } }

    /// - Returns: the next file; nil if there is none: then this connection has left.
    func take() -> Job? {
        state.withLock { state in
            guard state.stop == nil, let job = state.waiting.popLast() else {
                state.connections -= 1
                return nil
            }
            state.onTheirWay += 1
            return job
        }
    }

    /// Leaves if nothing waits. A file that is on its way stays with its connection.
    /// - Returns: whether it has left.
    func leaveIfIdle() -> Bool {
        state.withLock { state in
            guard state.stop != nil || state.waiting.isEmpty else { return false }
            state.connections -= 1
            return true
        }
    }

    /// Leaves the rest to the other connections.
    /// - Returns: false if there is no other.
    func leave() -> Bool {
        state.withLock { state in
            guard state.connections > 1 else { return false }
            state.connections -= 1
            return true
        }
    }

    /// Whether nothing is to be sent any more, and nothing is on its way.
    var isOver: Bool { state.withLock { ($0.stop != nil || $0.waiting.isEmpty) && $0.onTheirWay == 0 } }

    /// Whether there was progress within `time`.
    func mayGoOn(for time: Duration) -> Bool {
        state.withLock { $0.stop == nil && SuspendingClock.now - $0.lastProgress < time }
    }

    /// No more files are sent.
    func stop(_ fault: TransferError) { state.withLock { $0.stop = $0.stop ?? fault } }

    // MARK: Files

    func moved(_ bytes: Int, _ job: inout Job) {
        state.withLock { state in
            job.sent += UInt64(bytes)
            if job.sent > job.furthest {
                job.furthest = job.sent
                state.lastProgress = .now
            }
            state.comingBytes += UInt64(bytes)
            state.movedBytes += UInt64(bytes)
            show(&state)
        }
    }

    func stored(_ job: Job, _ digest: Digest) {
        end(job, .stored(digest)) { state in
            state.storedBytes += job.sent
            state.refusals = 0
            state.lastProgress = .now
            show(&state)
        }
    }

    func unread(_ job: Job, _ fault: SourceError) { end(job, .unread(fault)) }

    /// - Parameter isUnexpected: whether the other side had accepted it, and nothing has gone wrong since.
    func failed(_ job: Job, _ fault: TransferError, isUnexpected: Bool = false) {
        end(job, .failed(fault)) { state in
            state.refusals = isUnexpected ? state.refusals + 1 : 0
            if state.refusals >= Self.refusals { state.stop = state.stop ?? fault }
        }
    }

    /// It is to be sent again from its beginning.
    func again(_ job: Job) {
        end(job, nil) { state in
            var job = job
            job.sent = 0
            state.waiting.append(job)
        }
    }

    private func end(_ job: Job, _ end: End?, _ body: (inout State) -> Void = { _ in }) {
        state.withLock { state in
            state.onTheirWay -= 1
            state.comingBytes -= job.sent
            if let end { state.ends[job.file] = end }
            body(&state)
        }
    }

    private func show(_ state: inout State) {
        state.shownBytes = max(state.shownBytes, state.storedBytes + state.comingBytes)
        progressed(state.shownBytes, state.movedBytes)
    }

    // MARK: The end

    /// What has become of the files, and why the others were not sent.
    var results: (ends: [Int: End], stop: TransferError?, moved: UInt64) {
        state.withLock { ($0.ends, $0.stop, $0.movedBytes) }
    }
}
