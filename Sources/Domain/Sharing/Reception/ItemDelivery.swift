import ContentCheck

/// Hands stored items to the handlers, and their answers to the receipts and the listeners.
final class ItemDelivery: Sendable {
    /// The results of commits that the journal could not record yet.
    let unsettled = UnsettledResults()
    private let transfers: OpenTransfers
    private let receipts: TransferReceipts
    private let journal: any ArrivalJournal
    private let delivery: any Delivering
    private let events: Listeners<Reception.Event>

    init(
        _ transfers: OpenTransfers, _ receipts: TransferReceipts, journal: any ArrivalJournal,
        delivery: any Delivering, events: Listeners<Reception.Event>
    ) {
        (self.transfers, self.receipts, self.journal) = (transfers, receipts, journal)
        (self.delivery, self.events) = (delivery, events)
    }

    /// Whether any handler will be asked about an item. A liar is handed to no handler: it stays in the Inbox, marked.
    func takes(_ facts: ArrivalFacts) -> Bool { facts.content?.outcome != .lying && delivery.takes(facts) }

    /// Items of one event: a copy of a whole batch would take memory.
    private static let toldAtOnce = 16

    /// Items are in the Inbox.
    func arrived(_ arrivals: [IncomingTransfer.StoredArrival]) {
        transfers.with { ledger in
            for stored in arrivals { ledger.note(stored: stored.arrival) }
        }
        var rest = arrivals[...]
        while !rest.isEmpty {
            events.tell(.stored(rest.prefix(Self.toldAtOnce).map(\.arrival)))
            rest = rest.dropFirst(Self.toldAtOnce)
        }
        deliver(arrivals.filter(\.awaitsDelivery).map(\.arrival))
    }

    /// Records what the journal could not record before, and delivers it. Blocks on the disk.
    func settleAgain() {
        let settled = unsettled.settle(in: journal)
        deliver(settled)
        // The handlers take an arrival for one of a transfer that goes on.
        for arrival in settled where !transfers.with({ $0.isReceiving(arrival.transfer) }) {
            delivery.transferEnded(arrival.transfer, from: arrival.peer)
        }
    }

    private func deliver(_ delivered: [Arrival]) {
        guard !delivered.isEmpty else { return }
        for arrival in delivered { receipts.note(HandlerAnswer(.pending), for: arrival) }
        delivery.deliver(delivered) { [receipts, events] arrival, answer in
            receipts.note(answer, for: arrival)
            events.tell(.opened(arrival, answer))
        }
    }
}
