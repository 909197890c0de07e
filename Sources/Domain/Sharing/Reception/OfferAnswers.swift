import Digests
import Streams

/// The answers of this receiver to the items of an offer: by eligibility, by the gate, by the room on the disk, by the
/// quota, and by the user's consent.
struct OfferAnswers: Sendable {
    let inbox: any InboxStoring
    let known: KnownItems
    let gate: any OfferGating
    let consent: any ConsentAsking
    let rules: ReceptionRules
    let transfers: OpenTransfers
    let events: Listeners<Reception.Event>
    /// Room for the previews of the offers that wait.
    private let previewRoom = MemoryBudget(
        bytes: Limits.waitingPreviewBytes, ofStrangers: Limits.waitingPreviewBytesOfStrangers)

    init(
        inbox: any InboxStoring, known: KnownItems, gate: any OfferGating, consent: any ConsentAsking,
        rules: ReceptionRules, transfers: OpenTransfers, events: Listeners<Reception.Event>
    ) {
        (self.inbox, self.known, self.gate, self.consent) = (inbox, known, gate, consent)
        (self.rules, self.transfers, self.events) = (rules, transfers, events)
    }

    // MARK: The verdict

    /// As `Reception.judge`.
    func judge(
        _ whole: Offer, from visitor: Visitor, withdrawn: @escaping @Sendable () -> EndCause
    ) async -> Verdict {
        var whole = whole
        whole.origin = visitor.origin
        let (peer, offer) = (visitor.peer, whole.bare())
        let claim = previewRoom.claim(isContact: gate.access(of: peer, by: offer.dialect) == .contact)
        defer { claim.giveBack() }
        let offered = eligible(whole.previewed(within: claim))
        let digest = offer.digests.first ?? .xxh3_128
        let verdict: Verdict
        if let refusals = refused(offered, from: peer) {
            verdict = Verdict(items: refusals, digest: digest)
        } else if let refusal = admit(offer, from: visitor) {
            verdict = Verdict(all: refusal, count: offer.items.count, digest: digest)
        } else {
            let consented = await answers(to: offered.rest, from: peer) { cause(withdrawn) }
            let answer = Verdict(items: offered.verdicts(consented), digest: digest)
            // Others may have been accepted while this one waited for consent.
            let quota = answer.acceptsAnything ? ruling(on: offer, from: peer) : nil
            let isWithdrawn = Task.isCancelled
            verdict = transfers.with {
                $0.settle(
                    offer, answer, connection: visitor.connection, isWithdrawn: isWithdrawn, at: .now, ruling: quota)
            }
        }
        events.tell(.judged(offer, verdict, from: peer))
        guard verdict.acceptsAnything else { return verdict }
        transfers.expire()
        if !Task.isCancelled { await transfers.awaitRivals(of: offer, from: peer) }
        let marked = Task.isCancelled ? verdict : known.recognising(offer, verdict, from: peer)
        guard Task.isCancelled else { return marked }
        let end = cause(withdrawn)
        if let left = transfers.with({ $0.withdraw(offer.transfer, connection: visitor.connection) }) {
            transfers.neverBegan(left, TransferError(ending: end))
        }
        return Verdict(all: .unanswered(end), count: offer.items.count, digest: digest)
    }

    /// Why the task of an offer was cancelled. All tasks are cancelled when the receiver ends.
    private func cause(_ withdrawn: () -> EndCause) -> EndCause {
        transfers.with { $0.isStopping } ? .receiverStopped : withdrawn()
    }

    private func admit(_ offer: Offer, from visitor: Visitor) -> ItemVerdict? {
        let claim = OfferClaim(
            peer: visitor.peer, address: visitor.address,
            isContact: gate.access(of: visitor.peer, by: offer.dialect) == .contact, items: offer.items.count,
            bytes: offer.knownSize, footprint: offer.knownFootprint.bytes)
        switch transfers.with({ $0.admit(offer, claim, at: .now) }) {
        case .admitted(let earlier):
            if let earlier { transfers.neverBegan(earlier) }
            return nil
        case .refused(let verdict, let interrupt):
            interrupt?()
            return verdict
        }
    }

    // MARK: Without a question

    func eligible(_ offer: Offer) -> EligibleOffer { EligibleOffer(offer, ineligibility(of:)) }

    /// The answers by eligibility alone. Nil for an item that needs a judgement.
    func ineligible(in offer: Offer) -> [ItemVerdict?] {
        let eligible = eligible(offer)
        if eligible.isRefused { return eligible.verdicts([]) }
        return offer.items.map { item in ineligibility(of: item).map { ItemVerdict(.ineligible, reason: $0) } }
    }

