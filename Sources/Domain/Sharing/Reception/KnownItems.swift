import Digests

/// The items of an offer that are here already. Reads the disk and the journal.
struct KnownItems: Sendable {
    let inbox: any InboxStoring
    let journal: any ArrivalJournal

    /// Adds to a verdict the accepted items that are already here: whole ones in the Inbox, and kept parts of
    /// interrupted attempts. Reads the disk and the journal.
    func recognising(_ offer: Offer, _ verdict: Verdict, from peer: PeerID) -> Verdict {
        guard verdict.acceptsAnything else { return verdict }
        var verdict = verdict
        let stored = (try? journal.arrivals(of: offer.transfer, from: peer)) ?? []
        let ofTransfer = Dictionary(stored.map { ($0.itemNumber, $0) }) { _, later in later }
        let names = earlierNames(of: offer, verdict, from: peer)
        let owner = inbox.hasKept(of: peer) ? PartialKey.owner(peer) : nil
        for (number, item) in offer.items.enumerated() where verdict.items[number].answer == .accepted {
            guard item.size != nil else { continue }
            if let arrival = ofTransfer[number], arrival.item == item,
                let digest = inbox.contentDigests(of: arrival)?.sent, digest.algorithm == verdict.digest
            {
                // This transfer has stored it, even if it has left the Inbox since.
                verdict.items[number].present = digest
            } else if offer.dialect.givesReceipts, names.contains(item.name) {
                verdict.items[number].present =
                    EarlierArrivals(inbox: inbox, journal: journal).latestDigest(item, from: peer, verdict.digest)
            }
            let protection = verdict.items[number].destination.protection ?? .none
            guard let key = owner.flatMap({ PartialKey(item, ofOwner: $0, protection: protection) }) else { continue }
            verdict.items[number].hasKept = inbox.hasKept(key)
        }
        return verdict
    }

    /// The names of items that may be here by another transfer.
    private func earlierNames(of offer: Offer, _ verdict: Verdict, from peer: PeerID) -> Set<SafeName> {
        guard offer.dialect.givesReceipts else { return [] }
        let items = zip(offer.items, verdict.items).filter { $1.answer == .accepted && !$0.kind.isMessage }
        return (try? journal.known(Set(items.map(\.0.name)), from: peer)) ?? []
    }

    /// The offer without the items that seem to be here already. One that may be sent again counts as an empty file, as
    /// the journal counts it.
    func coming(of offer: Offer, from peer: PeerID) -> Offer {
        // As the journal has the items.
        let offer = offer.bare()
        let all = Verdict(all: .accepted, count: offer.items.count, digest: offer.digests.first ?? .xxh3_128)
        let known = recognising(offer, all, from: peer).items
        if known.allSatisfy({ $0.present == nil }) { return offer }
        let mayCall = offer.asksHandlers || !SourceApplication.removed(from: offer.annotation).isEmpty
        var coming = offer
        coming.items = offer.items.indices.compactMap { number in
            var item = offer.items[number]
            if known[number].present == nil { return item }
            (item.size, item.entries) = (0, 1)
            return mayCall ? item : nil
        }
        return coming
    }
}
