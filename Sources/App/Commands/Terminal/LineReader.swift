import Executors
import Foundation

/// Lines that a person types, as they come.
enum LineReader {
    /// Lines from the terminal itself: standard input may be something else. Ends when the terminal does.
    ///
    /// The thread behind it waits in `read` and goes with the process.
    static func terminalLines() -> AsyncStream<String> {
        AsyncStream { continuation in
            let isStarted = BackgroundThread.start("waft-terminal") {
                guard let terminal = fopen("/dev/tty", "r") else { return continuation.finish() }
                var buffer = [CChar](repeating: 0, count: 256)
                while fgets(&buffer, Int32(buffer.count), terminal) != nil {
                    let bytes = buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
                    continuation.yield(
                        String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines))
                }
                fclose(terminal)
                continuation.finish()
            }
            if !isStarted { continuation.finish() }
        }
    }

    /// One line from the terminal itself; nothing reads it afterwards, so that another program may.
    ///
    /// - Returns: nil at the end of the terminal.
    static func terminalLine() async -> String? {
        await BackgroundThread.run("waft-terminal") { () -> String? in
            guard let terminal = fopen("/dev/tty", "r") else { return nil }
            defer { fclose(terminal) }
            var buffer = [CChar](repeating: 0, count: 4_096)
            guard fgets(&buffer, Int32(buffer.count), terminal) != nil else { return nil }
            let bytes = buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
            return String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        } ?? nil
    }

    /// Whether a program that is started here gets a terminal.
    static var isTerminal: Bool { isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1 }

    /// Whether there is a terminal and a person may be asked on it.
    static var hasTerminal: Bool { isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1 }
}
