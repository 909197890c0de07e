/// The name of a text that has none.
package enum TextName {
    /// Maximum number of characters of the text in the name.
    private static let nameLength = 40
    /// Maximum number of bytes of the text in the name; a character may have any number of bytes.
    private static let nameBytes = 160
    /// Number of bytes searched for the first line.
    private static let searchedBytes = 4_096

    /// `text.txt`, or the first line that contains a word, cut to the length of a name.
    package static func of(_ text: String) -> SafeName {
        let beginning = String(decoding: text.utf8.prefix(searchedBytes), as: UTF8.self)
        for line in beginning.split(whereSeparator: \.isNewline) {
            let stem = stem(from: line)
            // The stem consists of checked scalars and has a bounded length, so it is not refused.
            if !stem.isEmpty, let name = try? SafeName(stem + ".txt") { return name }
        }
        return SafeName(literal: "text.txt")
    }

    private static func stem(from line: Substring) -> String {
        var words: [String] = []
        var length = 0
        var bytes = 0
        for word in line.split(whereSeparator: { !isFit($0) }) {
            // Only whole words, unless the first one alone is too long.
            let room = nameLength - length - (words.isEmpty ? 0 : 1)
            guard word.count <= room || words.isEmpty else { break }
            var taken = String(word.prefix(room))
            while taken.utf8.count > nameBytes { taken.removeLast() }
            guard bytes + taken.utf8.count < nameBytes, !taken.isEmpty else { break }
            words.append(taken)
            length += taken.count + (words.count > 1 ? 1 : 0)
            bytes += taken.utf8.count + 1
        }
        // The name is no hidden file, does not look like an option, and has no dot before that of the extension.
        let stem = words.joined(separator: " ")
        let start = stem.unicodeScalars.drop { $0 == "." || $0 == "-" || $0 == " " }
        guard let last = start.lastIndex(where: { $0 != "." && $0 != " " }) else { return "" }
        return String(start[...last])
    }

    /// Refuses forbidden characters, and also those that some systems do not accept.
    private static func isFit(_ character: Character) -> Bool {
        let unfit = "/\\:*?\"<>|\u{FFFD}".unicodeScalars
        if character.isWhitespace || character.unicodeScalars.contains(where: { unfit.contains($0) }) { return false }
        return (try? SafeName("x" + String(character).prefixBytes(SafeName.maximumBytes / 2))) != nil
    }
}

extension String {
    /// At most `count` bytes; a cut character is repaired.
    fileprivate func prefixBytes(_ count: Int) -> String {
        utf8.count <= count ? self : String(decoding: utf8.prefix(count), as: UTF8.self)
    }
}

extension SafeName {
    /// For names that are literals in this program.
    package init(literal text: StaticString) {
        do {
            try self.init("\(text)")
        } catch {
            preconditionFailure("a name in the program is not fit: \(error)")
        }
    }
}
