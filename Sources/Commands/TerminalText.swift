/// Text from elsewhere, made fit for a terminal or a log: nothing in it can move the cursor, change colours, hide, or
/// start a new line (security rule 9).
package enum TerminalText {
    /// `text` with everything that is not plainly printable written as `\n`, `\t`, or `\u{1B}`, and cut at `limit`.
    /// - Parameter limit: most characters of the result, the ellipsis included.
    package static func escaped(_ text: String, limit: Int = 200) -> String {
        var result = ""
        var count = 0
        for scalar in text.unicodeScalars {
            let piece = escape(scalar)
            count += piece.count
            if count > limit - 1 { return result + "…" }
            result += piece
        }
        return result
    }

    private static func escape(_ scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "\n": return "\\n"
        case "\r": return "\\r"
        case "\t": return "\\t"
        default: break
        }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned:
            return "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
        default:
            return String(scalar)
        }
    }
}
