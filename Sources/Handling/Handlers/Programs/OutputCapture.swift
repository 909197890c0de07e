import Logging
import Sharing
import Synchronization

/// A program's output: its end is kept, each line is logged.
final class OutputCapture: Sendable {
    /// Bytes of the end that are kept.
    static let tailBytes = 65_536
    /// Bytes of a line that are logged.
    private static let lineBytes = 1_024

    private struct State {
        var tail: [UInt8] = []
        var isKeeping = true
        var line: [UInt8] = []
    }

    private let logger: Logger
    private let name: String
    private let state = Mutex(State())

    /// - Parameter name: of the handler, for the log.
    init(name: String, logger: Logger) {
        self.name = name
        self.logger = logger
    }

    func take(_ bytes: UnsafeRawBufferPointer) {
        let isLogging = logger.logLevel <= .debug
        state.withLock { state in
            if state.isKeeping {
                state.tail.append(contentsOf: bytes.suffix(Self.tailBytes))
                // Not at each piece, because removing moves the rest.
                if state.tail.count > 2 * Self.tailBytes {
                    state.tail.removeFirst(state.tail.count - Self.tailBytes)
                }
            }
            if isLogging { log(bytes, &state.line) }
        }
    }

    /// The end of the output so far, at most `tailBytes`.
    var tail: [UInt8] { state.withLock { Array($0.tail.suffix(Self.tailBytes)) } }

    /// Drops the kept output.
    func forget() {
        state.withLock { $0.tail = [] }
    }

    /// Drops the kept output, and keeps none from now on.
    func stopKeeping() {
        state.withLock { state in
            state.isKeeping = false
            state.tail = []
        }
    }

    private func log(_ bytes: UnsafeRawBufferPointer, _ line: inout [UInt8]) {
        for byte in bytes {
            if byte != UInt8(ascii: "\n") {
                if line.count < Self.lineBytes { line.append(byte) }
                continue
            }
            let text = ShownText.escaped(String(decoding: line, as: UTF8.self))
            logger.debug("a handler printed", metadata: ["handler": "\(name)", "line": "\(text)"])
            line.removeAll(keepingCapacity: true)
        }
    }
}

/// The end of a program's output, as an attempt keeps it.
enum KeptOutput {
    /// Bytes of it that the receiver's own remarks may take.
    private static let remarkBytes = 2_048

    /// - Returns: at most `AttemptOutcome.standardErrorBytes`: the end of the output, then as many remarks as fit.
    static func text(_ tail: [UInt8], remarks: [String]) -> String {
        var added = ""
        for remark in remarks where added.utf8.count + remark.utf8.count < remarkBytes { added += remark + "\n" }
        let room = AttemptOutcome.standardErrorBytes - added.utf8.count
        // NUL would end the text for some of its readers.
        var text = String(decoding: tail.suffix(room), as: UTF8.self).replacing("\0", with: "\u{FFFD}")
        // Invalid UTF-8 grows when it is replaced.
        var scalars = text.unicodeScalars[...]
        var excess = text.utf8.count - room
        while excess > 0, let first = scalars.popFirst() { excess -= first.utf8.count }
        text = String(scalars)
        if !added.isEmpty, !text.isEmpty, !text.hasSuffix("\n") {
            if text.utf8.count == room { text.removeLast() }
            text += "\n"
        }
        return text + added
    }
}
