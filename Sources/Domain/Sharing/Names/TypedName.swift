/// The name of a peer as users type it: as the peer writes it, or as Waft shows it. The one place that compares the two.
package enum TypedName {
    /// The characters of a name in a list.
    package static let shownLength = 64

    /// Whether a typed text means the name; case does not matter, and neither does the form of an apostrophe.
    ///
    /// It also holds for names that are shown alike: several peers can be meant. The name of a contact means the contact, so
    /// callers look for one first.
    package static func means(_ typed: String, _ name: String) -> Bool {
        let typed = folded(typed)
        if folded(name) == typed { return true }
        let forms = [ofStranger(name), ShownText.peerName(name), name].map { ShownText.line($0, limit: shownLength) }
        return (forms + [ShownText.escaped(name)]).contains { folded($0) == typed }
    }

    /// Phones name themselves with a typographic apostrophe, which few keyboards have.
    private static func folded(_ text: String) -> String {
        String(text.lowercased().map { $0 == "\u{2019}" ? "'" : $0 })
    }

    /// Whether a text can be a name with something escaped or left out by `ShownText`.
    package static func isEscaped(_ text: String) -> Bool { text.contains("\\u{") || text.contains("…") }

    /// The name that a stranger gives itself, cleaned for lines that quote it.
    package static func ofStranger(_ name: String) -> String {
        let seen = PeerName.fit(name).unicodeScalars.filter { !ShownText.isUnseen($0) }
        let fit = ShownText.peerName(String(String.UnicodeScalarView(seen)))
        return fit.isEmpty ? "unnamed" : fit
    }
}
