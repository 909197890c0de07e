package import Sharing

/// A gate that gives the answers that the test sets.
package struct ScriptedGate: OfferGating {
    private let access: @Sendable (PeerID) -> PeerAccess
    private let refusal: @Sendable (Offer) -> [ItemVerdict]?

    /// - Parameters:
    ///   - access: the access of a peer; by default every peer is a contact.
    ///   - refusal: the verdicts for an offer that is refused without asking; by default none.
    package init(
        access: @escaping @Sendable (PeerID) -> PeerAccess = { _ in .contact },
        refusal: @escaping @Sendable (Offer) -> [ItemVerdict]? = { _ in nil }
    ) {
        (self.access, self.refusal) = (access, refusal)
    }

    package func access(of peer: PeerID, by dialect: Dialect) -> PeerAccess { access(peer) }

    package func refusal(of offer: Offer, from peer: PeerID) -> [ItemVerdict]? { refusal(offer) }
}
