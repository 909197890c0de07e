/// A text as one word of a command for a POSIX shell.
package enum ShellWord {
    /// The text, in quotes unless it is plain.
    package static func quoted(_ text: String) -> String { isPlain(text) ? text : inQuotes(text) }

    /// The text in single quotes. Its own quotes and backslashes stand outside of these: fish would join such a pair.
    package static func inQuotes(_ text: String) -> String {
        var word = "'"
        // Not by characters: a quote with a combining mark is another character, and still a quote for a shell.
        for scalar in text.unicodeScalars {
            switch scalar {
            case "'": word += #"'\''"#
            case "\\": word += #"'\\'"#
            default: word.unicodeScalars.append(scalar)
            }
        }
        return word + "'"
    }

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
