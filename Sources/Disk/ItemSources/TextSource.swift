package import Sharing
package import UniformTypes

/// A text, sent as a `.txt` file.
package final class TextSource: ItemSource {
    /// Most characters of the text that become its name.
    private static let nameLength = 40
    /// Most bytes of the text that become its name; a character may have any number of them.
    private static let nameBytes = 160
    /// Bytes in which the first line is looked for.
    private static let searchedBytes = 4_096

    package let offered: OfferedItem
    package let origin: String

    private let contents: [UInt8]

    /// - Parameters:
    ///   - text: what is sent, to the byte.
    ///   - name: nil for one made of the text's first line, or `text.txt`.
    ///   - type: nil for `public.utf8-plain-text`.
    package init(_ text: String, name: SafeName? = nil, type: UniformType? = nil, origin: String = "text") {
        self.contents = Array(text.utf8)
        self.origin = origin
        self.offered = OfferedItem(
            kind: .text,
            name: name ?? Self.name(for: text),
            type: type ?? .utf8PlainText,
            size: UInt64(contents.count)
        )
    }

    package func open() -> any ItemReading { BytesReading(contents) }

    /// The first line that has a word in it, as far as a name goes.
    private static func name(for text: String) -> SafeName {
        let beginning = String(decoding: text.utf8.prefix(searchedBytes), as: UTF8.self)
        for line in beginning.split(whereSeparator: \.isNewline) {
            let stem = stem(from: line)
            // Built of scalars that were checked one by one, and bounded: it is not refused.
            if !stem.isEmpty, let name = try? SafeName(stem + ".txt") { return name }
        }
        return SafeName(literal: "text.txt")
    }

    private static func stem(from line: Substring) -> String {
        var words: [String] = []
        var length = 0
        var bytes = 0
        for word in line.split(whereSeparator: { !isFit($0) }) {
            // Whole words, unless the first one is too long by itself.
            let room = nameLength - length - (words.isEmpty ? 0 : 1)
            guard word.count <= room || words.isEmpty else { break }
            var taken = String(word.prefix(room))
            while taken.utf8.count > nameBytes { taken.removeLast() }
            guard bytes + taken.utf8.count < nameBytes, !taken.isEmpty else { break }
            words.append(taken)
            length += taken.count + (words.count > 1 ? 1 : 0)
            bytes += taken.utf8.count + 1
        }
        // No hidden file, nothing that looks like an option, no dot before the extension's.
        let stem = words.joined(separator: " ")
        let start = stem.unicodeScalars.drop { $0 == "." || $0 == "-" || $0 == " " }
        guard let last = start.lastIndex(where: { $0 != "." && $0 != " " }) else { return "" }
        return String(start[...last])
    }

    /// Besides what no name may hold, what some systems do not take.
    private static func isFit(_ character: Character) -> Bool {
        let unfit = "/\\:*?\"<>|\u{FFFD}".unicodeScalars
        if character.isWhitespace || character.unicodeScalars.contains(where: { unfit.contains($0) }) { return false }
        return (try? SafeName("x" + String(character).prefixBytes(SafeName.maximumBytes / 2))) != nil
    }
}

extension String {
    /// At most `count` bytes, repaired where a character was cut.
    fileprivate func prefixBytes(_ count: Int) -> String {
        utf8.count <= count ? self : String(decoding: utf8.prefix(count), as: UTF8.self)
    }
}

extension SafeName {
    /// For names that are written in this program.
    init(literal text: StaticString) {
        do {
            try self.init("\(text)")
        } catch {
            preconditionFailure("a name in the program is not fit: \(error)")
        }
    }
}
