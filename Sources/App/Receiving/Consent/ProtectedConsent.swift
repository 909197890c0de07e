import Protection
import Sharing

/// Fixes how each accepted item is sealed. Refuses those that can be received only while unlocked.
struct ProtectedConsent: ConsentAsking {
    let asking: any ConsentAsking
    /// The protection of items for which the user's rules name none.
    let usual: @Sendable () -> ProtectionClass
    let vault: Vault

    func consent(
        to offer: Offer, from peer: PeerID, freeRoom: UInt64, waits: @escaping @Sendable () -> Void
    ) async -> [ItemVerdict] {
        let answers = await asking.consent(to: offer, from: peer, freeRoom: freeRoom, waits: waits)
        let usual = usual()
        return answers.map { answer in
            guard answer.answer == .accepted else { return answer }
            var answer = answer
            answer.destination = answer.destination.protected(as: usual)
            switch answer.destination.protection {
            case .complete where !vault.canOpen(.complete):
                return ItemVerdict(.busy, reason: "locked")
            case .some(let protection) where protection.isSealed && !vault.standing.isSetUp:
                return ItemVerdict(.noRoom, reason: "the receiver has no keys to seal it with")
            default:
                return answer
            }
        }
    }
}
