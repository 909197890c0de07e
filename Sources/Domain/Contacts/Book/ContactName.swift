import Sharing

/// The user's name for a contact.
///
/// Two names are equal if they differ only in case, normalisation or invisible characters. The original text is kept.
package struct ContactName: Hashable, Sendable, CustomStringConvertible {
    /// 1...63 bytes, printable, no space at either end.
    package let text: String
    /// `NameFolding.key` of `text`.
    package let key: String

    package var description: String { text }

    /// - Parameter owner: that which gets the name, for the line of an error.
    /// - Throws: `ContactError` `unfit`.
    package init(_ text: String, of owner: String = "a contact") throws(ContactError) {
        guard (1...ContactBounds.nameBytes).contains(text.utf8.prefix(ContactBounds.nameBytes + 1).count) else {
            throw .unfit("\(owner)'s name has 1 to \(ContactBounds.nameBytes) bytes")
        }
        guard PeerName.fit(text, fallback: "").utf8.elementsEqual(text.utf8) else {
            throw .unfit(
                "\(text.quoted) cannot be the name of \(owner): it begins or ends with a space, or has slashes or "
                    + "characters in it that cannot be printed")
        }
        let joiners: Set<Unicode.Scalar> = ["\u{200D}", "\u{FE0E}", "\u{FE0F}"]
        guard !text.unicodeScalars.contains(where: { ShownText.isUnseen($0) && !joiners.contains($0) }) else {
            throw .unfit("\(text.quoted) cannot be the name of \(owner): it has characters in it that cannot be seen")
        }
        let key = NameFolding.key(text)
        guard !key.isEmpty else { throw .unfit("the name of \(owner) needs a visible character") }
        guard !Self.words.contains(key) else {
            throw .unfit("\(text) cannot be the name of \(owner): it has another meaning in rules")
        }
        self.text = text
        self.key = key
    }

    /// Words that stand for several peers in `from:` of a rule.
    private static let words: Set<String> = ["contacts", "strangers", "everyone"]

    package static func == (left: ContactName, right: ContactName) -> Bool { left.key == right.key }

    package func hash(into hasher: inout Hasher) { hasher.combine(key) }
}
