/// The user's standing decisions on peers and their offers. Asked before an offer takes any of the common resources.
///
/// Decides without waiting for people; may block on the disk.
package protocol OfferGating: Sendable {
    /// The current rights of a peer, by its identity alone.
    func access(of peer: PeerID, by dialect: Dialect) -> PeerAccess
    /// Refuses an offer of which no item can be accepted, so that no question is needed.
    /// - Returns: one verdict per item; nil if an item may be accepted.
    func refusal(of offer: Offer, from peer: PeerID) -> [ItemVerdict]?
}
