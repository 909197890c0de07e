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

    /// A line of JSON that says the same, with nothing in it that a terminal obeys: JSON leaves DEL, the controls above
    /// it and those of direction as they are, and people look at such lines, too.
    package static func escaped(json line: String) -> String {
        guard line.utf8.contains(where: { $0 >= 0x7F }) else { return line }
        var result = ""
        for scalar in line.unicodeScalars {
            if isPrintable(scalar) {
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

    private static func escape(_ scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "\n": return "\\n"
        case "\r": return "\\r"
        case "\t": return "\\t"
        default: break
        }
        return isPrintable(scalar) ? String(scalar) : "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
    }

    private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
        default: true
        }
    }
}
