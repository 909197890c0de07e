/// Texts as YAML.
enum YAMLWord {
    /// `[a, "b, c"]`
    static func list(_ texts: [String]) -> String { "[\(texts.map(scalar).joined(separator: ", "))]" }

    /// A text as it is, or in quotes if YAML would read it otherwise, within brackets too.
    static func scalar(_ text: String) -> String {
        isPlain(text) ? text : "\"\(text.unicodeScalars.map(escaped).joined())\""
    }

    private static func isPlain(_ text: String) -> Bool {
        guard text.wholeMatch(of: #/[A-Za-z0-9/][A-Za-z0-9/_.+%*@-]*( [A-Za-z0-9/_.+%*@-]+)*/#) != nil else {
            return false
        }
        return !["null", "~"].contains(text.lowercased())
    }

    private static func escaped(_ scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "\"": "\\\""
        case "\\": "\\\\"
        case _
        where scalar.properties.generalCategory == .control || MarkedText.isBreak(scalar) || scalar == "\u{FEFF}":
            "\\u" + String(repeating: "0", count: 4 - String(scalar.value, radix: 16).count)
                + String(scalar.value, radix: 16)
        default: String(scalar)
        }
    }
}
