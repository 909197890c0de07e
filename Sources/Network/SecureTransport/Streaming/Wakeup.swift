internal import CLinuxShims
internal import Glibc
internal import NIOCore
private import Synchronization
internal import SystemCalls

/// Lets a thread wait for a socket, and lets any other thread end the wait.
struct Wakeup: ~Copyable, Sendable {
    enum Event {
        /// These events, of those that the thread waits for, or an error of the socket.
        case ready(CInt)
        case timedOut
        case rung
    }

    /// An eventfd.
    private let bell: SystemCalls.FileDescriptor
    private let rung = Atomic<Bool>(false)

    /// - Throws: if there are no descriptors left.
    init() throws(SystemError) {
        bell = SystemCalls.FileDescriptor(owning: try systemCall { CLinuxShims_eventfd() })
    }

    var hasRung: Bool { rung.load(ordering: .relaxed) }

    /// Ends all waits, also later ones.
    borrowing func ring() {
        guard !rung.exchange(true, ordering: .relaxed) else { return }
        var one: UInt64 = 1
        _ = Glibc.write(bell.raw, &one, MemoryLayout<UInt64>.size)
    }

    /// Waits until the socket is ready for `events`.
    ///
    /// - Parameter ignoresBell: whether only the deadline ends the wait.
    borrowing func wait(
        for socket: CInt, _ events: CInt, until deadline: NIODeadline, ignoresBell: Bool = false
    ) -> Event {
        while true {
            let left = max(.zero, deadline - .now()).nanoseconds
            // Rounded up, so that the last wait is not a busy one.
            let milliseconds = CInt(clamping: (left + 999_999) / 1_000_000)
            var polled = [
                pollfd(fd: socket, events: Int16(events), revents: 0),
                pollfd(fd: ignoresBell ? -1 : bell.raw, events: Int16(POLLIN), revents: 0),
            ]
            let count = poll(&polled, 2, milliseconds)
            if polled[1].revents != 0 { return .rung }
            if count > 0 { return .ready(CInt(polled[0].revents)) }
            if left == 0 { return .timedOut }
        }
    }
}
