private import Synchronization

/// The current rights of a peer, by its identity alone. Asked for before any of its messages is read.
package enum PeerAccess: Hashable, Sendable {
    /// It may not offer anything; this verdict is the answer.
    case barred(ItemVerdict)
    /// It shares the strangers' part of the common resources.
    case stranger
    /// It can also take the part of the common resources that is reserved for contacts.
    case contact
}

/// A peer on one connection.
package struct Visitor: Sendable {
    package let peer: PeerID
    /// The address from which it connects; nil if unknown. Used only to count a stranger's share.
    package let address: AddressKey?
    package let origin: OfferOrigin
    /// Different for each connection of this process.
    let connection: UInt64

    private static let connections = Atomic<UInt64>(0)

    package init(_ peer: PeerID, at address: AddressKey? = nil, origin: OfferOrigin = OfferOrigin()) {
        (self.peer, self.address, self.origin) = (peer, address, origin)
        connection = Self.connections.add(1, ordering: .relaxed).newValue
    }
}
