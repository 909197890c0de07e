/// Decides whether an offer is accepted: a person at a terminal, a rule, a desktop notification.
package protocol ConsentAsking: Sendable {
    /// Asks, and waits for the answer, but no longer than the offer stands.
    ///
    /// The task is cancelled when the sender leaves or time is up; the question is then withdrawn at once, and the
    /// result does not matter.
    /// - Parameter waits: called once the offer can be answered, before its answer; not if no one is asked.
    /// - Returns: one verdict per item.
    func consent(
        to offer: Offer, from peer: PeerID, freeRoom: UInt64, waits: @escaping @Sendable () -> Void
    ) async -> [ItemVerdict]
}

extension ConsentAsking {
    /// For callers that need not know when the offer can be answered.
    package func consent(to offer: Offer, from peer: PeerID, freeRoom: UInt64) async -> [ItemVerdict] {
        await consent(to: offer, from: peer, freeRoom: freeRoom, waits: {})
    }
}
