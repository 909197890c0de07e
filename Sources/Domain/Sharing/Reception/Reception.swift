import ContentCheck
import Digests
private import Synchronization

/// The receiver: judges offers, opens transfers that were accepted, remembers receipts. One for all dialects.
///
/// A dialect must: `judge` an offer and send the verdict; `begin` a transfer when its contents come; feed the
/// `IncomingTransfer`; `end` it with its receipt; answer later questions from `receipt`.
package final class Reception: Sendable {
    /// The events, for displays and logs.
    package enum Event: Sendable {
        case offered(Offer, from: PeerID)
        case judged(Offer, Verdict, from: PeerID)
        /// The contents of accepted items begin.
        case began(Offer, from: PeerID)
        case progressed(TransferID, from: PeerID, received: UInt64, of: UInt64)
        case stored(Arrival)
        case opened(Arrival, HandlerAnswer)
        /// Once for each acceptance, also if its contents have not come; not for one that waits when the receiver stops.
        case ended(TransferID, from: PeerID, Receipt, TransferError?)
    }

    private typealias Waiter = CheckedContinuation<Receipt?, Never>

    private struct State {
        var ledger = TransferLedger()
        /// Tasks that wait for a receipt with the handlers' answers, by the number that the ledger knows.
        var waiters: [Int: Waiter] = [:]
        var nextWaiter = 0
        /// Wakes when the next accepted transfer expires.
        var alarm: (rings: ContinuousClock.Instant, task: Task<Void, Never>)?
    }

    /// Room for the messages of all peers while they are read.
    package let bodies = MemoryBudget()
    /// Room for the previews of the offers that wait.
    private let previewRoom = MemoryBudget(
        bytes: Limits.waitingPreviewBytes, ofStrangers: Limits.waitingPreviewBytesOfStrangers)

    let inbox: any InboxStoring
    let journal: any ArrivalJournal
    private let unsettled = UnsettledResults()
    private let gate: any OfferGating
    private let consent: any ConsentAsking
    private let delivery: any Delivering
    private let refusal: @Sendable (OfferedItem) -> String?
    private let quota: StrangerQuota?
    private let consentWait: Duration
    private let departedWait: Duration
    private let memory: ConsentMemory?
    private let previews: @Sendable () -> PreviewRule
    private let observe: @Sendable (Event) -> Void
    private let state = Mutex(State())

    /// - Parameters:
    ///   - gate: refuses offers before they take common resources, and knows the contacts, which have a reserved share.
    ///   - refusal: why an item can never be sent here (no document type covers it), in one line; nil if it can be
    ///   sent. Decided without waiting.
    ///   - quota: how much one stranger may send; nil for no bound.
    ///   - consentWait: how long an offer waits for an answer.
    ///   - departedWait: how long an accepted transfer waits for its contents after the connection of its offer has
    ///     closed.
    ///   - memory: learns which transfers begin and end; `consent` must include its wrapper.
    ///   - previews: the peers whose previews are shown.
    ///   - observe: called for each event, from any thread; returns soon.
    package init(
        inbox: any InboxStoring,
        journal: any ArrivalJournal,
        gate: any OfferGating,
        consent: any ConsentAsking,
        delivery: any Delivering,
        refusal: @escaping @Sendable (OfferedItem) -> String? = { _ in nil },
        quota: StrangerQuota? = nil,
        consentWait: Duration = Limits.consentWait,
        departedWait: Duration = Limits.departedWait,
        memory: ConsentMemory? = nil,
        previews: @escaping @Sendable () -> PreviewRule = { .contacts },
        observe: @escaping @Sendable (Event) -> Void
    ) {
        self.inbox = inbox
        self.journal = journal
        self.consent = consent
        self.delivery = delivery
        self.gate = gate
        self.refusal = refusal
        self.quota = quota
        self.consentWait = consentWait
        self.departedWait = departedWait
        self.memory = memory
        self.previews = previews
        self.observe = observe
    }

    // MARK: Offers

    /// The answers that are known before the offer is judged: by eligibility alone. Nil for an item that needs a judgement.
    package func ineligible(in offer: Offer) -> [ItemVerdict?] {
        let eligible = EligibleOffer(offer, ineligibility(of:))
        if eligible.isRefused { return eligible.verdicts([]) }
        return offer.items.map { item in ineligibility(of: item).map { ItemVerdict(.ineligible, reason: $0) } }
    }

    /// By its type, and by what the disk can hold.
    private func ineligibility(of item: OfferedItem) -> String? {
        refusal(item) ?? inbox.refusal(of: item, isSealed: false)
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

    /// The current rights of a peer. Ask before reading its offers, so that a barred peer takes no resources.
    package func access(of peer: PeerID, by dialect: Dialect) -> PeerAccess { gate.access(of: peer, by: dialect) }

    /// Whether the previews in a peer's offers are shown. Ask before reading its offers, and keep no others.
    package func takesPreviews(by access: PeerAccess) -> Bool {
        previews().includes(contact: access == .contact)
    }

    /// Answers an offer. Waits for consent, for as long as its sender waits; cancelling the task withdraws the offer.
    ///
    /// The verdict says which accepted items are here already, wholly or in part. Reads the disk and the journal.
    /// Previews are for the consent only: neither events nor the ledger keep them.
    /// - Parameter withdrawn: the cause if the task was cancelled, and the receiver is not being stopped.
    package func judge(
        _ whole: Offer, from visitor: Visitor,
        withdrawn: @escaping @Sendable () -> EndCause = { .senderCancelled }
    ) async -> Verdict {
        var whole = whole
        whole.origin = visitor.origin
        let (peer, offer) = (visitor.peer, whole.bare())
        let claim = previewRoom.claim(isContact: gate.access(of: peer, by: offer.dialect) == .contact)
        defer { claim.giveBack() }
        let eligible = EligibleOffer(whole.previewed(within: claim), ineligibility(of:))
        let digest = offer.digests.first ?? .xxh3_128
        let verdict: Verdict
        if let refused = refused(eligible, from: peer) {
            verdict = Verdict(items: refused, digest: digest)
        } else if let refusal = admit(offer, from: visitor) {
            verdict = Verdict(all: refusal, count: offer.items.count, digest: digest)
        } else {
            let items = eligible.verdicts(await answers(to: eligible.rest, from: peer, withdrawn))
            let answer = Verdict(items: items, digest: digest)
            // Others may have been accepted while this one waited for consent.
            let ruling = answer.acceptsAnything ? ruling(on: offer, from: peer) : nil
            let isWithdrawn = Task.isCancelled
            verdict = state.withLock {
                $0.ledger.settle(
                    offer, answer, connection: visitor.connection, isWithdrawn: isWithdrawn, at: .now, ruling: ruling)
            }
        }
        observe(.judged(offer, verdict, from: peer))
        guard verdict.acceptsAnything else { return verdict }
        expire()
        if !Task.isCancelled { await awaitRivals(of: offer, from: peer) }
        let known = Task.isCancelled ? verdict : recognising(offer, verdict, from: peer)
        guard Task.isCancelled else { return known }
        let cause = cause(withdrawn)
        if let left = state.withLock({ $0.ledger.withdraw(offer.transfer, connection: visitor.connection) }) {
            neverBegan(left, TransferError(ending: cause))
        }
        return Verdict(all: .unanswered(cause), count: offer.items.count, digest: digest)
    }

    /// Why the task of an offer was cancelled. All tasks are cancelled when the receiver ends.
    private func cause(_ withdrawn: () -> EndCause) -> EndCause {
        state.withLock { $0.ledger.isStopping } ? .receiverStopped : withdrawn()
    }

    /// The quota's judgement of an accepted offer, by the peer's bytes that are under way; nil without a quota.
    private func ruling(on offer: Offer, from peer: PeerID) -> StrangerQuota.Ruling? {
        guard let quota, quota.bounds(peer) else { return nil }
        return quota.ruling(on: coming(of: offer, from: peer), from: peer)
    }

    /// The refusal that needs no question and takes no common resources: first by eligibility, from the types alone,
    /// then by the user's standing decisions.
    private func refused(_ offer: EligibleOffer, from peer: PeerID) -> [ItemVerdict]? {
        if offer.isRefused { return offer.verdicts([]) }
        guard let refused = gate.refusal(of: offer.rest, from: peer) else { return nil }
        // An offer whose items are all `busy` is not shown: it may be part of a flood.
        if refused.contains(where: { $0.answer != .busy }) { observe(.offered(offer.rest.bare(), from: peer)) }
        return offer.verdicts(refused)
    }

    private func admit(_ offer: Offer, from visitor: Visitor) -> ItemVerdict? {
        let claim = OfferClaim(
            peer: visitor.peer, address: visitor.address,
            isContact: gate.access(of: visitor.peer, by: offer.dialect) == .contact, items: offer.items.count,
            bytes: offer.knownSize, footprint: offer.knownFootprint.bytes)
        switch state.withLock({ $0.ledger.admit(offer, claim, at: .now) }) {
        case .admitted(let earlier):
            if let earlier { neverBegan(earlier, Self.neverCame) }
            return nil
        case .refused(let verdict, let interrupt):
            interrupt?()
            return verdict
        }
    }

    private func answers(
        to offer: Offer, from peer: PeerID, _ withdrawn: () -> EndCause
    ) async -> [ItemVerdict] {
        let publication = OfferPublication { [observe, bare = offer.bare()] in
            observe(.offered(bare, from: peer))
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
        if offer.knownSize > free, coming(of: offer, from: peer).knownSize > free {
            let reason = "\(ByteCount.text(offer.knownSize)) offered, \(ByteCount.text(free)) free"
            return Array(repeating: ItemVerdict(.noRoom, reason: reason), count: count)
        }
        if offer.knownEntries > freeEntries, coming(of: offer, from: peer).knownEntries > freeEntries {
            let reason = "no free inodes: \(offer.knownEntries) files and folders offered, room for \(freeEntries)"
            return Array(repeating: ItemVerdict(.noRoom, reason: reason), count: count)
        }
        let underWay = bytesUnderWay(from: peer)
        if quota?.refusal(of: offer, from: peer, underWay: underWay) != nil,
            let refusal = quota?.refusal(of: coming(of: offer, from: peer), from: peer, underWay: underWay)
        {
            return Array(repeating: refusal, count: count)
        }
        let (consent, wait) = (self.consent, min(consentWait, offer.wait ?? consentWait))
        let answers = await withTaskGroup(of: [ItemVerdict]?.self) { group in
            group.addTask {
                await consent.consent(to: offer, from: peer, freeRoom: free) { publication.publish() }
            }
            group.addTask {
                try? await Task.sleep(for: wait)
                return nil
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            return first
        }
        // Cancelled: a question that ends without an answer is expired, too.
        if Task.isCancelled, answers?.allSatisfy({ $0.answer == .expired }) ?? true {
            return Array(repeating: .unanswered(cause(withdrawn)), count: count)
        }
        guard let answers, answers.count == count else {
            let verdict = ItemVerdict(.expired, reason: EndCause.nobodyAnswered(within: wait))
            return Array(repeating: verdict, count: count)
        }
        return storable(answers, of: offer)
    }

    /// Accepted bytes of a sender that are not stored yet.
    func bytesUnderWay(of sender: AmountSender, besides id: TransferID) -> UInt64 {
        state.withLock { state in
            state.ledger.underWay(besides: id, at: .now) { claim, dialect in
                sender.includes(claim.peer, by: dialect) ? claim.bytes : 0
            }
        }
    }

    /// Accepted bytes of a peer, by `Footprint`, that are not stored yet.
    private func bytesUnderWay(from peer: PeerID, besides id: TransferID? = nil) -> UInt64 {
        state.withLock { $0.ledger.footprint(of: peer, besides: id, at: .now) }
    }

    /// Notes that a connection has closed: its accepted transfers that have not begun expire after `departedWait`.
    package func left(_ visitor: Visitor) {
        state.withLock { $0.ledger.leave(visitor.connection, until: .now + departedWait) }
        expire()
    }

    /// Ends the accepted transfers whose contents have not begun in time: now, and again when the next one is over.
    private func expire() {
        let over = state.withLock { state in
            let over = state.ledger.expire(at: .now)
            let next = state.ledger.nextExpiry
            if state.alarm?.rings != next {
                state.alarm?.task.cancel()
                state.alarm = next.map { ($0, alarm(at: $0)) }
            }
            return over
        }
        for transfer in over { neverBegan(transfer, Self.neverCame) }
    }

    private func alarm(at time: ContinuousClock.Instant) -> Task<Void, Never> {
        Task { [weak self] in
            do { try await Task.sleep(until: time, clock: .continuous) } catch { return }
            self?.expire()
        }
    }

    /// Tells the end of an accepted transfer whose contents have not begun.
    private func neverBegan(_ transfer: TransferLedger.Accepted, _ fault: TransferError) {
        let (offer, count) = (transfer.offer, transfer.offer.items.count)
        let receipt = Receipt(transfer: offer.transfer, items: Array(repeating: ItemReceipt(.notSent), count: count))
        observe(.ended(offer.transfer, from: transfer.claim.peer, receipt, fault))
    }

    private static let neverCame = TransferError(.interrupted, "its contents did not come", cause: .timeout)

    // MARK: Contents

    /// Opens an accepted transfer for its contents; can be done once, by the peer whose offer it was.
    /// - Parameters:
    ///   - binding: how strictly the contents must match the offer; depends on the dialect.
    ///   - interrupt: ends the connection on which the contents come; called from any thread when the sender offers the
    ///     transfer again.
    /// - Throws: `notAccepted`; the same for a transfer that is unknown, another's, or over. `storage` if the journal
    ///   cannot be read.
    package func begin(
        _ id: TransferID, from peer: PeerID, binding: OfferBinding = .exact,
        interrupt: @escaping @Sendable () -> Void = {}
    ) throws(TransferError) -> IncomingTransfer {
        guard
            let (accepted, pulse) = state.withLock({
                $0.ledger.begin(id, from: peer, at: .now, interrupt: interrupt)
            })
        else { throw TransferError(.notAccepted, "no accepted offer covers this transfer") }
        let earlier: [Arrival]
        do {
            earlier = try journal.arrivals(of: id, from: peer)
        } catch {
            state.withLock { $0.ledger.abandon(id) }
            let fault = TransferError(.storage, error.description)
            neverBegan(accepted, fault)
            throw fault
        }
        memory?.began(id, from: peer, arrivals: earlier.count)
        let total = accepted.offer.knownSize
        let observe = self.observe
        observe(.began(accepted.offer, from: peer))
        // Known sizes were judged with the offer; only unknown ones need a bound here.
        let maximumBytes =
            accepted.offer.items.contains { $0.size == nil || $0.entries == nil }
            ? quota?.allowance(for: peer, underWay: bytesUnderWay(from: peer, besides: id), isExact: true) : nil
        // The stranger's kept parts count as well, and are removed to make room for new contents.
        if let most = quota?.allowance(for: peer, underWay: bytesUnderWay(from: peer)) {
            inbox.boundKept(
                of: peer, to: most, besides: accepted.offer.items,
                protections: accepted.verdict.items.map(\.destination).map { $0.protection ?? .none })
        }
        return IncomingTransfer(
            offer: accepted.offer,
            verdict: accepted.verdict,
            peer: peer,
            binding: binding,
            inbox: inbox,
            journal: journal,
            unsettled: unsettled,
            maximumBytes: maximumBytes,
            earlier: earlier,
            turn: accepted.turn,
            storings: accepted.storings,
            // A liar is handed to no handler: it stays in the Inbox, marked.
            isDelivered: { [delivery] in $0.content?.outcome != .lying && delivery.takes($0) },
            stored: { [self] in arrived($0) },
            progressed: { received in
                guard pulse.beat(received) else { return }
                observe(.progressed(id, from: peer, received: received, of: total))
            }
        )
    }

    /// Other transfers of the peer that are being received and have an item of the same kind, name and type.
    func rivals(of offer: Offer, from peer: PeerID) -> [TransferLedger.Receiving] {
        state.withLock { $0.ledger.rivals(of: offer, from: peer) }
    }

    /// Lets an accepted transfer wait for its contents for so long from now.
    /// - Returns: nil if the peer has no such transfer.
    func holdOpen(_ id: TransferID, from peer: PeerID, for time: Duration) -> (Offer, Verdict)? {
        let now = ContinuousClock.now
        return state.withLock { $0.ledger.hold(id, from: peer, at: now, until: now + time) }
    }

    /// Closes a transfer that `begin` opened. Must be called once for each, also for one that failed.
    /// - Returns: the receipt with the handlers' answers so far.
    @discardableResult
    package func end(_ transfer: IncomingTransfer, _ receipt: Receipt, fault: TransferError?) -> Receipt {
        let id = transfer.offer.transfer
        let tally = transfer.tally
        let isCancelled = state.withLock { $0.ledger.isCancelled(id) }
        let fault = isCancelled && fault != nil ? Self.cancelledHere : fault
        memory?.ended(id, stored: tally.storedNow, isWhole: tally.isWhole || isCancelled)
        let unanswered = transfer.unanswered
        for arrival in unanswered { note(HandlerAnswer(.pending), for: arrival) }
        let merged = resume { ledger in
            let ended = ledger.end(id, from: transfer.peer, receipt)
            return ([ended], ended.receipt)
        }
        follow(unanswered)
        delivery.transferEnded(id, from: transfer.peer)
        observe(.ended(id, from: transfer.peer, merged, fault))
        return merged
    }

    private static let cancelledHere = TransferError(.cancelled, "it was cancelled here")

    /// Cancels an accepted transfer for the user. It is declined when its sender offers it again.
    /// - Returns: whether it was under way.
    package func cancel(_ id: TransferID) -> Bool {
        switch state.withLock({ $0.ledger.cancel(id, at: .now) }) {
        case .receiving(let interrupt): interrupt()
        case .waiting(let accepted):
            memory?.ended(id, stored: 0, isWhole: true)
            neverBegan(accepted, Self.cancelledHere)
        case nil: return false
        }
        return true
    }

    /// The transfers that are under way, by the beginning of their offers.
    package var underWay: [(offer: Offer, peer: PeerID)] { state.withLock { $0.ledger.underWay(at: .now) } }

    /// Changes the ledger, and resumes the tasks whose receipts are complete now.
    private func resume<Result: Sendable>(
        _ change: (inout TransferLedger) -> (answered: [TransferLedger.Answered], result: Result)
    ) -> Result {
        let (ready, result) = state.withLock { state in
            let (answered, result) = change(&state.ledger)
            let ready = answered.flatMap { answered in
                answered.waiters.compactMap { number in
                    state.waiters.removeValue(forKey: number).map { (waiter: $0, receipt: answered.receipt) }
                }
            }
            return (ready, result)
        }
        for (waiter, receipt) in ready { waiter.resume(returning: receipt) }
        return result
    }

    /// Ends the connections of the transfers that bring an item of a protection. What has come of it is kept.
    package func interrupt(_ protection: ProtectionClass) {
        for interrupt in state.withLock({ $0.ledger.interrupts(of: protection) }) { interrupt() }
    }

    // MARK: Receipts

    /// The receipt of a transfer that has ended, with the handlers' answers so far.
    /// - Parameter answered: wait until all handlers have answered.
    /// - Returns: nil for a transfer that is unknown, another's, or when the task was cancelled while waiting.
    package func receipt(of id: TransferID, from peer: PeerID, answered: Bool) async -> Receipt? {
        let number = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        if case .unknown = state.withLock({ $0.ledger.receipt(of: id, from: peer, waiter: nil) }) {
            guard let (receipt, unanswered) = journalledReceipt(of: id, from: peer) else { return nil }
            guard answered, !unanswered.isEmpty else { return receipt }
            // An earlier process was about to ask the handlers; this one asks them.
            var open = receipt
            for arrival in unanswered { open.items[arrival.itemNumber].handler = HandlerAnswer(.none) }
            resume { [open] ledger in ([ledger.end(id, from: peer, open)], ()) }
            for arrival in unanswered { note(HandlerAnswer(.pending), for: arrival) }
            follow(unanswered)
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: Waiter) in
                let now: Receipt?? = state.withLock { state in
                    // Cancelled before it is entered: nothing would resume it.
                    if answered, Task.isCancelled { return .some(nil) }
                    switch state.ledger.receipt(of: id, from: peer, waiter: answered ? number : nil) {
                    case .unknown, .none: return .some(nil)
                    case .receipt(let receipt): return receipt
                    case .waiting:
                        state.waiters[number] = continuation
                        return nil
                    }
                }
                if let now { continuation.resume(returning: now) }
            }
        } onCancel: {
            let continuation = state.withLock { state in
                state.ledger.forget(waiter: number, of: id)
                return state.waiters.removeValue(forKey: number)
            }
            continuation?.resume(returning: nil)
        }
    }

    /// The journal's receipt of a transfer that an earlier process received, or that was forgotten here. Items without
    /// an entry were not stored. Nil also while an item is locked: only its owner can tell its digest.
    /// - Returns: with the items whose handlers have not answered.
    private func journalledReceipt(
        of id: TransferID, from peer: PeerID
    ) -> (receipt: Receipt, unanswered: [Arrival])? {
        guard let arrivals = try? journal.arrivals(of: id, from: peer), let first = arrivals.first,
            (1...Limits.items).contains(first.itemsInOffer)
        else { return nil }
        var receipt = Receipt(
            transfer: id, items: Array(repeating: ItemReceipt(.notSent), count: first.itemsInOffer))
        for arrival in arrivals where receipt.items.indices.contains(arrival.itemNumber) {
            guard let digests = inbox.contentDigests(of: arrival) else { return nil }
            receipt.items[arrival.itemNumber] = EarlierArrivals.receipt(of: arrival, digests, journal)
        }
        return (receipt, arrivals.filter { receipt.items[$0.itemNumber].handler.state == .pending })
    }

    private func arrived(_ arrivals: [IncomingTransfer.StoredArrival]) {
        state.withLock { state in
            for stored in arrivals { state.ledger.note(stored: stored.arrival) }
        }
        for stored in arrivals { observe(.stored(stored.arrival)) }
        deliver(arrivals.filter(\.awaitsDelivery).map(\.arrival))
    }

    /// The number of stored items that the journal could not record yet.
    package var unsettledItems: Int { unsettled.count }

    /// Records what the journal could not record before, and delivers it. Blocks on the disk.
    package func settleAgain() { deliver(unsettled.settle(in: journal)) }

    private func deliver(_ delivered: [Arrival]) {
        guard !delivered.isEmpty else { return }
        for arrival in delivered { note(HandlerAnswer(.pending), for: arrival) }
        delivery.deliver(delivered) { [self] arrival, answer in
            note(answer, for: arrival)
            observe(.opened(arrival, answer))
        }
    }

    /// Hears the answers to arrivals whose delivery began before: of this process or of an earlier one.
    private func follow(_ arrivals: [Arrival]) {
        if arrivals.isEmpty { return }
        delivery.follow(arrivals) { [self] arrival, answer in
            if let answer { return note(answer, for: arrival) }
            let state = try? journal.deliveryState(of: arrival.number)
            let known = HandlerAnswer((state ?? nil) ?? .none)
            note(known.state == .pending ? HandlerAnswer(.later) : known, for: arrival)
        }
    }

    private func note(_ answer: HandlerAnswer, for arrival: Arrival) {
        resume { ledger in (ledger.note(answer, for: arrival).map { [$0] } ?? [], ()) }
    }

    /// Transfers that were accepted and have not ended.
    package var openTransfers: Int { state.withLock { $0.ledger.openTransfers(at: .now) } }

    /// No new offers, no new contents; tasks that wait for receipts get them as they are.
    package func stop() {
        resume { ledger in (ledger.stop(), ()) }
    }
}
