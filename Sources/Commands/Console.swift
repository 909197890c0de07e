import Executors
import Foundation
import Synchronization

/// The terminal, or what stands in its place: results on standard output, everything for the eyes on standard error.
package final class Console: Sendable {
    package static let shared = Console()

    /// What is drawn on the terminal's last line just now.
    private let drawn = Mutex("")
    /// Bytes handed to the writer and not written yet. Not under the lock, which is held while the writer is woken: it would
    /// wait for it there.
    private let waiting = Atomic(0)
    /// Writes, in order, so that a paused terminal or a slow reader holds up nobody but itself.
    private let writer = SerialThread()
    /// Bytes that may wait; beyond that whoever prints waits too: events are never dropped.
    private static let mostWaiting = 4 << 20
    /// What a line that is not made yet counts for: more than it is made from, so that no more of them wait than one batch
    /// of a transfer has.
    private static let bytesOfUnmade = 8 << 10
    /// How long the end of the program waits for a reader: milliseconds.
    private static let farewell: Int32 = 2_000
    /// Whether a person looks at standard error.
    package let isInteractive = isatty(STDERR_FILENO) == 1

    private init() {}

    /// A line of results on standard output. `text` is escaped already.
    package func result(_ text: String) {
        write(text + "\n", to: STDOUT_FILENO)
    }

    /// A line of results that is made by the writer's thread, in its turn: for those of which there are tens of thousands.
    /// - Parameter text: escaped.
    func result(making text: @escaping @Sendable () -> String) {
        drawn.withLock { drawn in
            erase(&drawn)
            enqueue(Self.bytesOfUnmade, to: STDOUT_FILENO) { text() + "\n" }
        }
        waitForWriter()
    }

    /// A line for the user on standard error. `text` is escaped already.
    package func note(_ text: String) {
        write(text + "\n", to: STDERR_FILENO)
    }

    /// Asks on standard error, without ending the line.
    package func prompt(_ text: String) {
        write(text, to: STDERR_FILENO)
    }

    /// Replaces the status line; nothing where nobody looks.
    package func status(_ text: String) {
        guard isInteractive else { return }
        drawn.withLock { drawn in
            guard drawn != text else { return }
            drawn = text
            enqueue("\r\u{1B}[2K" + text, to: STDERR_FILENO)
        }
    }

    package func endStatus() {
        drawn.withLock { erase(&$0) }
    }

    /// Columns of the terminal.
    package var width: Int {
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    private func erase(_ drawn: inout String) {
        guard !drawn.isEmpty else { return }
        drawn = ""
        enqueue("\r\u{1B}[2K", to: STDERR_FILENO)
    }

    /// Waits, for a moment, until everything is written: the last thing before the program ends.
    package func flush() {
        // A semaphore's wait goes by the wall clock here, and is over at once when that is set forward.
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return writer.drain() }
        let (reading, writing) = (ends[0], ends[1])
        writer.enqueue { close(writing) }
        var done = pollfd(fd: reading, events: Int16(POLLIN), revents: 0)
        while poll(&done, 1, Self.farewell) < 0, errno == EINTR {}
        close(reading)
    }

    private func write(_ text: String, to descriptor: Int32) {
        drawn.withLock { drawn in
            erase(&drawn)
            enqueue(text, to: descriptor)
        }
        waitForWriter()
    }

    private func waitForWriter() {
        if waiting.load(ordering: .relaxed) > Self.mostWaiting { writer.drain() }
    }

    private func enqueue(_ text: String, to descriptor: Int32) {
        enqueue(text.utf8.count, to: descriptor) { text }
    }

    /// Under the lock, so that what is printed is written in that order.
    /// - Parameter count: bytes that wait.
    private func enqueue(_ count: Int, to descriptor: Int32, _ text: @escaping @Sendable () -> String) {
        waiting.add(count, ordering: .relaxed)
        writer.enqueue {
            Self.write(text(), to: descriptor)
            self.waiting.subtract(count, ordering: .relaxed)
        }
    }

    /// Writes all of it, or gives up when nobody reads any more.
    private static func write(_ text: String, to descriptor: Int32) {
        var text = text
        text.withUTF8 { bytes in
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
                    return
                }
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            }
        }
    }
}
