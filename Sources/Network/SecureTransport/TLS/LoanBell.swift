internal import CLinuxShims
internal import Glibc
private import Synchronization
internal import SystemCalls

/// Lets a borrower of one direction of a connection wait for its socket, and lets the event loop end the wait.
struct LoanBell: ~Copyable, Sendable {
    /// An eventfd.
    private let bell: SystemCalls.FileDescriptor
    private let rung = Atomic<Bool>(false)
    private let seats: WaitingSeats

    /// - Throws: if there are no descriptors left.
    init(_ seats: WaitingSeats) throws(SystemError) {
        self.seats = seats
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
    /// - Parameter milliseconds: the longest wait; -1 for no limit.
    /// - Returns: false if the borrower must not wait any more.
    borrowing func wait(
        for socket: borrowing SystemCalls.FileDescriptor, _ events: CInt, atMost milliseconds: CInt = -1
    ) -> Bool {
        defer { seats.leave() }
        guard seats.take() else { return false }
        var polled = [
            pollfd(fd: socket.raw, events: Int16(events), revents: 0),
            pollfd(fd: bell.raw, events: Int16(POLLIN), revents: 0),
        ]
        var ready = poll(&polled, 2, milliseconds)
        while ready < 0, errno == EINTR { ready = poll(&polled, 2, milliseconds) }
        return ready > 0 && polled[1].revents == 0
    }
}

/// The number of threads that wait for a borrowed socket. All other threads leave the wait to the event loop, so that
/// stalled peers never hold all disk threads.
final class WaitingSeats: Sendable {
    static let shared = WaitingSeats(4)

    private let count: Int
    private let threads = Atomic<Int>(0)

    init(_ count: Int) { self.count = count }

    /// Threads that wait, or want to wait.
    var taken: Int { threads.load(ordering: .relaxed) }

    /// - Returns: whether there is a free seat. `leave` is called in either case.
    fileprivate func take() -> Bool { threads.add(1, ordering: .relaxed).newValue <= count }

    fileprivate func leave() { threads.subtract(1, ordering: .relaxed) }
}
