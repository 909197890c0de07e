import SystemCalls

/// Words of a desktop entry (Desktop Entry Specification 1.5, sections "The Exec key" and "Possible value types").
enum DesktopEntryWord {
    /// Characters that a word of a command line may have only between quotation marks.
    private static let reserved: Set<Unicode.Scalar> = [
        " ", "\t", "\n", "\"", "'", "\\", ">", "<", "~", "|", "&", ";", "$", "*", "?", "#", "(", ")", "`",
    ]

    /// A word of the value of `Exec`, before `value` is applied.
    static func quoted(_ word: String) -> String {
        // A percent sign begins a field code.
        let word = word.replacing(scalar: "%", with: "%%")
        guard word.isEmpty || word.unicodeScalars.contains(where: reserved.contains) else { return word }
        var result = "\""
        for scalar in word.unicodeScalars {
            if ["\"", "`", "$", "\\"].contains(scalar) { result += "\\" }
            result.unicodeScalars.append(scalar)
        }
        return result + "\""
    }

    /// A text as the value of a key.
    static func value(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\t": result += "\\t"
            case "\r": result += "\\r"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
