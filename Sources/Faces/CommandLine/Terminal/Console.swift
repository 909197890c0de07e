import Executors
import Foundation
import Synchronization

/// The terminal or its replacement: results go to standard output, lines for people to standard error.
package final class Console: Sendable {
    package static let shared = Console()

    /// The text on the terminal's last lines.
    private struct LastLine {
        /// The progress of the command, a line each; erased before anything else is printed.
        var status: [String] = []
        /// A question without its answer; printed again below each line that comes in between.
        var question = ""
    }

    private let last = Mutex(LastLine())
    private let writer = OutputThread(name: "waft-output")
    /// Bytes that a line counts for before it is made: more than its source has, so that no more lines wait than one
    /// batch of a transfer has.
    private static let bytesOfUnmade = 8 << 10
    /// How long a program waits for a reader after a signal to end: milliseconds.
    private static let farewell: Int32 = 2_000
    /// Whether a person looks at standard error, on a terminal that can erase a line.
    package let isInteractive = isatty(STDERR_FILENO) == 1 && getenv("TERM").map { strcmp($0, "dumb") != 0 } ?? false

    /// The first error number of writing to standard output; 0 for none. A reader that has left, and an output that
    /// was closed before, are none.
    private let outputError = Atomic<Int32>(0)

    /// Why some of the results could not be written; nil if all were.
    package var outputFailure: String? {
        let number = outputError.load(ordering: .relaxed)
        return number == 0 ? nil : String(cString: strerror(number))
    }

    /// Hears what is printed in its task, with the descriptor, in place of the outputs: for tests.
    @TaskLocal static var listener: (@Sendable (_ text: String, _ descriptor: Int32) -> Void)?

    private init() {}

    /// A line of results on standard output. `text` is escaped already.
    package func result(_ text: String) {
        write(text + "\n", to: STDOUT_FILENO)
    }

    /// A line of results that the writer's thread makes in its turn: for lines of which there are tens of thousands.
    /// - Parameter text: escaped.
    func result(making text: @escaping @Sendable () -> String) {
        if let listener = Self.listener { return listener(text() + "\n", STDOUT_FILENO) }
        last.withLock { last in
            clear(&last)
            enqueue(Self.bytesOfUnmade, to: STDOUT_FILENO) { text() + "\n" }
            repeatQuestion(last)
        }
        writer.waitForRoom()
    }

    /// A line for the user on standard error. `text` is escaped already.
    package func note(_ text: String) {
        write(text + "\n", to: STDERR_FILENO)
    }

    /// Asks on standard error, without a line end. The question stays the last line until an answer or a withdrawal.
    ///
    /// - Parameter isNew: a new question. Words that were typed before it and not read are forgotten.
    /// - Returns: a time after which the question can be read: an earlier line is no answer to it.
    @discardableResult
    package func prompt(_ text: String, isNew: Bool = true) -> ContinuousClock.Instant {
        if isNew { LineReader.forgetTyped() }
        let now = ContinuousClock.now
        last.withLock { last in
            clear(&last)
            last.question = text
            enqueue(text, to: STDERR_FILENO)
        }
        return now
    }

    /// The person has ended the line of the question.
    package func answered() {
        last.withLock { $0.question = "" }
    }

    /// Takes a question back that has no answer.
    package func withdraw() {
        last.withLock { last in
            guard !last.question.isEmpty else { return }
            clear(&last)
            last.question = ""
        }
    }

    /// Ends the last line, at the end of which the terminal shows `^C`. A question on it has no answer.
    package func endLine() {
        guard isatty(STDERR_FILENO) == 1 else { return }
        last.withLock { last in
            last = LastLine()
            enqueue("\n", to: STDERR_FILENO)
        }
    }

    /// Replaces the status, which is cut to the terminal's size; nothing where no person looks, or is asked.
    package func status(_ lines: String...) { status(lines) }

    package func status(_ lines: [String]) {
        guard isInteractive else { return }
        // A line that wraps, or has left the screen, could not be erased.
        let (width, height) = size
        let lines = lines.prefix(max(height - 1, 1)).map { String($0.prefix(columns: max(width - 1, 1))) }
        last.withLock { last in
            guard last.status != lines, last.question.isEmpty else { return }
            enqueue(Self.eraser(last.status.count) + lines.joined(separator: "\n"), to: STDERR_FILENO)
            last.status = lines
        }
    }

    package func endStatus() {
        last.withLock { last in
            if last.question.isEmpty { clear(&last) }
        }
    }

    /// Columns of the terminal.
    package var width: Int { size.width }
    /// Its lines.
    package var height: Int { size.height }

    /// Columns and rows of the terminal.
    private var size: (width: Int, height: Int) {
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return (80, 24) }
        return (Int(size.ws_col), size.ws_row > 0 ? Int(size.ws_row) : 24)
    }

    /// Begins the terminal's last lines again.
    private static func eraser(_ lines: Int) -> String {
        "\r\u{1B}[2K" + String(repeating: "\u{1B}[1A\u{1B}[2K", count: max(lines - 1, 0))
    }

    /// Takes what stands on the last line off the terminal.
    private func clear(_ last: inout LastLine) {
        guard !last.status.isEmpty || !last.question.isEmpty else { return }
        enqueue(isInteractive ? Self.eraser(last.status.count) : "\n", to: STDERR_FILENO)
        last.status = []
    }

    private func repeatQuestion(_ last: LastLine) {
        if !last.question.isEmpty { enqueue(last.question, to: STDERR_FILENO) }
    }

    /// Waits until everything is written: the last thing before the program ends. A slow reader gets all results, unless
    /// a signal says that the program is to end.
    package func flush() {
        writer.flush(pause: Self.farewell) { EndSignals.haveCome }
    }

    private func write(_ text: String, to descriptor: Int32) {
        if let listener = Self.listener { return listener(text, descriptor) }
        last.withLock { last in
            clear(&last)
            enqueue(text, to: descriptor)
            repeatQuestion(last)
        }
        writer.waitForRoom()
    }

    private func enqueue(_ text: String, to descriptor: Int32) {
        enqueue(text.utf8.count, to: descriptor) { text }
    }

    /// Call this under the lock, so that lines are written in the order of printing.
    /// - Parameter count: bytes that wait.
    private func enqueue(_ count: Int, to descriptor: Int32, _ text: @escaping @Sendable () -> String) {
        writer.write(count, to: descriptor, text) { failure in
            guard descriptor == STDOUT_FILENO, ![0, EPIPE, EBADF].contains(failure) else { return }
            _ = self.outputError.compareExchange(expected: 0, desired: failure, ordering: .relaxed)
        }
    }
}
