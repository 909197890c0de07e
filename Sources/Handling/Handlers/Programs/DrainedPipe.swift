import Glibc
import Synchronization
import SystemPackage

/// The reading end of a pipe that somebody else writes to, emptied as it fills, so that whoever writes is never held up
/// nor killed, and nothing of it is kept here.
final class DrainedPipe: Sendable {
    /// Bytes that are read at once: what a pipe holds.
    private static let pieceBytes = 65_536

    /// Owned; closed when nobody waits for it any more.
    private let end: Int32
    private let registration = Mutex<PipeThread.Registration?>(nil)
    private let sink: @Sendable (UnsafeRawBufferPointer) -> Void
    private let isClosed = Atomic<Bool>(false)
    private let closed: Mutex<(@Sendable () -> Void)?> = Mutex(nil)

    /// - Parameter sink: gets what is read, in order, on the thread that empties all pipes, a piece each in turn.
    /// - Returns: the pipe, and its writing end, which is close-on-exec and the caller's.
    /// - Throws: `Errno`.
    static func make(
        sink: @escaping @Sendable (UnsafeRawBufferPointer) -> Void
    ) throws -> (pipe: DrainedPipe, writing: Int32) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw Errno(rawValue: errno) }
        // Not in one step with the pipe's making: what we start gets no descriptor but those that it is given.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        // Of this end alone: that of the program blocks, as programs expect.
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        return (DrainedPipe(takingOwnershipOf: ends[0], sink: sink), ends[1])
    }

    private init(takingOwnershipOf end: Int32, sink: @escaping @Sendable (UnsafeRawBufferPointer) -> Void) {
        self.end = end
        self.sink = sink
        // The thread keeps it alive until it is closed.
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

    /// Whether there is nothing more to come: all who could write are gone, or it was closed.
    var isAtEnd: Bool { isClosed.load(ordering: .acquiring) }

    /// Takes what has been written up to now.
    func catchUp() async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            PipeThread.shared.perform { [self] in
                // Two pieces are more than the pipe holds: somebody who goes on writing must not keep us here.
                if readPiece() { _ = readPiece() }
                continuation.resume()
            }
        }
    }

    /// Those who write are not listened to any more: their next write fails.
    func close() {
        if !isClosed.exchange(true, ordering: .acquiringAndReleasing) { letGo() }
    }

    /// Calls `tell` once when it is closed, on the thread that empties pipes; not at all where it is already.
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

/// Pipes that processes still hold whose parent has left: emptied until the last lets go.
final class LeftoverPipes: Sendable {
    /// Most pipes; beyond it the oldest is closed.
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
        // It may have been closed before.
        if pipe.isAtEnd { forget(pipe) }
    }

    private func forget(_ pipe: DrainedPipe) {
        pipes.withLock { $0.removeAll { $0 === pipe } }
    }
}
