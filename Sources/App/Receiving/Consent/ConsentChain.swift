import Contacts
import Handlers
import Inbox
import Journal
import Logging
import Protection
import Sharing

/// Composes everything that has a say in an offer, from the first to the last.
///
/// ```
///  Reception ─▶ JournalledConsent   noRoom if the journal was removed or replaced
///                    │
///                    ▼
///               ProtectedConsent    fixes how accepted items are sealed; `busy` for `complete` while locked
///                    │
///                    ▼
///               ConflictConsent     only with `conflict: skip`: after the answer, declines names that are taken
///                    │
///                    ▼
///               GatedConsent        blocks, rules, policies of contacts; asks only about the items they leave open
///                    │
///                    ▼
///               RememberedConsent   answers for a transfer that was accepted before and was interrupted
///                    │
///                    ▼
///               RelayedConsent      publishes the answer of the ones below
///                    │
///                    ▼
///               ArbitratedConsent   only with `arbiter`: the program and the people at the same time; the first wins
///                    │
///                    ▼
///               ConsentQueue        people: terminal, notification, `waft accept`; and `--accept`
/// ```
///
/// Each one answers itself or asks the next one. Steps that refuse stand above steps that accept from memory: a consent
/// never outlives a block.
enum ConsentChain {
    /// - Parameters:
    ///   - arbiter: asked beside the people; nil while none is set.
    ///   - conflict: the rule that counts now.
    ///   - protection: the protection that counts now, where the user's rules name none.
    static func make(
        people: ConsentQueue, arbiter: @escaping @Sendable () -> OfferArbiter?, relay: EventRelay,
        memory: ConsentMemory,
        door: VisibilityController,
        conflict: @escaping @Sendable () -> ConflictRule,
        protection: @escaping @Sendable () -> ProtectionClass, vault: Vault, inbox: FileInbox, journal: Journal,
        logger: Logger
    ) -> any ConsentAsking {
        var consent: any ConsentAsking = ChosenConsent {
            guard let arbiter = arbiter() else { return people }
            return ArbitratedConsent(
                arbiter: arbiter.ask, people: people, contactName: { door.contactName(of: $0) }, logger: logger)
        }
        consent = RelayedConsent(asking: consent, relay: relay)
        consent = memory.wrapping(consent)
        consent = GatedConsent(door.gate, asking: consent)
        let gated = consent
        let earlier = EarlierArrivals(inbox: inbox, journal: journal)
        let skipping = ConflictConsent(
            asking: gated, isTaken: { inbox.holds($0, in: $1) }, isKnown: { earlier.contain($0, from: $1) })
        consent = ChosenConsent { conflict() == .skip ? skipping : gated }
        consent = ProtectedConsent(asking: consent, usual: protection, vault: vault)
        return JournalledConsent(asking: consent, journal: journal)
    }
}

/// Asks the one that the settings name when an offer comes.
private struct ChosenConsent: ConsentAsking {
    let choose: @Sendable () -> any ConsentAsking

    func consent(
        to offer: Offer, from peer: PeerID, freeRoom: UInt64, waits: @escaping @Sendable () -> Void
    ) async -> [ItemVerdict] {
        await choose().consent(to: offer, from: peer, freeRoom: freeRoom, waits: waits)
    }
}
