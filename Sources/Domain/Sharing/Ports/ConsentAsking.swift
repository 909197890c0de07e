/// Decides whether an offer is accepted: a person at a terminal, a rule, a desktop notification.
package protocol ConsentAsking: Sendable {
    /// Asks, and waits for the answer, but no longer than the offer stands.
    ///
    /// The task is cancelled when the sender leaves or time is up; the question is then withdrawn at once, and the
    /// result does not matter.
    /// - Returns: one verdict per item.
    func consent(to offer: Offer, from peer: PeerID, freeRoom: UInt64) async -> [ItemVerdict]
}
