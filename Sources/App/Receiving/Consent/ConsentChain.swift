import Contacts
import Handlers
import Inbox
import Journal
import Logging
import Settings
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
    static func make(_ plan: ReceiverPlan, _ store: ReceiverStore, _ door: VisibilityController) -> any ConsentAsking {
        let (people, inbox) = (plan.consent, store.inbox)
        var consent: any ConsentAsking = ChosenConsent {
            guard let arbiter = plan.programs.current.arbiter else { return people }
            return ArbitratedConsent(
                arbiter: arbiter.ask, people: people, contactName: { door.contactName(of: $0) }, logger: plan.logger)
        }
        consent = RelayedConsent(asking: consent, relay: plan.listeners.relay)
        consent = store.consents.wrapping(consent)
        consent = GatedConsent(door.gate, asking: consent)
        let gated = consent
        let earlier = EarlierArrivals(inbox: inbox, journal: store.journal)
        let skipping = ConflictConsent(
            asking: gated, isTaken: { inbox.holds($0, in: $1) }, isKnown: { earlier.contain($0, from: $1) })
        consent = ChosenConsent { plan.settings.conflict == .skip ? skipping : gated }
        consent = ProtectedConsent(asking: consent, usual: { plan.settings.protection }, keys: inbox.keys)
        return JournalledConsent(asking: consent, journal: store.journal)
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

/// Fixes how each accepted item is sealed. Refuses those that can be received only while unlocked.
struct ProtectedConsent: ConsentAsking {
    let asking: any ConsentAsking
    /// The protection of items for which the user's rules name none.
    let usual: @Sendable () -> ProtectionClass
    let keys: ItemKeys

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
            case .complete where !keys.canOpen(.complete):
                return ItemVerdict(.busy, reason: "locked")
            case .some(let protection) where protection.isSealed && !keys.areThere:
                return ItemVerdict(.noRoom, reason: "the receiver has no keys to seal it with")
            default:
                return answer
            }
        }
    }
}

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
