package import Sharing

/// A peer with the names that it has: its own, and the user's for a contact. Each face writes it in one function.
package struct Person: Sendable {
    package let id: PeerID
    /// The name that the peer gives itself; nil if it does not tell it.
    package let ownName: String?
    package let introduction: Introduction

    package init(id: PeerID, ownName: String?, introduction: Introduction) {
        (self.id, self.ownName, self.introduction) = (id, ownName, introduction)
    }

    package var isContact: Bool { introduction.isContact }

    package var fields: PersonFields { PersonFields(id, callingItself: ownName, introduction) }
}

/// A peer in a line.
package struct PersonFields: Codable, Equatable, Sendable {
    /// The whole id of its key; absent for a peer that proved none.
    package var id: String?
    /// The name that the peer gives itself.
    package var name: String?
    /// The user's own name for a contact.
    package var contact: String?
    /// Of a stranger that has a contact's name: the user's own name for that contact.
    package var claims: String?

    /// - Parameter name: that it gives itself; nil if it does not tell it.
    package init(_ peer: PeerID, callingItself name: String?, _ introduction: Introduction) {
        self.init(
            id: peer.provenText, name: name, contact: introduction.contact, claims: introduction.claims)
    }

    package init(id: String? = nil, name: String? = nil, contact: String? = nil, claims: String? = nil) {
        (self.id, self.name, self.contact, self.claims) = (id, name, contact, claims)
    }
}
