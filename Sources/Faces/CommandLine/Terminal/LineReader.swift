import CLinuxShims
import Executors
import Foundation
import Glibc

/// Lines that a person types, as they come.
enum LineReader {
    /// Bytes of a line: those that the kernel keeps of it.
    private static let lineBytes = 4_096

    /// Lines from the terminal itself: standard input may be something else. Ends when the terminal does.
    ///
    /// Reading stops when the stream is dropped: the next question, or another program, gets the next line.
    static func terminalLines() -> AsyncStream<String> { terminalLines(atMost: .max) }

    /// The same, each with the time at which it was read.
    static func timedTerminalLines() -> AsyncStream<(text: String, at: ContinuousClock.Instant)> {
        lines(atMost: .max, open: openTerminal) { ($0, .now) }
    }

    /// Forgets what a person has typed at the terminal so far, and no program has read.
    static func forgetTyped() {
        guard hasTerminal else { return }
        let terminal = openTerminal()
        guard terminal >= 0 else { return }
        defer { close(terminal) }
        tcflush(terminal, TCIFLUSH)
    }

    @Sendable private static func openTerminal() -> Int32 { open("/dev/tty", O_RDONLY | O_CLOEXEC) }

    /// Lines from an open file, such as a pipe. Ends when the file does.
    static func lines(_ file: Int32) -> AsyncStream<String> { lines(atMost: .max, open: { dup(file) }) { $0 } }

    /// - Parameter count: no byte behind this many lines is read.
    private static func terminalLines(atMost count: Int) -> AsyncStream<String> {
        lines(atMost: count, open: openTerminal) { $0 }
    }

    /// - Parameters:
    ///   - open: the file, which is closed at the end.
    ///   - make: an element from a line that was read right now.
    private static func lines<Element: Sendable>(
        atMost count: Int, open: @escaping @Sendable () -> Int32, _ make: @escaping @Sendable (String) -> Element
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
    private static func read(_ file: Int32, _ count: Int, until stopped: Int32, _ take: (String) -> Void) {
        guard file >= 0 else { return }
        defer { close(file) }
        var buffer = [UInt8](repeating: 0, count: lineBytes)
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
            let count = Glibc.read(file, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            left -= 1
            take(String(decoding: buffer[..<count], as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines))
        }
    }

    /// One line from the terminal itself. The next line is left to other readers.
    ///
    /// - Returns: nil at the end of the terminal.
    static func terminalLine() async -> String? {
        for await line in terminalLines(atMost: 1) { return line }
        return nil
    }

    /// Whether a program that is started here gets a terminal.
    static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 && isInForeground(STDIN_FILENO) }

    /// Whether there is a terminal, and a person may be asked on it now. The terminal of a job in the background is its
    /// shell's: the kernel stops the job when it reads.
    static var hasTerminal: Bool { isAtTerminal && isInForeground(STDIN_FILENO) }

    /// Whether there is a terminal, which a job in the background may get later.
    static var isAtTerminal: Bool { isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1 }

    /// Whether a file is the terminal of this process, and this process is in its foreground.
    static func isInForeground(_ file: Int32) -> Bool { tcgetpgrp(file) == getpgrp() }

    /// How often a job in the background looks whether it is in the foreground.
    private static let backgroundPause: Int32 = 500
}
