import Handlers
import Logging
import Sharing

/// Asks the arbiter of the configuration and, at the same time, the people. The first answer wins, and the other
/// question is withdrawn.
struct ArbitratedConsent: ConsentAsking {
    let arbiter: OfferArbiter
    let asking: any ConsentAsking
    /// The user's name for a peer; nil for a stranger.
    let contactName: @Sendable (PeerID) -> String?
    let logger: Logger

    func consent(
        to offer: Offer, from peer: PeerID, freeRoom: UInt64, waits: @escaping @Sendable () -> Void
    ) async -> [ItemVerdict] {
        let facts = OfferFacts(offer: offer, peer: peer, contact: contactName(peer), freeRoom: freeRoom)
        return await withTaskGroup(of: [ItemVerdict]?.self) { group in
            group.addTask { await asking.consent(to: offer, from: peer, freeRoom: freeRoom, waits: waits) }
            group.addTask { await verdicts(of: arbiter.ask(facts), count: offer.items.count) }
            defer { group.cancelAll() }
            for await answer in group {
                if let answer { return answer }
            }
            return []
        }
    }

    private func verdicts(of answer: ArbiterAnswer, count: Int) -> [ItemVerdict]? {
        switch answer {
        case .accept: return Array(repeating: .accepted, count: count)
        case .decline(let reason): return Array(repeating: ItemVerdict(.declined, reason: reason), count: count)
        case .undecided(let reason):
            logger.info("the arbiter gives no answer", metadata: ["reason": "\(reason)"])
            return nil
        }
    }
}
