/// A text as one word of a command for a POSIX shell.
package enum ShellWord {
    /// The text, in quotes unless it is plain.
    package static func quoted(_ text: String) -> String { isPlain(text) ? text : inQuotes(text) }

    /// The text in single quotes.
    package static func inQuotes(_ text: String) -> String { "'" + text.replacing("'", with: "'\\''") + "'" }

    /// Whether the text has only letters and digits of ASCII and `-`, `_`, `.` and `/`. No shell reads more into these.
    package static func isPlain(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "-_./".utf8.contains(byte)
                }
            }
    }
}
