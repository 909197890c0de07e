import Glibc
import Synchronization
import SystemPackage

/// The writing end of a pipe whose reader may be slow: data that does not fit is buffered here.
final class FedPipe: Sendable {
    private struct State {
        var pending: [UInt8] = []
        var isClosed = false
        /// Whether a wait for room is under way.
        var isWaiting = false
    }

    /// Owned, both. The reading end stays open too, so that a reader that exits causes no SIGPIPE here: the process
    /// itself reports its end.
    private let writing: Int32
    private let reading: Int32
    private let state = Mutex(State())

    /// - Throws: `Errno`.
    init() throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw Errno(rawValue: errno) }
        // Not atomic with the pipe's creation: programs that we start get only the descriptors that are meant for them.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
        reading = ends[0]
        writing = ends[1]
    }

    deinit {
        Glibc.close(reading)
        if !state.withLock({ $0.isClosed }) { Glibc.close(writing) }
    }

    /// The program's input; valid as long as this object is referenced.
    var input: Int32 { reading }

    /// Whether the pipe has taken all written data.
    var isDrained: Bool { state.withLock { $0.pending.isEmpty } }

    /// Writes without waiting.
    func write(_ bytes: [UInt8]) {
        let isIdle = state.withLock { state in
            defer { state.pending += bytes }
            return state.pending.isEmpty
        }
        if isIdle { flush() }
    }

    /// The reader reaches the end of its input; buffered data is dropped.
    func close() {
        state.withLock { state in
            guard !state.isClosed else { return }
            state.isClosed = true
            state.pending = []
            Glibc.close(writing)
        }
    }

    private func flush() {
        let mustWait = state.withLock { state -> Bool in
            while !state.isClosed, !state.pending.isEmpty {
                let count = state.pending.withUnsafeBytes { Glibc.write(writing, $0.baseAddress, $0.count) }
                if count < 0, errno == EINTR { continue }
                if count < 0, errno == EAGAIN {
                    defer { state.isWaiting = true }
                    return !state.isWaiting
                }
                guard count > 0 else { return false }
                state.pending.removeFirst(count)
            }
            return false
        }
        if mustWait { waitForRoom() }
    }

    /// Waits with a copy of the descriptor: the original may then be closed at any time. The copy is closed when there
    /// is room, when the pipe is closed, or when no reader is left.
    private func waitForRoom() {
        let copy = fcntl(writing, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { return }
        RoomWait(copy) { [weak self] in
            self?.state.withLock { $0.isWaiting = false }
            self?.flush()
        }.begin()
    }
}

/// One wait for room in a pipe.
private final class RoomWait: Sendable {
    /// Owned.
    private let copy: Int32
    private let then: @Sendable () -> Void
    private let registration = Mutex<PipeThread.Registration?>(nil)

    init(_ copy: Int32, then: @escaping @Sendable () -> Void) {
        self.copy = copy
        self.then = then
    }

    func begin() {
        // Under the lock, so that the thread finds the registration if there is room at once.
        registration.withLock { registration in
            registration = PipeThread.shared.add(copy, Int32(POLLOUT)) { [self] in end() }
        }
    }

    private func end() {
        let registration = registration.withLock { registration in
            defer { registration = nil }
            return registration
        }
        guard let registration else { return }
        PipeThread.shared.remove(registration) { [self] in
            close(copy)
            then()
        }
    }
}
