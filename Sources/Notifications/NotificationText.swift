/// Text on its way to a notification server (security rule 9).
package enum NotificationText {
    /// One line with everything that is not plainly printable written as `\n`, `\t` or `\u{202E}`.
    /// - Parameter limit: most characters (Unicode scalars) of the result, the ellipsis included.
    package static func line(_ text: String, limit: Int) -> String {
        visible(text, limit: limit, keepsNewlines: false)
    }

    /// The same with its lines kept.
    static func lines(_ text: String, limit: Int) -> String {
        visible(text, limit: limit, keepsNewlines: true)
    }

    /// For a server that reads markup: nothing in it is markup any more.
    ///
    /// The specification knows five entities; `'` is written as a number, since HTML 4 has no name for it.
    static func withoutMarkup(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    private static func visible(_ text: String, limit: Int, keepsNewlines: Bool) -> String {
        var result = ""
        var count = 0
        for scalar in text.unicodeScalars {
            let piece = keepsNewlines && scalar == "\n" ? "\n" : escape(scalar)
            count += piece.unicodeScalars.count
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
