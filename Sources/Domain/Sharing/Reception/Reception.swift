import ContentCheck
import Digests

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
        /// Items of one transfer that are in the Inbox now; at least one.
        case stored([Arrival])
        case opened(Arrival, HandlerAnswer)
        /// Once for each acceptance, also if its contents have not come; not for one that waits when the receiver stops.
        case ended(TransferID, from: PeerID, Receipt, TransferError?)
    }

    /// Room for the messages of all peers while they are read.
    package let bodies = MemoryBudget()

    let inbox: any InboxStoring
    let known: KnownItems
    let transfers: OpenTransfers
    private let journal: any ArrivalJournal
    private let gate: any OfferGating
    private let offers: OfferAnswers
    private let receipts: TransferReceipts
    private let items: ItemDelivery
    private let delivery: any Delivering
    private let memory: ConsentMemory?
    private let rules: ReceptionRules
    private let events: Listeners<Event>

    /// - Parameters:
    ///   - gate: refuses offers before they take common resources, and knows the contacts, which have a reserved share.
    ///   - memory: learns which transfers begin and end; `consent` must include its wrapper.
    ///   - events: hear of each event.
    package init(
        inbox: any InboxStoring, journal: any ArrivalJournal, gate: any OfferGating, consent: any ConsentAsking,
        delivery: any Delivering, memory: ConsentMemory? = nil, rules: ReceptionRules = ReceptionRules(),
        events: Listeners<Event>
    ) {
        (self.inbox, self.journal, self.gate, self.delivery) = (inbox, journal, gate, delivery)
        (self.memory, self.rules, self.events) = (memory, rules, events)
        known = KnownItems(inbox: inbox, journal: journal)
        transfers = OpenTransfers(events)
        offers = OfferAnswers(
            inbox: inbox, known: known, gate: gate, consent: consent, rules: rules, transfers: transfers,
            events: events)
        receipts = TransferReceipts(transfers, inbox: inbox, journal: journal, delivery: delivery)
        items = ItemDelivery(transfers, receipts, journal: journal, delivery: delivery, events: events)
    }

    // MARK: Offers

    /// The answers that are known before the offer is judged: by eligibility alone. Nil for an item that needs a judgement.
    package func ineligible(in offer: Offer) -> [ItemVerdict?] { offers.ineligible(in: offer) }

    /// The current rights of a peer. Ask before reading its offers, so that a barred peer takes no resources.
    package func access(of peer: PeerID, by dialect: Dialect) -> PeerAccess { gate.access(of: peer, by: dialect) }

    /// Whether the previews in a peer's offers are shown. Ask before reading its offers, and keep no others.
    package func takesPreviews(by access: PeerAccess) -> Bool {
        rules.previews().includes(contact: access == .contact)
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
        await offers.judge(whole, from: visitor, withdrawn: withdrawn)
    }

    /// Notes that a connection has closed: its accepted transfers that have not begun expire after `departedWait`.
    package func left(_ visitor: Visitor) {
        transfers.with { $0.leave(visitor.connection, until: .now + rules.departedWait) }
        transfers.expire()
    }

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
            let (accepted, pulse) = transfers.with({ $0.begin(id, from: peer, at: .now, interrupt: interrupt) })
        else { throw TransferError(.notAccepted, "no accepted offer covers this transfer") }
        let earlier: [Arrival]
        do {
            earlier = try journal.arrivals(of: id, from: peer)
        } catch {
            receipts.change { ledger in (ledger.abandon(id).map { [$0] } ?? [], ()) }
            let fault = TransferError(.storage, error.description)
            transfers.neverBegan(accepted, fault)
            throw fault
        }
        memory?.began(id, from: peer, arrivals: earlier.count)
        events.tell(.began(accepted.offer, from: peer))
        return incoming(accepted, from: peer, binding, earlier, pulse)
    }

    private func incoming(
        _ accepted: TransferLedger.Accepted, from peer: PeerID, _ binding: OfferBinding, _ earlier: [Arrival],
        _ pulse: TransferPulse
    ) -> IncomingTransfer {
        let (id, total) = (accepted.offer.transfer, accepted.offer.knownSize)
        return IncomingTransfer(
            offer: accepted.offer,
            verdict: accepted.verdict,
            peer: peer,
            binding: binding,
            storage: ArrivalStorage(
                inbox, journal, unsettled: items.unsettled, turn: accepted.turn, storings: accepted.storings,
                isDelivered: { [items] in items.takes($0) }),
            bound: bound(accepted, from: peer),
            earlier: earlier
        ) { [items, events] report in
            switch report {
            case .stored(let arrivals): items.arrived(arrivals)
            case .progressed(let received):
                if pulse.beat(received) { events.tell(.progressed(id, from: peer, received: received, of: total)) }
            }
        }
    }

    /// Bounds the contents of a stranger, and the parts that are kept of it, by its quota.
    /// - Returns: the bound of the contents; nil for none.
    private func bound(_ accepted: TransferLedger.Accepted, from peer: PeerID) -> ContentsBound? {
        let offer = accepted.offer
        // Known sizes were judged with the offer; only unknown ones need a bound here.
        let bound =
            offer.items.contains { $0.size == nil || $0.entries == nil }
            ? rules.quota?.bound(for: peer, underWay: transfers.footprint(of: peer, besides: offer.transfer)) : nil
        // The stranger's kept parts count as well, and are removed to make room for new contents.
        if let most = rules.quota?.allowance(for: peer, underWay: transfers.footprint(of: peer)) {
            inbox.boundKept(
                of: peer, to: most, besides: offer.items,
                protections: accepted.verdict.items.map(\.destination).map { $0.protection ?? .none })
        }
        return bound
    }

    /// Lets an accepted transfer wait for its contents for so long from now.
    /// - Returns: nil if the peer has no such transfer.
    func holdOpen(_ id: TransferID, from peer: PeerID, for time: Duration) -> (Offer, Verdict)? {
        let now = ContinuousClock.now
        return transfers.with { $0.hold(id, from: peer, at: now, until: now + time) }
    }

    /// Closes a transfer that `begin` opened. Must be called once for each, also for one that failed.
    /// - Returns: the receipt with the handlers' answers so far.
    @discardableResult
    package func end(_ transfer: IncomingTransfer, _ receipt: Receipt, fault: TransferError?) -> Receipt {
        let id = transfer.offer.transfer
        let tally = transfer.tally
        let isCancelled = transfers.with { $0.isCancelled(id) }
        let fault = isCancelled && fault != nil ? Self.cancelledHere : fault
        memory?.ended(id, stored: tally.storedNow, isWhole: tally.isWhole || isCancelled)
        let unanswered = transfer.unanswered
        for arrival in unanswered { receipts.note(HandlerAnswer(.pending), for: arrival) }
        let merged = receipts.change { ledger in
            let ended = ledger.end(id, from: transfer.peer, receipt)
            return ([ended], ended.receipt)
        }
        receipts.follow(unanswered)
        delivery.transferEnded(id, from: transfer.peer)
        events.tell(.ended(id, from: transfer.peer, merged, fault))
        return merged
    }

    private static let cancelledHere = TransferError(.cancelled, "it was cancelled here")

    /// Cancels an accepted transfer for the user. It is declined when its sender offers it again.
    /// - Returns: whether it was under way.
    package func cancel(_ id: TransferID) -> Bool {
        switch transfers.with({ $0.cancel(id, at: .now) }) {
        case .receiving(let interrupt): interrupt()
        case .waiting(let accepted):
            memory?.ended(id, stored: 0, isWhole: true)
            transfers.neverBegan(accepted, Self.cancelledHere)
        case nil: return false
        }
        return true
    }

    /// The transfers that are under way, by the beginning of their offers.
    package var underWay: [(offer: Offer, peer: PeerID)] { transfers.with { $0.underWay(at: .now) } }

    /// Whether the user has cancelled a transfer here.
    package func isCancelled(_ id: TransferID) -> Bool { transfers.with { $0.isCancelled(id) } }

    /// Transfers that were accepted and have not ended.
    package var openTransfers: Int { transfers.with { $0.openTransfers(at: .now) } }

    /// Ends the connections of the transfers that bring an item of a protection. What has come of it is kept.
    package func interrupt(_ protection: ProtectionClass) {
        for interrupt in transfers.with({ $0.interrupts(of: protection) }) { interrupt() }
    }

    // MARK: Receipts

    /// The receipt of a transfer that has ended, with the handlers' answers so far.
    /// - Parameter answered: wait until all handlers have answered.
    /// - Returns: nil for a transfer that is unknown, another's, or when the task was cancelled while waiting.
    package func receipt(of id: TransferID, from peer: PeerID, answered: Bool) async -> Receipt? {
        await receipts.receipt(of: id, from: peer, answered: answered)
    }

    /// The number of stored items that the journal could not record yet.
    package var unsettledItems: Int { items.unsettled.count }

    /// Records what the journal could not record before, and delivers it. Blocks on the disk.
    package func settleAgain() { items.settleAgain() }

    /// No new offers, no new contents; tasks that wait for receipts get them as they are.
    package func stop() {
        receipts.change { ledger in (ledger.stop(), ()) }
    }
}
