import ContentCheck
import UniformTypes

/// The steps of a whole item that need neither the other items of its batch nor the journal.
extension WholeItem {
    /// The end of the name of a tree that lacks a part.
    private static let lackMark = " (incomplete)"

    /// Checks its contents, and labels it with its origin, unless that was done.
    ///
    /// It is refused if its contents cannot be read, or if it was accepted because of a type that it does not have. Then it
    /// is kept or discarded.
    mutating func prepare(_ offer: Offer, _ verdict: Verdict, from peer: PeerID) {
        guard !isPrepared else { return }
        isPrepared = true
        do throws(TransferError) {
            try lookInto(offer.items[number], verdict.items[number])
            try staged.label(facts(offer, verdict, from: peer))
        } catch {
            if error.isResumable { staged.keep() } else { staged.discard() }
            refusal = error
        }
    }

    private mutating func lookInto(_ offered: OfferedItem, _ verdict: ItemVerdict) throws(TransferError) {
        guard let claim = ContentClaim(offered, admittedAs: verdict.admittedAs) else { return }
        content = try staged.contentVerdict(on: claim)
        if let content, content.outcome == .lying, !claim.admittedAs.isEmpty {
            throw TransferError(.notAsDeclared, "\(offered.name) is not stored: \(content.explanation)")
        }
    }

    /// The item as it is stored: a tree of which a part is missing does not look whole.
    func offered(in offer: Offer) -> OfferedItem {
        var offered = offer.items[number]
        guard lack != nil else { return offered }
        offered.name = SafeName(fitting: offered.name.text + Self.lackMark)
        (offered.size, offered.entries) = (bytes, entries)
        return offered
    }

    func facts(_ offer: Offer, _ verdict: Verdict, from peer: PeerID) -> ArrivalFacts {
        var facts = ArrivalFacts(
            transfer: offer.transfer,
            itemNumber: number,
            itemsInOffer: offer.items.count,
            item: offered(in: offer),
            size: bytes,
            entries: entries,
            digest: sealed?.stored ?? digest,
            sentDigest: sealed != nil || sentDigest == digest ? nil : sentDigest,
            sealedContents: sealed?.contents,
            peer: peer,
            senderName: offer.senderName,
            annotation: offer.annotation,
            content: content,
            destination: verdict.items[number].destination,
            dialect: offer.dialect
        )
        facts.ownDigest = sealed != nil || ownDigest == digest ? nil : ownDigest
        return facts
    }
}
