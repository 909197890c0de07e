package import Sharing

/// A peer that was found and answered.
package struct FoundPeer: Sendable {
    package var id: PeerID
    /// Nil if the peer does not send it.
    package var card: Card?
    package var target: PeerTarget
    /// The user's name for the address at which the peer was asked; nil for a peer that was found.
    package var remembered: String?

    package init(id: PeerID, card: Card?, target: PeerTarget) {
        (self.id, self.card, self.target) = (id, card, target)
    }

    /// The dialect of the target.
    package var dialect: Dialect { target.dialect }
}

/// An event of a search for peers.
package enum PeerEvent: Sendable {
    /// The peer was found, or the facts about it changed.
    case found(FoundPeer)
    case gone(PeerID)
    /// No peer answers at a remembered address. All texts are one line, not escaped.
    case away(name: String, address: String, reason: String)
    /// One line for the user: looking is hampered.
    case trouble(String)
}

/// The answer of a target that should have a certain key.
package enum ProbeResult: Sendable {
    case expected
    /// Another peer, with the key that it proved.
    case other(PeerID?)
    case nothing
}
