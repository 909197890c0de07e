import HookSandbox
package import Sharing
private import Synchronization

/// The contents of a sealed item on their way to one program, which reads them from a pipe.
package final class ClearStream: Sendable {
    /// The path of the pipe, as its program sees it.
    package static let path = "/proc/self/fd/\(SandboxPlan.streamDescriptor)"

    /// Takes the next contents, which are valid during the call.
    /// - Returns: whether it wants more.
    package typealias Sink = (UnsafeRawBufferPointer) -> Bool

    private struct State {
        var isLocked = false
        var tell: (@Sendable () -> Void)?
    }

    /// The item, at `path`, with the digest of its contents.
    package let arrival: Arrival
    private let contents: @Sendable (Sink) throws(ClearCopyError) -> Void
    private let state = Mutex(State())

    /// - Parameters:
    ///   - arrival: the sealed item, with the digest of its contents.
    ///   - contents: passes all contents on, in order; called once at most, and may block. It throws if the rest cannot be
    ///     read; all that it has passed on before is authentic.
    package init(_ arrival: Arrival, contents: @escaping @Sendable (Sink) throws(ClearCopyError) -> Void) {
        var arrival = arrival
        arrival.stored.path = Self.path
        self.arrival = arrival
        self.contents = contents
    }

    /// Passes the contents on until the sink wants no more.
    func pass(_ sink: Sink) throws(ClearCopyError) { try contents(sink) }

    /// The lock came: the program does not get the rest. Returns at once.
    package func lock() {
        let tell = state.withLock { state in
            state.isLocked = true
            return state.tell
        }
        tell?()
    }

    /// Calls `tell` when the lock comes; at once if it has come already.
    func whenLocked(_ tell: @escaping @Sendable () -> Void) {
        let isLocked = state.withLock { state in
            state.tell = tell
            return state.isLocked
        }
        if isLocked { tell() }
    }
}
