import Glibc
import Synchronization
import SystemPackage

/// The reading end of a pipe to which another process writes. It is emptied as it fills, so that the writer is never
/// blocked nor killed. It keeps none of the data.
final class DrainedPipe: Sendable {
    /// Bytes of one read: the capacity of a pipe.
    private static let pieceBytes = 65_536

    /// Owned; closed when the thread no longer waits for it.
    private let end: Int32
    private let registration = Mutex<PipeThread.Registration?>(nil)
    private let sink: @Sendable (UnsafeRawBufferPointer) -> Void
    private let isClosed = Atomic<Bool>(false)
    private let closed: Mutex<(@Sendable () -> Void)?> = Mutex(nil)

    /// - Parameter sink: gets the data, in order, on the thread that empties all pipes, one piece of each pipe in turn.
    /// - Returns: the pipe, and its writing end, which is close-on-exec and the caller's.
    /// - Throws: `Errno`.
    static func make(
        sink: @escaping @Sendable (UnsafeRawBufferPointer) -> Void
    ) throws -> (pipe: DrainedPipe, writing: Int32) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw Errno(rawValue: errno) }
        // Not atomic with the pipe's creation: programs that we start get only the descriptors that are meant for them.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        // Only this end: the program's end blocks, as programs expect.
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        return (DrainedPipe(takingOwnershipOf: ends[0], sink: sink), ends[1])
    }

    private init(takingOwnershipOf end: Int32, sink: @escaping @Sendable (UnsafeRawBufferPointer) -> Void) {
        self.end = end
        self.sink = sink
        // The thread keeps the object alive until it is closed.
        let registration = PipeThread.shared.add(end, Int32(POLLIN)) { [self] in _ = readPiece() }
        let isAlreadyClosed = self.registration.withLock { known in
            known = registration
            return isClosed.load(ordering: .acquiring)
        }
        if isAlreadyClosed { letGo() }
    }

    private func letGo() {
        let registration = registration.withLock { registration in
            defer { registration = nil }
            return registration
        }
        guard let registration else { return }
        PipeThread.shared.remove(registration) { [self] in
            Glibc.close(end)
            let tell = closed.withLock { closed in
                defer { closed = nil }
                return closed
            }
            tell?()
        }
    }

    /// Whether no more data can come: all writers have closed it, or it was closed here.
    var isAtEnd: Bool { isClosed.load(ordering: .acquiring) }

    /// Reads the data that has been written so far.
    func catchUp() async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            PipeThread.shared.perform { [self] in
                // Two pieces are more than the pipe holds: a constant writer must not block this thread.
                if readPiece() { _ = readPiece() }
                continuation.resume()
            }
        }
    }

    /// Stops reading: the next write of any writer fails.
    func close() {
        if !isClosed.exchange(true, ordering: .acquiringAndReleasing) { letGo() }
    }

    /// Calls `tell` once when it is closed, on the thread that empties pipes; never if it is already closed.
    func whenClosed(_ tell: @escaping @Sendable () -> Void) {
        closed.withLock { $0 = tell }
    }

    /// - Returns: whether there may be more.
    private func readPiece() -> Bool {
        guard !isAtEnd else { return false }
        return withUnsafeTemporaryAllocation(byteCount: Self.pieceBytes, alignment: 1) { buffer in
            let count = read(end, buffer.baseAddress, buffer.count)
            if count > 0 {
                sink(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                return true
            }
            if count < 0, errno == EAGAIN || errno == EINTR { return false }
            close()
            return false
        }
    }
}

/// Pipes of processes that outlived their parent: emptied until the last process closes its end.
final class LeftoverPipes: Sendable {
    /// Maximum number of pipes; beyond it the oldest is closed.
    static let most = 64

    private let limit: Int
    /// The oldest first.
    private let pipes = Mutex<[DrainedPipe]>([])

    init(limit: Int = LeftoverPipes.most) {
        self.limit = limit
    }

    var count: Int { pipes.withLock { $0.count } }

    func keep(_ pipe: DrainedPipe) {
        let tooMuch: DrainedPipe? = pipes.withLock { pipes in
            pipes.append(pipe)
            return pipes.count > limit ? pipes.removeFirst() : nil
        }
        tooMuch?.close()
        pipe.whenClosed { [weak self, weak pipe] in
            guard let self, let pipe else { return }
            forget(pipe)
        }
        // It may already be closed.
        if pipe.isAtEnd { forget(pipe) }
    }

    private func forget(_ pipe: DrainedPipe) {
        pipes.withLock { $0.removeAll { $0 === pipe } }
    }
}
