import Sharing
import Synchronization

/// How far one sending has come, over all its attempts.
final class WaftSendProgress: Sendable {
    private struct State {
        var peer: PeerID?
        var name: String?
        var verdict: Verdict?
        var maximumBytes: UInt64 = 0
        /// Time of the last new maximum of sent bytes. The time while the machine sleeps is not counted: no progress is
        /// possible then.
        var lastProgress: SuspendingClock.Instant = .now
        var hasProgressed = false
    }

    private let state = Mutex(State())

    /// The peer whose key answered first: no other peer gets the contents.
    var peer: PeerID? { state.withLock { $0.peer } }
    var name: String? { state.withLock { $0.name } }
    /// The first answer that accepted something.
    var verdict: Verdict? { state.withLock { $0.verdict } }

    /// - Returns: whether this is the first connection.
    func connected(_ peer: PeerID, name: String?) -> Bool {
        state.withLock { state in
            defer { (state.peer, state.name) = (peer, name ?? state.name) }
            return state.peer == nil
        }
    }

    func accepted(_ verdict: Verdict) {
        state.withLock { state in
            if state.verdict != nil { return }
            state.verdict = verdict
            state.lastProgress = .now
        }
    }

    /// - Returns: the most bytes so far.
    func progressed(_ bytes: UInt64) -> UInt64 {
        state.withLock { state in
            if bytes > state.maximumBytes {
                state.maximumBytes = bytes
                state.lastProgress = .now
                state.hasProgressed = true
            }
            return state.maximumBytes
        }
    }

    /// Whether there has been progress since this was asked last.
    func takeProgress() -> Bool {
        state.withLock { state in
            defer { state.hasProgressed = false }
            return state.hasProgressed
        }
    }

    /// The remainder of `time`, counted from the last progress, or from the beginning without progress; at least zero.
    func rest(of time: Duration) -> Duration {
        state.withLock { max(.zero, time - (SuspendingClock.now - $0.lastProgress)) }
    }

    func mayGoOn(for time: Duration) -> Bool { rest(of: time) > .zero }
}
