import Sharing

/// Text for a notification server (security rule 9).
package enum NotificationText {
    /// One line, escaped as in `ShownText`.
    /// - Parameter limit: maximum characters (Unicode scalars) of the result, including the ellipsis.
    package static func line(_ text: String, limit: Int) -> String { ShownText.line(text, limit: limit) }

    /// The same, but keeps newlines.
    static func lines(_ text: String, limit: Int) -> String {
        ShownText.line(text, limit: limit, keepsNewlines: true)
    }

    /// Escapes all markup, for a server that reads markup.
    ///
    /// The specification has five entities; `'` is written as a number, because HTML 4 has no name for it.
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
}
