/// Foreign text as people see it, in a terminal, a log or a notification: nothing in it can move the cursor, hide, start a
/// line, or push its end out of sight (security rule 9). Programs get it as it is.
package enum ShownText {
    /// Scalars that are kept from the end of a cut text, so that a name keeps its extension. Limits below
    /// `shortestWithTail` cut at the end.
    private static let tail = 24
    private static let shortestWithTail = 64
    /// Runs of at least this many spaces are shown as their number.
    private static let countedSpaces = 4

    /// One line with everything that is not plainly printable, nor a joiner that its script needs, written as `\n`, `\t` or `\u{202E}`, and with
    /// `…(200 spaces)…` for spaces that would push the rest away. A text that is too long is cut in its middle.
    ///
    /// - Parameters:
    ///   - limit: most scalars of the result, the ellipsis included.
    ///   - keepsNewlines: leaves the ends of lines as they are, and cuts at the end.
    package static func line(_ text: String, limit: Int, keepsNewlines: Bool = false) -> String {
        if isPlain(text, limit: limit) { return text }
        let (head, isWhole) = shown(text.unicodeScalars, limit: limit, keepsNewlines)
        if isWhole { return head.joined() }
        guard limit >= shortestWithTail, !keepsNewlines else {
            return shown(text.unicodeScalars, limit: limit - 1, keepsNewlines).pieces.joined() + "…"
        }
        var end: [String] = []
        var count = 0
        let scalars = text.unicodeScalars
        for index in scalars.indices.reversed() {
            let piece = escape(at: index, in: scalars, keepsNewlines)
            count += piece.unicodeScalars.count
            if count > tail { break }
            end.append(piece)
        }
        let beginning = shown(text.unicodeScalars, limit: limit - 1 - tail, keepsNewlines).pieces
        return beginning.joined() + "…" + end.reversed().joined()
    }

    /// Whether a text is shown as it is, by its bytes alone: visible ASCII with single spaces, as nearly all text is. The
    /// categories of its scalars, one by one, take some microseconds.
    private static func isPlain(_ text: String, limit: Int) -> Bool {
        var (count, before) = (0, UInt8(0))
        for byte in text.utf8 {
            guard (0x20..<0x7F).contains(byte), byte != 0x20 || before != 0x20 else { return false }
            (count, before) = (count + 1, byte)
        }
        return count <= limit
    }

    /// - Returns: as many pieces as fit, and whether these are all.
    private static func shown(
        _ text: String.UnicodeScalarView, limit: Int, _ keepsNewlines: Bool
    ) -> (pieces: [String], isWhole: Bool) {
        var pieces: [String] = []
        var count = 0
        var index = text.startIndex
        while index < text.endIndex {
            var piece = escape(at: index, in: text, keepsNewlines)
            var next = text.index(after: index)
            if isSpace(text[index]) {
                next = text[index...].firstIndex { !isSpace($0) } ?? text.endIndex
                let spaces = text.distance(from: index, to: next)
                if spaces < countedSpaces {
                    next = text.index(after: index)
                } else {
                    piece = "…(\(spaces) spaces)…"
                }
            }
            count += piece.unicodeScalars.count
            if count > limit { return (pieces, false) }
            pieces.append(piece)
            index = next
        }
        return (pieces, true)
    }

    private static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.generalCategory == .spaceSeparator
    }

    private static func escape(
        at index: String.Index, in text: String.UnicodeScalarView, _ keepsNewlines: Bool
    ) -> String {
        keepsNewlines && text[index] == "\n" ? "\n" : escaped(at: index, in: text)
    }

    /// The whole text with everything that is not plainly printable written as in `line`: neither cut, nor with its spaces
    /// counted. For text that is bounded already.
    package static func escaped(_ text: String) -> String {
        if isPlain(text, limit: .max) { return text }
        let scalars = text.unicodeScalars
        guard !scalars.allSatisfy(isPrintable) else { return text }
        return scalars.indices.map { escaped(at: $0, in: scalars) }.joined()
    }

    /// The scalar if it is plainly printable, or a joiner that its script needs; otherwise as `escaped(_:)` writes it.
    static func escaped(at index: String.Index, in text: String.UnicodeScalarView) -> String {
        isJoiner(at: index, in: text) ? String(text[index]) : escaped(text[index])
    }

    /// The scalar if it is plainly printable; otherwise `\n`, `\r`, `\t` or its number.
    static func escaped(_ scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "\n": "\\n"
        case "\r": "\\r"
        case "\t": "\\t"
        default: isPrintable(scalar) ? String(scalar) : number(of: scalar)
        }
    }

    /// `\u{202E}`.
    static func number(of scalar: Unicode.Scalar) -> String {
        "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
    }

    /// Whether a scalar is visible, or changes the character before it.
    package static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
        default: !blanks.contains(scalar)
        }
    }

    /// Whether a scalar is drawn as nothing: a control, a direction, a joiner, a variation selector or a blank.
    package static func isUnseen(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.properties.isDefaultIgnorableCodePoint || blanks.contains(scalar) { return true }
        return switch scalar.properties.generalCategory {
        case .control, .format: true
        default: false
        }
    }

    /// Scalars that are letters or signs by their category, but are drawn as nothing.
    package static let blanks: Set<Unicode.Scalar> = [
        "\u{115F}", "\u{1160}", "\u{17B4}", "\u{17B5}", "\u{2800}", "\u{3164}", "\u{FFA0}", "\u{FFFC}", "\u{1D159}",
    ]
}

