import Sharing
import SystemCalls

/// Text from elsewhere, made fit for a terminal or a log by `ShownText`.
package enum TerminalText {
    /// - Parameter limit: most characters of the result, the ellipsis included.
    package static func escaped(_ text: String, limit: Int = 200) -> String { ShownText.line(text, limit: limit) }

    /// A word as it can be pasted into a shell.
    static func shellWord(_ text: String, limit: Int = 200) -> String { ShellWord.quoted(escaped(text, limit: limit)) }

    /// The name that a peer gives itself, escaped.
    static func peerName(_ name: String) -> String { escaped(ShownText.peerName(name), limit: TypedName.shownLength) }

    /// A line of JSON that says the same, with nothing in it that a terminal obeys: JSON leaves DEL, the controls above
    /// it and those of direction as they are, and people look at such lines, too.
    package static func escaped(json line: String) -> String {
        guard line.utf8.contains(where: { $0 >= 0x7F }) else { return line }
        var result = ""
        for scalar in line.unicodeScalars {
            if ShownText.isPrintable(scalar) {
                result.unicodeScalars.append(scalar)
            } else {
                for unit in String(scalar).utf16 {
                    let digits = String(unit, radix: 16)
                    result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                }
            }
        }
        return result
    }
}
