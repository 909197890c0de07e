import UniformTypes

extension CommitBatch {
    /// The end of the name of a tree that lacks a part.
    private static let lackMark = " (incomplete)"

    /// An item as it is stored: a tree of which a part is missing does not look whole.
    func offered(_ item: WholeItem) -> OfferedItem {
        var offered = offer.items[item.number]
        guard item.lack != nil else { return offered }
        offered.name = SafeName(fitting: offered.name.text + Self.lackMark)
        (offered.size, offered.entries) = (item.bytes, item.entries)
        return offered
    }

    func facts(of item: WholeItem) -> ArrivalFacts {
        var facts = ArrivalFacts(
            transfer: offer.transfer,
            itemNumber: item.number,
            itemsInOffer: offer.items.count,
            item: offered(item),
            size: item.bytes,
            entries: item.entries,
            digest: item.sealed?.stored ?? item.digest,
            sentDigest: item.sealed != nil || item.sentDigest == item.digest ? nil : item.sentDigest,
            sealedContents: item.sealed?.contents,
            peer: peer,
            senderName: offer.senderName,
            annotation: offer.annotation,
            content: item.content,
            destination: verdict.items[item.number].destination,
            dialect: offer.dialect
        )
        facts.ownDigest = item.sealed != nil || item.ownDigest == item.digest ? nil : item.ownDigest
        return facts
    }
}