// MARK: - Names of peers

extension ShownText {
    /// A stranger's own name for itself, for a line that quotes it and then shows the stranger's true key. Nothing in
    /// the result ends the quotation or looks like a key id.
    ///
    /// White space becomes one space. Quotation marks become `_`, but not an apostrophe within a word. Text in the form
    /// of a key id, three or more groups of four letters or digits, becomes `…`.
    package static func peerName(_ text: String) -> String {
        var name = ""
        let scalars = Array(text.unicodeScalars)
        for (index, scalar) in scalars.enumerated() {
            if scalar.properties.isWhitespace || blanks.contains(scalar) {
                if !name.isEmpty, name.last != " " { name += " " }
            } else if isQuote(scalar) {
                let isWithin =
                    index > 0 && isLetterOrDigit(scalars[index - 1]) && index + 1 < scalars.count
                    && isLetterOrDigit(scalars[index + 1])
                name.unicodeScalars.append(isWithin && apostrophes.contains(scalar) ? scalar : "_")
            } else {
                name.unicodeScalars.append(scalar)
            }
        }
        if name.last == " " { name.removeLast() }
        return withoutKeys(name)
    }

    private static let apostrophes: Set<Unicode.Scalar> = ["'", "\u{2019}", "\u{2BC}"]

    private static func isQuote(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.properties.isQuotationMark { return true }
        return "`´ʹʺʻʼʽˈˊˋ˝՚״׳′″‴‵‶ꞌ＇".unicodeScalars.contains(scalar)
    }

    private static func isLetterOrDigit(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isAlphabetic || scalar.properties.numericType != nil
    }

    private static func isDash(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .dashPunctuation, .connectorPunctuation: true
        default: "\u{2212}\u{AD}~·.:⁃".unicodeScalars.contains(scalar)
        }
    }

    private static func withoutKeys(_ name: String) -> String {
        var result = String.UnicodeScalarView()
        let scalars = Array(name.unicodeScalars)
        var index = 0
        while index < scalars.count {
            let end = endOfKey(in: scalars, from: index)
            if let end {
                result.append("…")
                index = end
            } else {
                result.append(scalars[index])
                index += 1
            }
        }
        return String(result)
    }

    /// - Returns: the end of three or more groups of four, with one dash between them, that begin at `start`; nil if
    ///   there are none.
    private static func endOfKey(in scalars: [Unicode.Scalar], from start: Int) -> Int? {
        var (end, groups) = (start, 0)
        while true {
            let first = groups == 0 ? end : end + 1
            guard first + 4 <= scalars.count, groups == 0 || isDash(scalars[end]),
                scalars[first..<first + 4].allSatisfy(isLetterOrDigit)
            else { return groups >= 3 ? end : nil }
            (end, groups) = (first + 4, groups + 1)
        }
    }
}
