import Journal
import Sharing

/// Declines what could not be written down, before anybody is asked about it.
struct JournalledConsent: ConsentAsking {
    let asking: any ConsentAsking
    let journal: Journal

    func consent(to offer: Offer, from peer: PeerID, freeRoom: UInt64) async -> [ItemVerdict] {
        do throws(JournalFault) {
            try journal.checkPlace()
        } catch {
            return Array(repeating: ItemVerdict(.noRoom, reason: error.description), count: offer.items.count)
        }
        return await asking.consent(to: offer, from: peer, freeRoom: freeRoom)
    }
}