    /// By its type, and by what the disk can hold.
    private func ineligibility(of item: OfferedItem) -> String? {
        rules.eligibility?.refusal(of: item) ?? inbox.refusal(of: item, isSealed: false)
    }

    /// The refusal that needs no question and takes no common resources: first by eligibility, from the types alone,
    /// then by the user's standing decisions.
    func refused(_ offer: EligibleOffer, from peer: PeerID) -> [ItemVerdict]? {
        if offer.isRefused { return offer.verdicts([]) }
        guard let refused = gate.refusal(of: offer.rest, from: peer) else { return nil }
        // An offer whose items are all `busy` is not shown: it may be part of a flood.
        if refused.contains(where: { $0.answer != .busy }) { events.tell(.offered(offer.rest.bare(), from: peer)) }
        return offer.verdicts(refused)
    }

    /// The quota's judgement of an accepted offer, by the peer's bytes that are under way; nil without a quota.
    func ruling(on offer: Offer, from peer: PeerID) -> StrangerQuota.Ruling? {
        guard let quota = rules.quota, quota.bounds(peer) else { return nil }
        return quota.ruling(on: known.coming(of: offer, from: peer), from: peer)
    }

    /// Refuses all items if the disk or the quota has no room for the offer.
    private func roomless(_ offer: Offer, from peer: PeerID, free: UInt64, freeEntries: UInt64) -> ItemVerdict? {
        if offer.knownSize > free, known.coming(of: offer, from: peer).knownSize > free {
            let reason = "\(ByteCount.text(offer.knownSize)) offered, \(ByteCount.text(free)) free"
            return ItemVerdict(.noRoom, reason: reason)
        }
        if offer.knownEntries > freeEntries, known.coming(of: offer, from: peer).knownEntries > freeEntries {
            let reason = "no free inodes: \(offer.knownEntries) files and folders offered, room for \(freeEntries)"
            return ItemVerdict(.noRoom, reason: reason)
        }
        guard let quota = rules.quota else { return nil }
        let underWay = transfers.footprint(of: peer)
        guard quota.refusal(of: offer, from: peer, underWay: underWay) != nil else { return nil }
        return quota.refusal(of: known.coming(of: offer, from: peer), from: peer, underWay: underWay)
    }

    // MARK: By the user

    /// Waits for consent, for as long as the sender waits; ends early if the task is cancelled.
    /// - Parameter withdrawn: the cause if the task was cancelled.
    func answers(to offer: Offer, from peer: PeerID, _ withdrawn: () -> EndCause) async -> [ItemVerdict] {
        let publication = OfferPublication { [events, bare = offer.bare()] in
            events.tell(.offered(bare, from: peer))
        }
        // Without a question: before the verdict.
        defer { publication.publish() }
        let count = offer.items.count
        let (free, freeEntries): (UInt64, UInt64)
        do throws(TransferError) {
            free = try inbox.freeRoom()
            freeEntries = try inbox.freeEntries()
        } catch {
            return Array(repeating: ItemVerdict(.noRoom, reason: error.message), count: count)
        }
        if let refusal = roomless(offer, from: peer, free: free, freeEntries: freeEntries) {
            return Array(repeating: refusal, count: count)
        }
        let (consent, wait) = (self.consent, min(rules.consentWait, offer.wait ?? rules.consentWait))
        let answers = await withTaskGroup(of: [ItemVerdict]?.self) { group in
            group.addTask {
                await consent.consent(to: offer, from: peer, freeRoom: free) { publication.publish() }
            }
            group.addTask {
                await Patience.wait(for: wait)
                return nil
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            return first
        }
        // Cancelled: a question that ends without an answer is expired, too.
        if Task.isCancelled, answers?.allSatisfy({ $0.answer == .expired }) ?? true {
            return Array(repeating: .unanswered(withdrawn()), count: count)
        }
        guard let answers, answers.count == count else {
            let verdict = ItemVerdict(.expired, reason: EndCause.nobodyAnswered(within: wait))
            return Array(repeating: verdict, count: count)
        }
        return storable(answers, of: offer)
    }

    /// Refuses accepted items that the disk cannot hold sealed, as the answer wants them.
    private func storable(_ answers: [ItemVerdict], of offer: Offer) -> [ItemVerdict] {
        let refusals = zip(offer.items, answers).map { item, answer in
            answer.answer == .accepted && answer.destination.protection?.isSealed == true
                ? inbox.refusal(of: item, isSealed: true) : nil
        }
        if refusals.allSatisfy({ $0 == nil }) { return answers }
        return zip(answers, refusals).map { answer, refusal in
            if let refusal { return ItemVerdict(.ineligible, reason: refusal) }
            return offer.takesPart || answer.answer != .accepted ? answer : .leftOut
        }
    }
}
