import Handlers
import Logging
import Sharing

/// Asks the arbiter of the configuration and, at the same time, the people. The first answer wins, and the other
/// question is withdrawn.
struct ArbitratedConsent: ConsentAsking {
    let arbiter: @Sendable (OfferFacts) async -> ArbiterAnswer
    let people: any ConsentAsking
    /// The user's name for a peer; nil for a stranger.
    let contactName: @Sendable (PeerID) -> String?
    let logger: Logger

    private enum Side: Sendable {
        case people([ItemVerdict])
        /// Nil: it leaves the decision to the people.
        case arbiter([ItemVerdict]?)
    }

    func consent(
        to offer: Offer, from peer: PeerID, freeRoom: UInt64, waits: @escaping @Sendable () -> Void
    ) async -> [ItemVerdict] {
        let facts = OfferFacts(offer: offer, peer: peer, contact: contactName(peer), freeRoom: freeRoom)
        return await withTaskGroup(of: Side.self) { group in
            group.addTask { .people(await people.consent(to: offer, from: peer, freeRoom: freeRoom, waits: waits)) }
            group.addTask { .arbiter(verdicts(of: await arbiter(facts), count: offer.items.count)) }
            var decided: [ItemVerdict]?
            for await side in group {
                switch side {
                case .arbiter(let verdicts):
                    guard let verdicts else { continue }
                    decided = verdicts
                    group.cancelAll()
                case .people(let verdicts):
                    group.cancelAll()
                    // The queue decides which answer came first. A question that was withdrawn before its answer has
                    // expired.
                    if let decided, verdicts.allSatisfy({ $0.answer == .expired }) { return decided }
                    return verdicts
                }
            }
            return []
        }
    }

    private func verdicts(of answer: ArbiterAnswer, count: Int) -> [ItemVerdict]? {
        switch answer {
        case .accept: return Array(repeating: .accepted, count: count)
        case .decline(let reason):
            return Array(repeating: ItemVerdict(.declined, reason: reason, cause: .rule), count: count)
        case .undecided(let reason):
            logger.info("the arbiter gives no answer", metadata: ["reason": "\(reason)"])
            return nil
        }
    }
}
