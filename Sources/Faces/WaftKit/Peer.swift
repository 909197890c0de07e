import Lines
import Sharing

/// Another machine, as this user knows it.
public struct Peer: Sendable, Hashable {
    /// The text that means this peer, and no other, where something is sent; nil for a sender that proved no key.
    public let reference: String?
    /// Printable. Another peer can have the same; empty if the peer does not tell it.
    public let name: String
    /// The user's own name for a contact; nil for a stranger.
    public let contact: String?
    /// Of a stranger that has the name of a contact: the user's own name for that contact. Warn of it.
    public let claims: String?

    init(_ person: Person) {
        (reference, name) = (person.id.text, person.introduction.name)
        (contact, claims) = (person.introduction.contact, person.introduction.claims)
    }

    init(_ fields: PersonFields) {
        (reference, contact, claims) = (fields.id, fields.contact, fields.claims)
        name = fields.contact ?? fields.name.map(ShownText.peerName) ?? ""
    }
}
