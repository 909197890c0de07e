private import DequeModule
import Glibc
private import Synchronization

/// Writes texts to descriptors, in their order: those that wait for one descriptor together, as each writing wakes its
/// reader. A paused terminal or a slow reader delays only its thread.
package final class OutputThread: Sendable {
    private struct Piece {
        var descriptor: Int32
        var text: @Sendable () -> String
        var ended: @Sendable (Int32) -> Void
        /// Bytes for which it counts.
        var count: Int
    }

    /// Bytes that may wait; beyond that, callers wait too: nothing is dropped.
    private static let maximumWaiting = 4 << 20

    private let thread: SerialThread
    /// The pieces in their order; the thread has work as long as there are any.
    private let pieces = Mutex(Deque<Piece>())
    /// Bytes of the pieces that are written together.
    private static let maximumTogether = 32 << 10
    /// Bytes handed over and not written yet. Not under a lock: it would be held while the thread is woken, and the thread
    /// would wait for it.
    private let waiting = Atomic(0)

    /// - Parameter name: at most 15 bytes; tools show it.
    package init(name: String) { thread = SerialThread(name: name) }

    /// - Parameters:
    ///   - count: bytes for which the text counts while it waits.
    ///   - text: called by the thread.
    ///   - ended: gets the error number of the writing; 0 for none.
    package func write(
        _ count: Int, to descriptor: Int32, _ text: @escaping @Sendable () -> String,
        _ ended: @escaping @Sendable (Int32) -> Void
    ) {
        waiting.add(count, ordering: .relaxed)
        let isFirst = pieces.withLock { pieces in
            pieces.append(Piece(descriptor: descriptor, text: text, ended: ended, count: count))
            return pieces.count == 1
        }
        if isFirst { thread.enqueue { self.writePieces() } }
    }

    private func writePieces() {
        while let together = pieces.withLock({ Self.takeTogether(&$0) }) {
            let failure = Self.write(together.reduce(into: "") { $0 += $1.text() }, to: together[0].descriptor)
            for piece in together {
                piece.ended(failure)
                waiting.subtract(piece.count, ordering: .relaxed)
            }
        }
    }

    private static func takeTogether(_ pieces: inout Deque<Piece>) -> [Piece]? {
        guard let first = pieces.popFirst() else { return nil }
        var (together, count) = ([first], first.count)
        while let next = pieces.first, next.descriptor == first.descriptor, count + next.count <= maximumTogether {
            together.append(pieces.removeFirst())
            count += next.count
        }
        return together
    }

    /// Waits while too much waits.
    package func waitForRoom() {
        if waiting.load(ordering: .relaxed) > Self.maximumWaiting { thread.drain() }
    }

    /// Waits until everything is written.
    /// - Parameters:
    ///   - pause: milliseconds between two looks at `isOver`.
    ///   - isOver: whether to wait no longer.
    package func flush(pause: Int32, unless isOver: () -> Bool) {
        // A semaphore's wait goes by the wall clock here, and is over at once when that is set forward.
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return thread.drain() }
        let (reading, writing) = (ends[0], ends[1])
        thread.enqueue { close(writing) }
        var done = pollfd(fd: reading, events: Int16(POLLIN), revents: 0)
        while poll(&done, 1, pause) <= 0, !isOver() {}
        close(reading)
    }

    /// Writes all of it, or gives up at the first error.
    /// - Returns: its number; 0 for none.
    private static func write(_ text: String, to descriptor: Int32) -> Int32 {
        var text = text
        return text.withUTF8 { bytes in
            var rest = UnsafeRawBufferPointer(bytes)
            while !rest.isEmpty {
                let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
                if count < 0 {
                    if errno == EINTR { continue }
                    if errno == EAGAIN {
                        var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                        poll(&waiting, 1, -1)
                        continue
                    }
                    return errno
                }
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            }
            return 0
        }
    }
}
