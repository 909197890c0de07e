import Glibc
import Lines
import Sharing

/// The texts of `waft send --text`: `-` stands for standard input.
enum SentTexts {
    /// Bytes of a text from standard input.
    private static let maximumBytes = 16 << 20
    private static let example = "such as --text 'back at six', or pipe it in: --text -"

    /// - Parameters:
    ///   - items: the other words; `-` among them needs standard input too.
    /// - Throws: `CommandError` `usage` for an empty text; `inputMissing` if standard input cannot be read as text.
    static func read(_ texts: [String], items: [String]) throws(CommandError) -> [String] {
        guard texts.allSatisfy({ !$0.isEmpty }) else {
            throw CommandError(.usage, "--text is empty", hint: "write the text, \(example)")
        }
        let uses = (texts + items).count { $0 == "-" }
        guard texts.contains("-") else { return texts }
        guard uses == 1 else { throw CommandError(.usage, "standard input can be read only once: give one -") }
        if isatty(STDIN_FILENO) == 1 {
            throw CommandError(
                .inputMissing, "standard input is a terminal, without a text",
                hint: "write the text, \(example)")
        }
        let text = try standardInput()
        return texts.map { $0 == "-" ? text : $0 }
    }

    private static func standardInput() throws(CommandError) -> String {
        var bytes: [UInt8] = []
        while bytes.count <= maximumBytes {
            var piece = [UInt8](repeating: 0, count: 64 << 10)
            let count = Glibc.read(STDIN_FILENO, &piece, piece.count)
            if count == 0 { break }
            guard count > 0 else {
                if errno == EINTR { continue }
                throw CommandError(
                    .inputMissing, "standard input cannot be read (\(String(cString: strerror(errno))))",
                    hint: "pipe the text in")
            }
            bytes += piece.prefix(count)
        }
        let hint = "to send it as a file: waft send - --name NAME"
        guard bytes.count <= maximumBytes else {
            throw CommandError(
                .usage, "the text is longer than \(ByteCount.text(UInt64(maximumBytes)))", hint: hint)
        }
        guard !bytes.isEmpty else {
            throw CommandError(.inputMissing, "standard input is empty")
        }
        guard let text = String(validating: bytes, as: UTF8.self), !bytes.contains(0) else {
            throw CommandError(.inputMissing, "standard input is not UTF-8 text", hint: hint)
        }
        return text
    }
}
