package import Sharing

/// A peer that a search has found. It has an `id`, the whole id of its key. A peer that proves no key has a `handle`, its
/// name while it is in view.
package struct FoundLine: Line {
    package static let event = "found"

    package var id: String?
    package var handle: String?
    /// The name that the peer gives itself.
    package var name: String?
    /// The user's own name for a contact.
    package var contact: String?
    /// Of a stranger that has a contact's name: the user's own name for that contact.
    package var claims: String?
    package var device: String?
    /// The dialect of the peer: `waft` and others.
    package var via: String
    package var addresses: [String]
    /// The user's name for the address at which the peer was asked.
    package var rememberedAs: String?
    /// Whether all peers of the dialect prove keys.
    @Unsaid package var provesKeys: Bool

    /// - Parameter remembered: the user's name for the address at which the peer was asked; nil for none.
    package init(
        _ person: Person, device: String?, via dialect: Dialect, at addresses: [String],
        rememberedAs remembered: String?
    ) {
        (id, handle) = (person.id.provenText, person.id.handle)
        (name, self.device) = (person.ownName, device)
        (contact, claims) = (person.introduction.contact, person.introduction.claims)
        (via, provesKeys) = (dialect.name, dialect.provesKeys)
        (self.addresses, rememberedAs) = (addresses, remembered)
    }
}

/// A peer that is no longer in view.
package struct LostLine: Line {
    package static let event = "lost"

    package var id: String?
    package var handle: String?

    package init(_ peer: PeerID) { (id, handle) = (peer.provenText, peer.handle) }
}

/// A remembered peer that does not answer.
package struct AwayLine: Line {
    package static let event = "away"

    package var name: String
    package var addresses: [String]
    package var reason: String

    package init(name: String, address: String, reason: String) {
        (self.name, addresses, self.reason) = (name, [address], reason)
    }
}

/// The user has given a peer's address, or has removed it.
package struct RememberedLine: Line {
    package static let event = "remembered"

    package var event: String { isRemoved ? "peerRemoved" : Self.event }

    package var name: String
    package var addresses: [String]
    /// The address of that name until now.
    @Unsaid package var former: String?
    @Unsaid package var isRemoved: Bool

    package init(name: String, address: String, former: String? = nil, isRemoved: Bool = false) {
        (self.name, addresses, self.former, self.isRemoved) = (name, [address], former, isRemoved)
    }
}

extension PeerID {
    fileprivate var handle: String? { provenText == nil ? text : nil }
}
