import Executors
import Glibc
import Synchronization

/// One thread that waits for all pipes.
///
/// Not Dispatch: on Linux its sources sometimes end the process if descriptors come and go fast.
final class PipeThread: Sendable {
    static let shared = PipeThread()

    /// Identifies a registered pipe.
    struct Registration: Hashable, Sendable {
        fileprivate let number: Int
    }

    private struct Entry {
        var descriptor: Int32
        var events: Int16
        var isReady: @Sendable () -> Void
    }

    private struct State {
        var entries: [Registration: Entry] = [:]
        var jobs: [@Sendable () -> Void] = []
        var last = 0
        var isRunning = false
        /// The pipe that wakes the thread: reading and writing end.
        var wake: (Int32, Int32) = (-1, -1)
    }

    private let state = Mutex(State())

    private init() {}

    /// Calls `isReady` on the thread whenever the descriptor can be read or written (or the other end was closed),
    /// until it is removed. `isReady` returns soon, and leaves the descriptor unready or removed.
    ///
    /// - Parameter events: `POLLIN` or `POLLOUT`.
    func add(_ descriptor: Int32, _ events: Int32, isReady: @escaping @Sendable () -> Void) -> Registration {
        let registration = state.withLock { state in
            state.last += 1
            let registration = Registration(number: state.last)
            state.entries[registration] = Entry(
                descriptor: descriptor, events: Int16(truncatingIfNeeded: events), isReady: isReady)
            return registration
        }
        wake()
        return registration
    }

    /// Stops waiting for it. `then` is called on the thread when the descriptor is no longer in use. The caller may
    /// close the descriptor then, and not before.
    func remove(_ registration: Registration, then: @escaping @Sendable () -> Void) {
        state.withLock { state in
            state.entries[registration] = nil
            state.jobs.append(then)
        }
        wake()
    }

    /// Runs a closure on the thread.
    func perform(_ job: @escaping @Sendable () -> Void) {
        state.withLock { $0.jobs.append(job) }
        wake()
    }

    private func wake() {
        let end = state.withLock { state -> Int32 in
            if !state.isRunning { start(&state) }
            return state.wake.1
        }
        var byte: UInt8 = 0
        // Full: the thread will wake anyway.
        _ = write(end, &byte, 1)
    }

    private func start(_ state: inout State) {
        var ends: [Int32] = [-1, -1]
        // If descriptors have run out there is no pipe, and the thread polls now and then.
        if pipe(&ends) != 0 { ends = [-1, -1] }
        for end in ends where end >= 0 {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        state.wake = (ends[0], ends[1])
        state.isRunning = true
        let isStarted = BackgroundThread.start("waft-pipes") { [self] in while true { round() } }
        precondition(isStarted, "no thread could be started")
    }

    /// Waits once, and calls the closures of ready pipes.
    private func round() {
        let (wakeEnd, entries) = state.withLock { ($0.wake.0, $0.entries.map { ($0.key, $0.value) }) }
        var waits = [pollfd(fd: wakeEnd, events: Int16(POLLIN), revents: 0)]
        waits += entries.map { pollfd(fd: $0.1.descriptor, events: $0.1.events, revents: 0) }
        guard poll(&waits, nfds_t(waits.count), wakeEnd < 0 ? 50 : -1) >= 0 else { return }
        if waits[0].revents != 0 {
            withUnsafeTemporaryAllocation(byteCount: 256, alignment: 1) { buffer in
                while read(wakeEnd, buffer.baseAddress, buffer.count) == buffer.count {}
            }
        }
        for (wait, (registration, entry)) in zip(waits.dropFirst(), entries) where wait.revents != 0 {
            // An earlier closure of this round may have removed it.
            if state.withLock({ $0.entries[registration] != nil }) { entry.isReady() }
        }
        let jobs = state.withLock { state in
            defer { state.jobs = [] }
            return state.jobs
        }
        for job in jobs { job() }
    }
}
