internal import CLinuxShims
internal import Glibc
private import Synchronization
internal import SystemCalls

/// How the thread that has borrowed one way of a connection waits for its socket, and how the event loop ends that.
struct LoanBell: ~Copyable, Sendable {
    /// An eventfd.
    private let bell: SystemCalls.FileDescriptor
    private let rung = Atomic<Bool>(false)
    private let seats: WaitingSeats

    /// - Throws: where there are no descriptors left.
    init(_ seats: WaitingSeats) throws(SystemError) {
        self.seats = seats
        bell = SystemCalls.FileDescriptor(owning: try systemCall { CLinuxShims_eventfd() })
    }

    var hasRung: Bool { rung.load(ordering: .relaxed) }

    /// Ends all waiting, for ever.
    borrowing func ring() {
        guard !rung.exchange(true, ordering: .relaxed) else { return }
        var one: UInt64 = 1
        _ = Glibc.write(bell.raw, &one, MemoryLayout<UInt64>.size)
    }

    /// Waits until the socket is ready for `events`.
    ///
    /// - Parameter milliseconds: at most; -1: for as long as it takes.
    /// - Returns: false where there is no more waiting.
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

/// How many threads wait for a socket that they have borrowed. All others leave it to the event loop, so that peers that stand
/// still never hold all the threads there are for the disk.
final class WaitingSeats: Sendable {
    static let shared = WaitingSeats(4)

    private let count: Int
    private let threads = Atomic<Int>(0)

    init(_ count: Int) { self.count = count }

    /// Threads that wait, or want to.
    var taken: Int { threads.load(ordering: .relaxed) }

    /// - Returns: whether there is one. `leave` is called in either case.
    fileprivate func take() -> Bool { threads.add(1, ordering: .relaxed).newValue <= count }

    fileprivate func leave() { threads.subtract(1, ordering: .relaxed) }
}
