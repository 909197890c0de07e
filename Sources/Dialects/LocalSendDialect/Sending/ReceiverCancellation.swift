private import Synchronization

/// The end of one sending by its receiver, which tells it at the port that the question names.
package final class ReceiverCancellation: Sendable {
    private struct State {
        var session: String?
        var isRequested = false
    }

    private let state = Mutex(State())
    private let (requests, request) = AsyncStream<Void>.makeStream()

    package init() {}

    package var isRequested: Bool { state.withLock { $0.isRequested } }

    /// Ends the sending. The session's identifier is a secret of the two sides.
    /// - Returns: false for any other session, and before the receiver has accepted anything.
    package func request(_ session: String) -> Bool {
        let isMeant = state.withLock { state in
            guard session == state.session else { return false }
            state.isRequested = true
            return true
        }
        if isMeant { request.yield() }
        return isMeant
    }

    /// Waits until the receiver has ended the sending, or the task is cancelled. Called once.
    package func wait() async { for await _ in requests { return } }

    /// Says the session that can be ended from now on.
    func begin(_ session: String) { state.withLock { $0.session = session } }
}
