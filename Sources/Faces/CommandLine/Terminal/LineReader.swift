import Executors
import Foundation
import Glibc

/// Lines that a person types, as they come.
enum LineReader {
    /// Lines from the terminal itself: standard input may be something else. Ends when the terminal does.
    ///
    /// Reading stops when the stream is dropped: the next question, or another program, gets the next line.
    static func terminalLines() -> AsyncStream<String> { lines(TypedLines.openTerminal) }

    /// The same, each with the time at which it was read.
    static func timedTerminalLines() -> AsyncStream<(text: String, at: ContinuousClock.Instant)> {
        TypedLines.read(TypedLines.openTerminal) { (text($0), .now) }
    }

    /// One line from the terminal itself. The next line is left to other readers.
    ///
    /// - Returns: nil at the end of the terminal.
    static func terminalLine() async -> String? {
        for await line in lines(atMost: 1, TypedLines.openTerminal) { return line }
        return nil
    }

    /// One element for each line from the terminal itself.
    @Sendable static func enters() -> AsyncStream<Void> { TypedLines.read(TypedLines.openTerminal) { _ in () } }

    /// Lines from an open file, such as a pipe. Ends when the file does.
    static func lines(_ file: Int32) -> AsyncStream<String> { lines { dup(file) } }

    private static func lines(
        atMost count: Int = .max, _ open: @escaping @Sendable () -> Int32
    ) -> AsyncStream<String> {
        TypedLines.read(atMost: count, open) { text($0) }
    }

    @Sendable private static func text(_ bytes: UnsafeRawBufferPointer) -> String {
        String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Forgets what a person has typed at the terminal so far, and no program has read.
    static func forgetTyped() {
        guard hasTerminal else { return }
        let terminal = TypedLines.openTerminal()
        guard terminal >= 0 else { return }
        defer { close(terminal) }
        tcflush(terminal, TCIFLUSH)
    }

    /// Whether a program that is started here gets a terminal.
    static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 && TypedLines.isInForeground(STDIN_FILENO) }

    /// Whether there is a terminal, and a person may be asked on it now. The terminal of a job in the background is its
    /// shell's: the kernel stops the job when it reads.
    static var hasTerminal: Bool { isAtTerminal && TypedLines.isInForeground(STDIN_FILENO) }

    /// Whether there is a terminal, which a job in the background may get later.
    static var isAtTerminal: Bool { isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1 }
}
