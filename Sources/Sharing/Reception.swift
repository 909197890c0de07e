import ContentCheck
import Digests
private import Synchronization

/// The receiver: judges offers, opens transfers that were accepted, remembers receipts. One for all dialects.
///
/// What a dialect does: `judge` an offer and send the verdict; `begin` a transfer when its contents come; feed the
/// `IncomingTransfer`; `end` it with its receipt; answer later questions from `receipt`.
package final class Reception: Sendable {
    /// What happens, for those who show it.
    package enum Event: Sendable {
        case offered(Offer, from: PeerID)
        case judged(Offer, Verdict, from: PeerID)
        /// Contents of what was accepted come now.
        case began(Offer, from: PeerID)
        case progressed(TransferID, from: PeerID, received: UInt64, of: UInt64)
        case stored(Arrival)
        case opened(Arrival, HandlerAnswer)
        case ended(TransferID, from: PeerID, Receipt, TransferFault?)
    }

    private struct Ledger {
        var waiting: [TransferID: OfferClaim] = [:]
        var accepted: [TransferID: Accepted] = [:]
        var receiving: [TransferID: Receiving] = [:]
        var finished: [TransferID: Finished] = [:]
        /// Finished transfers, oldest first, for forgetting.
        var finishedOrder: [TransferID] = []
        /// Items in all receipts of `finished`.
        var rememberedItems = 0
        var nextWaiter = 0
        var isStopping = false
    }

    private struct Receiving {
        var claim: OfferClaim
        var interrupt: @Sendable () -> Void
        var offer: Offer
        var turn: CommitTurn
        let pulse = TransferPulse()
    }

    private struct Accepted {
        var offer: Offer
        var verdict: Verdict
        var claim: OfferClaim
        var turn: CommitTurn
        /// `turn.storings` when the offer was accepted.
        var storings: Int
        /// The `Visitor.connection` of the offer.
        var connection: UInt64
        var expires: ContinuousClock.Instant
    }

    private struct Finished {
        var peer: PeerID
        var receipt: Receipt
        var hasEnded = false
        /// Items whose handlers have not answered: counted, since a transfer can have tens of thousands.
        var pending = 0
        var waiters: [Int: CheckedContinuation<Receipt?, Never>] = [:]

        var isAnswered: Bool { hasEnded && pending == 0 }
    }

    /// Room for the messages of all peers while they are read.
    package let bodies = MemoryBudget()

    let inbox: any InboxStoring
    let journal: any ArrivalJournal
    private let gate: any OfferGating
    private let consent: any ConsentAsking
    private let delivery: any Delivering
    private let refusal: @Sendable (OfferedItem) -> String?
    private let quota: StrangerQuota?
    private let consentWait: Duration
    private let departedWait: Duration
    private let memory: ConsentMemory?
    private let observe: @Sendable (Event) -> Void
    private let ledger = Mutex(Ledger())

    /// - Parameters:
    ///   - gate: refuses offers before they take common resources, and knows the contacts, which have a reserved share.
    ///   - refusal: why an item cannot be sent here whatever anybody says (no document type covers it), in one line; nil
    ///     for one that can. Decided without waiting.
    ///   - quota: how much one stranger may send; nil for no bound.
    ///   - consentWait: how long an offer waits for an answer.
    ///   - departedWait: how long an accepted transfer waits for its contents after the connection of its offer has
    ///     closed.
    ///   - memory: hears which transfers begin and end; what it wraps is somewhere in `consent`.
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
        self.observe = observe
    }

    // MARK: Offers

    /// The current rights of a peer. Ask before reading its offers, so that a barred peer takes no resources.
    package func access(of peer: PeerID, by dialect: Dialect) -> PeerAccess { gate.access(of: peer, by: dialect) }

    /// Answers an offer. Waits for consent; cancelling the task withdraws the offer.
    package func judge(_ offer: Offer, from visitor: Visitor) async -> Verdict {
        let peer = visitor.peer
        let eligible = EligibleOffer(offer, refusal)
        let digest = offer.digests.first ?? .xxh3_128
        let verdict: Verdict
        if let refused = refused(eligible, from: peer) {
            verdict = Verdict(items: refused, digest: digest)
        } else if let refusal = admit(offer, from: visitor) {
            verdict = Verdict(all: refusal, count: offer.items.count, digest: digest)
        } else {
            let items = eligible.verdicts(await answers(to: eligible.rest, from: peer))
            verdict = settle(offer, Verdict(items: items, digest: digest), visitor)
        }
        observe(.judged(offer, verdict, from: peer))
        return verdict
    }

    /// The refusal that needs no question and takes no common resources: first by eligibility, from the types alone,
    /// then by the user's standing decisions.
    private func refused(_ offer: EligibleOffer, from peer: PeerID) -> [ItemVerdict]? {
        if offer.isRefused { return offer.verdicts([]) }
        guard let refused = gate.refusal(of: offer.rest, from: peer) else { return nil }
        // An offer whose items are all `busy` is not shown: it may be part of a flood.
        if refused.contains(where: { $0.answer != .busy }) { observe(.offered(offer.rest, from: peer)) }
        return offer.verdicts(refused)
    }

    private func admit(_ offer: Offer, from visitor: Visitor) -> ItemVerdict? {
        let isContact = gate.access(of: visitor.peer, by: offer.dialect) == .contact
        return ledger.withLock { ledger in
            if ledger.isStopping { return Self.stopping }
            let now = ContinuousClock.now
            ledger.accepted = ledger.accepted.filter { $0.value.expires > now }
            let id = offer.transfer
            if let refusal = Self.refusalToRepeat(offer, from: visitor.peer, in: ledger) { return refusal }
            ledger.accepted[id] = nil
            let claim = OfferClaim(
                peer: visitor.peer, address: visitor.address, isContact: isContact, items: offer.items.count,
                bytes: offer.knownSize, footprint: offer.knownFootprint.bytes)
            let open = ledger.accepted.values.map(\.claim) + ledger.receiving.values.map(\.claim)
            let refusal = OfferShares.refusal(of: claim, waiting: Array(ledger.waiting.values), open: open)
            if refusal == nil { ledger.waiting[id] = claim }
            return refusal
        }
    }

    /// A transfer can be offered again by the peer whose it is, as long as something of it has not been stored: the sender
    /// has lost the connection, and goes on where it was.
    private static func refusalToRepeat(_ offer: Offer, from peer: PeerID, in ledger: Ledger) -> ItemVerdict? {
        let id = offer.transfer
        let before = ItemVerdict(.declined, reason: "this transfer was offered before")
        if ledger.waiting[id] != nil { return before }
        if let accepted = ledger.accepted[id], accepted.claim.peer != peer { return before }
        if let finished = ledger.finished[id] {
            guard finished.peer == peer, finished.receipt.items.count == offer.items.count else { return before }
            if finished.hasEnded, finished.receipt.items.allSatisfy(\.isStored) { return before }
        }
        guard let receiving = ledger.receiving[id] else { return nil }
        guard receiving.claim.peer == peer else { return before }
        // The old connection has broken off and we have not heard of it yet, or its end is being written to the disk.
        receiving.interrupt()
        return ItemVerdict(.busy, reason: "its earlier connection is being closed")
    }

    private func answers(to offer: Offer, from peer: PeerID) async -> [ItemVerdict] {
        observe(.offered(offer, from: peer))
        let count = offer.items.count
        let (free, freeEntries): (UInt64, UInt64)
        do throws(TransferFault) {
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
        let (consent, wait) = (self.consent, consentWait)
        let answers = await withTaskGroup(of: [ItemVerdict]?.self) { group in
            group.addTask { await consent.consent(to: offer, from: peer, freeRoom: free) }
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
            let isStopping = ledger.withLock { $0.isStopping }
            let verdict = ItemVerdict(.expired, reason: isStopping ? SilenceWords.stopping : SilenceWords.cancelled)
            return Array(repeating: verdict, count: count)
        }
        guard let answers, answers.count == count else {
            let verdict = ItemVerdict(.expired, reason: SilenceWords.nobodyAnswered(within: wait))
            return Array(repeating: verdict, count: count)
        }
        return answers
    }

    /// Accepted bytes of a sender that are not stored yet.
    func bytesUnderWay(of sender: AmountSender, besides id: TransferID) -> UInt64 {
        ledger.withLock { ledger in
            let accepted = ledger.accepted.values.filter { $0.expires > .now }.map {
                (offer: $0.offer, claim: $0.claim)
            }
            let open = accepted + ledger.receiving.values.map { (offer: $0.offer, claim: $0.claim) }
            return open.reduce(0) { sum, part in
                guard part.offer.transfer != id, sender.includes(part.claim.peer, by: part.offer.dialect) else {
                    return sum
                }
                let (total, overflow) = sum.addingReportingOverflow(part.claim.bytes)
                return overflow ? .max : total
            }
        }
    }

    /// Accepted bytes of a peer, by `Footprint`, that are not stored yet.
    private func bytesUnderWay(from peer: PeerID, besides id: TransferID? = nil) -> UInt64 {
        ledger.withLock { ledger in
            let accepted = ledger.accepted.filter { $0.value.expires > .now }.mapValues(\.claim)
            let receiving = ledger.receiving.mapValues(\.claim)
            let open = [accepted, receiving].joined().filter { $0.value.peer == peer && $0.key != id }
            return open.reduce(0) { sum, claim in
                let (total, overflow) = sum.addingReportingOverflow(claim.value.footprint)
                return overflow ? .max : total
            }
        }
    }

    /// - Returns: the verdict that is to be sent.
    private func settle(_ offer: Offer, _ verdict: Verdict, _ visitor: Visitor) -> Verdict {
        let withdrawn = Task.isCancelled
        return ledger.withLock { ledger in
            guard let claim = ledger.waiting.removeValue(forKey: offer.transfer), !withdrawn, verdict.acceptsAnything
            else { return verdict }
            if ledger.isStopping {
                return Verdict(all: Self.stopping, count: offer.items.count, digest: verdict.digest)
            }
            let turn = Self.turn(of: visitor.peer, in: ledger)
            ledger.accepted[offer.transfer] = Accepted(
                offer: offer, verdict: verdict, claim: claim, turn: turn, storings: turn.storings,
                connection: visitor.connection,
                expires: .now + Limits.contentsWait)
            return verdict
        }
    }

    /// The turn that a peer's open transfers share.
    private static func turn(of peer: PeerID, in ledger: Ledger) -> CommitTurn {
        ledger.accepted.values.first { $0.claim.peer == peer }?.turn
            ?? ledger.receiving.values.first { $0.claim.peer == peer }?.turn ?? CommitTurn()
    }

    /// Notes that a connection has closed: its accepted transfers that have not begun expire after `departedWait`.
    package func left(_ visitor: Visitor) {
        ledger.withLock { ledger in
            let end = ContinuousClock.now + departedWait
            for (id, accepted) in ledger.accepted where accepted.connection == visitor.connection {
                ledger.accepted[id]?.expires = min(accepted.expires, end)
            }
        }
    }

    private static let stopping = ItemVerdict(.busy, reason: "the receiver is stopping")

    // MARK: Contents

    /// Opens an accepted transfer for its contents; can be done once, by the peer whose offer it was.
    /// - Parameters:
    ///   - binding: how far the contents are held to the offer; what the dialect's offers are worth.
    ///   - interrupt: ends the connection on which the contents come; called from any thread when the sender offers the
    ///     transfer again.
    /// - Throws: `notAccepted`; the same for a transfer that is unknown, another's, or over. `storage` where the journal
    ///   does not say what has come of it before.
    package func begin(
        _ id: TransferID, from peer: PeerID, binding: OfferBinding = .exact,
        interrupt: @escaping @Sendable () -> Void = {}
    ) throws(TransferFault) -> IncomingTransfer {
        let begun: (Accepted, TransferPulse)? = ledger.withLock { ledger in
            guard let accepted = ledger.accepted[id], accepted.claim.peer == peer, accepted.expires > .now,
                !ledger.isStopping
            else { return nil }
            ledger.accepted[id] = nil
            let receiving = Receiving(
                claim: accepted.claim, interrupt: interrupt, offer: accepted.offer, turn: accepted.turn)
            ledger.receiving[id] = receiving
            ledger.finished[id]?.hasEnded = false
            return (accepted, receiving.pulse)
        }
        guard let (accepted, pulse) = begun else {
            throw TransferFault(.notAccepted, "no accepted offer covers this transfer")
        }
        let earlier: [Arrival]
        do {
            earlier = try journal.arrivals(of: id, from: peer)
        } catch {
            ledger.withLock { ledger in
                ledger.receiving[id] = nil
                ledger.finished[id]?.hasEnded = true
            }
            throw TransferFault(.storage, error.description)
        }
        memory?.began(id, from: peer, arrivals: earlier.count)
        let total = accepted.offer.knownSize
        let observe = self.observe
        observe(.began(accepted.offer, from: peer))
        // Known sizes were judged with the offer; only unknown ones need a bound here.
        let mostBytes =
            accepted.offer.items.contains { $0.size == nil || $0.entries == nil }
            ? quota?.allowance(for: peer, underWay: bytesUnderWay(from: peer, besides: id)) : nil
        // What is kept of a stranger's counts as well, and makes room for what comes now.
        if let most = quota?.allowance(for: peer, underWay: bytesUnderWay(from: peer)) {
            inbox.boundKept(of: peer, to: most, besides: accepted.offer.items)
        }
        return IncomingTransfer(
            offer: accepted.offer,
            verdict: accepted.verdict,
            peer: peer,
            binding: binding,
            inbox: inbox,
            journal: journal,
            mostBytes: mostBytes,
            earlier: earlier,
            turn: accepted.turn,
            storings: accepted.storings,
            // A liar is handed to nobody: it stays in the Inbox, marked.
            isDelivered: { [delivery] in $0.content?.outcome != .lying && delivery.takes($0) },
            stored: { [self] in arrived($0) },
            progressed: { received in
                guard pulse.beat(received) else { return }
                observe(.progressed(id, from: peer, received: received, of: total))
            }
        )
    }

    /// Other transfers of the peer that are being received and have an item of the same kind, name and type.
    func rivals(of offer: Offer, from peer: PeerID) -> [(pulse: TransferPulse, interrupt: @Sendable () -> Void)] {
        let others = ledger.withLock { ledger in
            ledger.receiving.filter { $0.key != offer.transfer && $0.value.claim.peer == peer }.map(\.value)
        }
        if others.isEmpty { return [] }
        let wanted = Set(offer.items.map(ItemLikeness.init))
        return others.filter { other in other.offer.items.contains { wanted.contains(ItemLikeness($0)) } }
            .map { ($0.pulse, $0.interrupt) }
    }

    /// Lets an accepted transfer wait for its contents for so long from now.
    /// - Returns: nil where there is no such transfer.
    func holdOpen(_ id: TransferID, from peer: PeerID, for time: Duration) -> (Offer, Verdict)? {
        ledger.withLock { ledger in
            guard let accepted = ledger.accepted[id], accepted.claim.peer == peer, accepted.expires > .now else {
                return nil
            }
            ledger.accepted[id]?.expires = .now + time
            return (accepted.offer, accepted.verdict)
        }
    }

    /// Closes a transfer that `begin` opened. Must be called once for each, whatever happened.
    /// - Returns: the receipt with what handlers have said by now.
    @discardableResult
    package func end(_ transfer: IncomingTransfer, _ receipt: Receipt, fault: TransferFault?) -> Receipt {
        let id = transfer.offer.transfer
        let tally = transfer.tally
        memory?.ended(id, stored: tally.storedNow, isWhole: tally.isWhole)
        let (merged, waiters): (Receipt, [CheckedContinuation<Receipt?, Never>]) = ledger.withLock { ledger in
            ledger.receiving[id] = nil
            // Handlers may have answered for items that were stored early: their answers are in `finished` already.
            var merged = receipt
            if let early = ledger.finished[id] {
                for index in merged.items.indices { merged.items[index].handler = early.receipt.items[index].handler }
            }
            var entry = ledger.finished[id] ?? Finished(peer: transfer.peer, receipt: merged)
            entry.receipt = merged
            entry.hasEnded = true
            let waiters = entry.isAnswered ? entry.waiters : [:]
            if entry.isAnswered { entry.waiters = [:] }
            if ledger.finished.updateValue(entry, forKey: id) == nil { Self.remember(id, in: &ledger) }
            return (merged, Array(waiters.values))
        }
        for waiter in waiters { waiter.resume(returning: merged) }
        delivery.transferEnded(id, from: transfer.peer)
        observe(.ended(id, from: transfer.peer, merged, fault))
        return merged
    }

    private static func remember(_ id: TransferID, in ledger: inout Ledger) {
        ledger.finishedOrder.append(id)
        ledger.rememberedItems += ledger.finished[id]?.receipt.items.count ?? 0
        while ledger.finishedOrder.count > Limits.rememberedReceipts || ledger.rememberedItems > Limits.rememberedItems
        {
            // The oldest that nobody waits for.
            let index = ledger.finishedOrder.firstIndex { $0 != id && ledger.finished[$0]?.isAnswered ?? true }
            guard let index else { return }
            let forgotten = ledger.finished.removeValue(forKey: ledger.finishedOrder.remove(at: index))
            ledger.rememberedItems -= forgotten?.receipt.items.count ?? 0
        }
    }

    // MARK: Receipts

    /// The receipt of a transfer that has ended, with what handlers have said so far.
    /// - Parameter answered: wait until all handlers have answered.
    /// - Returns: nil for a transfer that is unknown, another's, or when the task was cancelled while waiting.
    package func receipt(of id: TransferID, from peer: PeerID, answered: Bool) async -> Receipt? {
        let isUnknown = ledger.withLock { $0.finished[id] == nil && $0.receiving[id] == nil }
        if isUnknown { return journalledReceipt(of: id, from: peer) }
        let waiter = ledger.withLock { ledger in
            ledger.nextWaiter += 1
            return ledger.nextWaiter
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Receipt?, Never>) in
                let now: Receipt?? = ledger.withLock { ledger in
                    guard let entry = ledger.finished[id], entry.peer == peer, entry.hasEnded else { return .some(nil) }
                    if !answered || entry.isAnswered || ledger.isStopping { return entry.receipt }
                    // Cancelled before it was entered: nobody else would resume it.
                    if Task.isCancelled { return .some(nil) }
                    ledger.finished[id]?.waiters[waiter] = continuation
                    return nil
                }
                if let now { continuation.resume(returning: now) }
            }
        } onCancel: {
            let continuation = ledger.withLock { $0.finished[id]?.waiters.removeValue(forKey: waiter) }
            continuation?.resume(returning: nil)
        }
    }

    /// What the journal says of a transfer that an earlier process received, or that was forgotten here: what it does not
    /// mention has not been stored. What handlers have said is not told again.
    private func journalledReceipt(of id: TransferID, from peer: PeerID) -> Receipt? {
        guard let arrivals = try? journal.arrivals(of: id, from: peer), let first = arrivals.first,
            (1...Limits.items).contains(first.itemsInOffer)
        else { return nil }
        var receipt = Receipt(
            transfer: id, items: Array(repeating: ItemReceipt(.notSent), count: first.itemsInOffer))
        for arrival in arrivals where receipt.items.indices.contains(arrival.itemNumber) {
            receipt.items[arrival.itemNumber] = ItemReceipt(arrival)
        }
        return receipt
    }

    private func arrived(_ arrivals: [IncomingTransfer.StoredArrival]) {
        for stored in arrivals { observe(.stored(stored.arrival)) }
        let delivered = arrivals.filter(\.awaitsDelivery).map(\.arrival)
        guard !delivered.isEmpty else { return }
        for arrival in delivered { note(HandlerAnswer(.pending), for: arrival) }
        delivery.deliver(delivered) { [self] arrival, answer in
            note(answer, for: arrival)
            observe(.opened(arrival, answer))
        }
    }

    private func note(_ answer: HandlerAnswer, for arrival: Arrival) {
        let (receipt, waiters): (Receipt?, [CheckedContinuation<Receipt?, Never>]) = ledger.withLock { ledger in
            let id = arrival.transfer
            if ledger.finished[id] == nil {
                guard ledger.receiving[id] != nil else { return (nil, []) }
                let blank = Array(repeating: ItemReceipt(.notSent), count: arrival.itemsInOffer)
                ledger.finished[id] = Finished(peer: arrival.peer, receipt: Receipt(transfer: id, items: blank))
                Self.remember(id, in: &ledger)
            }
            let old = ledger.finished[id]?.receipt.items[arrival.itemNumber].handler.state
            ledger.finished[id]?.receipt.items[arrival.itemNumber].handler = answer
            ledger.finished[id]?.pending += (answer.state == .pending ? 1 : 0) - (old == .pending ? 1 : 0)
            guard let entry = ledger.finished[id], entry.isAnswered else { return (nil, []) }
            ledger.finished[id]?.waiters = [:]
            return (entry.receipt, Array(entry.waiters.values))
        }
        for waiter in waiters { waiter.resume(returning: receipt) }
    }

    /// Transfers that were accepted and have not ended.
    package var openTransfers: Int {
        ledger.withLock { ledger in
            let now = ContinuousClock.now
            return ledger.receiving.count + ledger.accepted.values.count { $0.expires > now }
        }
    }

    /// No new offers, no new contents; those who wait for receipts get what there is.
    package func stop() {
        let waiters = ledger.withLock { ledger in
            ledger.isStopping = true
            ledger.accepted = [:]
            var waiters: [(CheckedContinuation<Receipt?, Never>, Receipt)] = []
            for id in ledger.finished.keys {
                guard let entry = ledger.finished[id] else { continue }
                waiters += entry.waiters.values.map { ($0, entry.receipt) }
                ledger.finished[id]?.waiters = [:]
            }
            return waiters
        }
        for (waiter, receipt) in waiters { waiter.resume(returning: receipt) }
    }
}
