import CLinuxShims
import Glibc

/// Lines that come slowly, such as those that a person types.
package enum TypedLines {
    /// Bytes of a line: those that the kernel keeps of it.
    private static let lineBytes = 4_096
    /// How often a job in the background looks whether it is in the foreground: milliseconds.
    private static let backgroundPause: Int32 = 500

    /// The terminal of this process; -1 if it has none.
    package static func openTerminal() -> Int32 { open("/dev/tty", O_RDONLY | O_CLOEXEC) }

    /// Whether a file is the terminal of this process, and this process is in its foreground.
    package static func isInForeground(_ file: Int32) -> Bool { tcgetpgrp(file) == getpgrp() }

    /// Lines of a file, as a thread reads them. Ends when the file does.
    ///
    /// Reading stops when the stream is dropped or its task is cancelled: another program gets the next line.
    /// - Parameters:
    ///   - count: no byte behind this many lines is read.
    ///   - open: the file, which is closed at the end; negative for none.
    ///   - make: an element from the bytes of a line that was read right now, with its end. They are wiped later.
    package static func read<Element: Sendable>(
        atMost count: Int = .max, _ open: @escaping @Sendable () -> Int32,
        _ make: @escaping @Sendable (UnsafeRawBufferPointer) -> Element
    ) -> AsyncStream<Element> {
        AsyncStream { continuation in
            var ends: [Int32] = [-1, -1]
            guard CLinuxShims_pipe(&ends) == 0 else { return continuation.finish() }
            let (stopped, stopping) = (ends[0], ends[1])
            continuation.onTermination = { _ in close(stopping) }
            let isStarted = BackgroundThread.start("waft-terminal") {
                read(open(), count, until: stopped) { continuation.yield(make($0)) }
                close(stopped)
                continuation.finish()
            }
            if !isStarted {
                close(stopped)
                continuation.finish()
            }
        }
    }

    /// - Parameters:
    ///   - file: owned.
    ///   - count: of lines.
    ///   - stopped: the reading end of a pipe whose other end is closed when no more lines are wanted.
    private static func read(
        _ file: Int32, _ count: Int, until stopped: Int32, _ take: (UnsafeRawBufferPointer) -> Void
    ) {
        guard file >= 0 else { return }
        defer { close(file) }
        withUnsafeTemporaryAllocation(byteCount: lineBytes, alignment: 1) { room in
            defer { if let start = room.baseAddress { explicit_bzero(start, room.count) } }
            var left = count
            while left > 0 {
                var waits = [
                    pollfd(fd: file, events: Int16(POLLIN), revents: 0), pollfd(fd: stopped, events: 0, revents: 0),
                ]
                guard poll(&waits, 2, -1) >= 0 else {
                    if errno == EINTR { continue }
                    return
                }
                if waits[1].revents != 0 { return }
                if isatty(file) == 1, !isInForeground(file) {
                    // The line is its shell's.
                    if poll(&waits[1], 1, backgroundPause) > 0 { return }
                    continue
                }
                // A terminal gives one line at a time, and so does a program that answers a question.
                let count = Glibc.read(file, room.baseAddress, room.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return }
                left -= 1
                take(UnsafeRawBufferPointer(rebasing: room[..<count]))
            }
        }
    }
}
