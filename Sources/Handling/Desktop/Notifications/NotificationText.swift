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

    /// Maximum characters of a quoted name.
    private static let nameLength = 64

    /// A foreign name between quotation marks.
    static func quoted(_ name: String) -> String {
        // A closing quote inside the name would end it early.
        "“" + line(name, limit: nameLength).replacing("”", with: "\\u{201D}") + "”"
    }

    /// Maximum characters of a stranger: its name, its key, and the contact whose name it has.
    private static let personLength = 400

    /// The sender, as everywhere: a contact by the user's name for it, anybody else as a stranger.
    static func person(_ sender: Introduction) -> String {
        sender.isContact ? "your contact \(quoted(sender.name))" : line(sender.line, limit: personLength)
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
