import Sharing

/// Text on its way to a notification server (security rule 9).
package enum NotificationText {
    /// One line, as `ShownText` has it.
    /// - Parameter limit: most characters (Unicode scalars) of the result, the ellipsis included.
    package static func line(_ text: String, limit: Int) -> String { ShownText.line(text, limit: limit) }

    /// The same with its lines kept.
    static func lines(_ text: String, limit: Int) -> String {
        ShownText.line(text, limit: limit, keepsNewlines: true)
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
}
