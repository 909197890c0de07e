/// A peer as it is written for its user: a contact by the user's own name, anybody else as a stranger with its key.
package struct Introduction: Hashable, Sendable {
    /// The user's name for a contact, or a stranger's name cleaned by `ShownText.peerName`: printable, 1...63 bytes. Empty for
    /// a stranger that does not tell its name.
    package let name: String
    /// The short form of its key's id; nil for a peer that proved no key.
    package let key: String?
    /// The dialect in which it proved no key; nil if it proved one.
    package let unprovenBy: Dialect?
    package let isContact: Bool
    /// The user's name for the contact that the stranger's name resembles; nil if it resembles none.
    package let claims: String?
    /// One line about `claims`, with both keys.
    package let warning: String?

    /// - Parameter key: the short form of the key's id.
    package init(contact name: String, key: String) {
        (self.name, self.key, isContact) = (name, key, true)
        (unprovenBy, claims, warning) = (nil, nil, nil)
    }

    /// - Parameter name: cleaned; empty if the stranger does not tell it.
    package init(
        strangerNamed name: String, key: String?, unprovenBy: Dialect?, claims: String? = nil, warning: String? = nil
    ) {
        (self.name, self.key, self.unprovenBy, isContact) = (name, key, unprovenBy, false)
        (self.claims, self.warning) = (claims, warning)
    }

    /// The user's name for a contact; nil for a stranger.
    package var contact: String? { isContact ? name : nil }

    /// One line: `anna`, `stranger "Anna" (k7qf-9m2c-x4ap-t0zd)`, `stranger "Anna" by AirDrop`, and of a stranger that has a
    /// contact's name `stranger "Anna" (k7qf-9m2c-x4ap-t0zd, not your contact anna)`. `ShownText.peerName` stops a
    /// stranger's name from imitating the key.
    package var line: String {
        if isContact { return name }
        let who = (name.isEmpty ? "stranger" : "stranger \"\(name)\"") + (unprovenBy.map { " by \($0.title)" } ?? "")
        let facts = [unprovenBy == nil ? key ?? "no key" : nil, claims.map { "not your contact \($0)" }]
            .compactMap(\.self)
        return facts.isEmpty ? who : "\(who) (\(facts.joined(separator: ", ")))"
    }

    /// Its standing, beside its name in a list: `contact`, `stranger`, `stranger by AirDrop`, `not your contact anna`.
    package var standing: String {
        if isContact { return "contact" }
        return claims.map { "not your contact \($0)" } ?? "stranger" + (unprovenBy.map { " by \($0.title)" } ?? "")
    }
}
