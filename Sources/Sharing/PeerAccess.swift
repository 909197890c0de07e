private import Synchronization

/// What a peer may do here now, by who it is alone: asked before anything that it sends is read.
package enum PeerAccess: Hashable, Sendable {
    /// It may not offer anything, and hears this.
    case barred(ItemVerdict)
    /// It has a part of what all share.
    case stranger
    /// It has a part of what all share that no stranger can take.
    case contact
}

/// A peer on one connection.
package struct Visitor: Sendable {
    package let peer: PeerID
    /// Where it connects from; nil where that is not known. It only counts what a stranger takes.
    package let address: AddressKey?
    /// Different for each connection of this process.
    let connection: UInt64

    private static let connections = Atomic<UInt64>(0)

    package init(_ peer: PeerID, at address: AddressKey? = nil) {
        (self.peer, self.address) = (peer, address)
        connection = Self.connections.add(1, ordering: .relaxed).newValue
    }
}
