import Lines
import Operations
import Sharing

/// A peer in text, the same in every verb: a contact by the user's own name for it with a mark, a stranger with its key,
/// and one that has a contact's name as not that contact. All text is escaped.
extension Person {
    /// In a sentence: `anna ✓`, `stranger "Anna" (k7qf-9m2c-x4ap-t0zd)`.
    var line: String { Self.line(introduction.line, isContact: isContact) }

    /// The same from its parts.
    /// - Parameter words: as `Introduction.line`.
    static func line(_ words: String, isContact: Bool) -> String {
        // The key comes last and must not be cut off: the name that a stranger gives itself has at most 63 bytes.
        TerminalText.escaped(words, limit: 800) + (isContact ? " \(Glyph.check)" : "")
    }

    /// The same as the title of an activity, not escaped.
    var title: String { introduction.line }

    /// In the column of names in a list.
    var name: String {
        introduction.name.isEmpty
            ? "(does not tell its name)" : TerminalText.escaped(introduction.name, limit: TypedName.shownLength)
    }

    /// Beside its name in a list: `contact`, `stranger`, `not your contact anna`.
    var standing: String { TerminalText.escaped(introduction.standing, limit: 100) }

    /// The word for `--to` that means this peer, as of its fields.
    var word: String? { fields.word }

    /// Whether a typed text is the name that the peer gives itself.
    func isNamed(_ typed: String) -> Bool { ownName.map { TypedName.means(typed, $0) } ?? false }
}

extension PersonFields {
    /// The same of a peer in a line.
    /// - Parameter via: the dialect in which it came; nil for an unknown one.
    func line(via: String?) -> String {
        if let contact { return Person.line(contact, isContact: true) }
        let stranger = Introduction(
            strangerNamed: ShownText.peerName(name ?? ""), key: id.flatMap { PeerID(text: $0)?.short },
            unprovenBy: id == nil ? via.map { Waft.dialects[$0] } : nil, claims: claims)
        return Person.line(stranger.line, isContact: false)
    }

    /// The word for `--to` that means this peer and no other, as it is typed; nil for none: then its id is needed.
    var word: String? { contact ?? (claims == nil ? name : nil) }
}
