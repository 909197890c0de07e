import Digests

/// The earlier arrivals of an item, in any transfer, that seem to be in the Inbox still. A message has none: each is new.
package struct EarlierArrivals: Sendable {
    /// Maximum number of arrivals to check for one item, the latest first.
    private static let limit = 4

    private let inbox: any InboxStoring
    private let journal: any ArrivalJournal

    package init(inbox: any InboxStoring, journal: any ArrivalJournal) {
        self.inbox = inbox
        self.journal = journal
    }

    package func contain(_ item: OfferedItem, from peer: PeerID) -> Bool {
        latest(item, from: peer) != nil
    }

    package func latest(_ item: OfferedItem, from peer: PeerID) -> Arrival? {
        candidates(item, from: peer).first { inbox.seemsPresent($0) }
    }

    /// The digest that the sender knows of the latest one that can be read now.
    func latestDigest(_ item: OfferedItem, from peer: PeerID, _ algorithm: DigestAlgorithm) -> Digest? {
        for arrival in candidates(item, from: peer) where inbox.seemsPresent(arrival) {
            if let digest = inbox.contentDigests(of: arrival)?.sent, digest.algorithm == algorithm { return digest }
        }
        return nil
    }

    /// The one whose contents have this digest now; reads them.
    /// - Parameters:
    ///   - digest: by `DigestAlgorithm.lasting`; any other tells nothing apart.
    ///   - transfer: its own arrivals do not count.
    func verified(
        _ item: OfferedItem, from peer: PeerID, _ digest: Digest, besides transfer: TransferID? = nil
    ) -> Arrival? {
        guard digest.algorithm == .lasting else { return nil }
        return candidates(item, from: peer).first { arrival in
            guard arrival.transfer != transfer, inbox.seemsPresent(arrival) else { return false }
            // Spares the reading. An older Waft recorded another digest, which says nothing here.
            let known = inbox.contentDigests(of: arrival)
            guard let lasting = known?.lasting, lasting.algorithm == .lasting else {
                return (try? inbox.digest(of: arrival, .lasting)) == digest
            }
            // The sender's own differs if the disk keeps no executable bits, or if the tree came in another order.
            guard known?.all.contains(digest) == true else { return false }
            return (try? inbox.digest(of: arrival, .lasting)) == lasting
        }
    }

    /// Whether an offer is a new call of the handlers of an item that is there already: its sender wants their answer, or
    /// says something else about the item than before.
    static func isCall(_ offer: Offer, about arrival: Arrival) -> Bool {
        offer.asksHandlers
            || SourceApplication.removed(from: offer.annotation) != SourceApplication.removed(from: arrival.annotation)
    }

    /// The receipt for an item that the same transfer has brought before, with the answer of its handlers so far.
    static func receipt(
        of arrival: Arrival, _ digests: ContentDigests, _ journal: any ArrivalJournal
    ) -> ItemReceipt {
        let state = try? journal.deliveryState(of: arrival.number)
        return ItemReceipt(
            // An item that is sent again was found by this digest.
            arrival, digest: (arrival.again == nil ? nil : digests.lasting) ?? digests.sent,
            handler: HandlerAnswer((state ?? nil) ?? .none))
    }

    /// Records that an item of the Inbox was sent again.
    /// - Parameters:
    ///   - arrival: the latest one of the item.
    ///   - isDelivered: whether handlers are to be asked.
    /// - Throws: `notKept` if the item has left the Inbox; `storage` or `noRoom` if it cannot be recorded.
    func sendAgain(
        _ arrival: Arrival, by offer: Offer, _ number: Int, _ verdict: ItemVerdict,
        isDelivered: (ArrivalFacts) -> Bool
    ) throws(TransferError) -> IncomingTransfer.StoredArrival {
        var facts = arrival.facts
        (facts.transfer, facts.itemNumber, facts.itemsInOffer) = (offer.transfer, number, offer.items.count)
        (facts.item, facts.senderName, facts.annotation) = (offer.items[number], offer.senderName, offer.annotation)
        facts.dialect = offer.dialect
        facts.destination = Destination(
            handler: verdict.destination.handler.flatMap { try? SafeName($0) }, folder: arrival.destination.folder,
            protection: arrival.destination.protection)
        let isDelivered = isDelivered(facts)
        let again = try journal.sendAgain(facts, of: arrival.holder, isDelivered: isDelivered)
        return IncomingTransfer.StoredArrival(arrival: again, awaitsDelivery: isDelivered)
    }

    /// The receipt for an item whose contents are in the Inbox, with the answer that its handlers gave when it came.
    /// - Parameter digest: that of its sender.
    func receipt(_ arrival: Arrival, digest: Digest) -> ItemReceipt {
        let state = try? journal.deliveryState(of: arrival.number)
        var receipt = ItemReceipt(
            arrival, digest: digest, handler: HandlerAnswer((state ?? nil) ?? .none), isAlready: true)
        // The call was for another transfer.
        receipt.isAgain = false
        return receipt
    }

    private func candidates(_ item: OfferedItem, from peer: PeerID) -> [Arrival] {
        item.kind.isMessage ? [] : (try? journal.earlier(item, from: peer, limit: Self.limit)) ?? []
    }
}
