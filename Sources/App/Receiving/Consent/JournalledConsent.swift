import Journal
import Sharing

/// Refuses offers if the journal was removed or replaced, before the user is asked.
struct JournalledConsent: ConsentAsking {
    let asking: any ConsentAsking
    let journal: Journal

    func consent(
        to offer: Offer, from peer: PeerID, freeRoom: UInt64, waits: @escaping @Sendable () -> Void
    ) async -> [ItemVerdict] {
        do throws(JournalError) {
            try journal.checkPlace()
        } catch {
            return Array(repeating: ItemVerdict(.noRoom, reason: error.description), count: offer.items.count)
        }
        return await asking.consent(to: offer, from: peer, freeRoom: freeRoom, waits: waits)
    }
}
