package import Sharing

/// Lets in whom the test says.
package struct ScriptedGate: OfferGating {
    private let access: @Sendable (PeerID) -> PeerAccess
    private let refusal: @Sendable (Offer) -> [ItemVerdict]?

    /// - Parameters:
    ///   - access: what a peer may do; everybody is a contact by default.
    ///   - refusal: what is refused whoever is asked; nothing by default.
    package init(
        access: @escaping @Sendable (PeerID) -> PeerAccess = { _ in .contact },
        refusal: @escaping @Sendable (Offer) -> [ItemVerdict]? = { _ in nil }
    ) {
        (self.access, self.refusal) = (access, refusal)
    }

    package func access(of peer: PeerID, by dialect: Dialect) -> PeerAccess { access(peer) }

    package func refusal(of offer: Offer, from peer: PeerID) -> [ItemVerdict]? { refusal(offer) }
}
