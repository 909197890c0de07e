/// The rule for an item whose name is taken at its destination. Existing files are never replaced.
package enum ConflictRule: String, Sendable, Codable, CaseIterable {
    /// It gets a number: `name-1.ext`.
    case keepBoth = "keep-both"
    /// It is not taken.
    case skip

    package static let taken = "the name exists already"
}

/// Declines accepted items whose names are taken. It runs last, so that a peer cannot learn the names in an Inbox by
/// offering items that are declined anyway.
package struct ConflictConsent: ConsentAsking {
    private let asking: any ConsentAsking
    private let isTaken: @Sendable (SafeName, SafeRelativePath?) -> Bool
    private let isKnown: @Sendable (OfferedItem, PeerID) -> Bool

    /// Both may look at the disk.
    ///
    /// - Parameters:
    ///   - isTaken: whether that name is taken in that folder below the Inbox (nil: the Inbox itself).
    ///   - isKnown: whether the item there seems to be this very item. Then its digest decides: the same item is there
    ///   already, and another item's contents are not stored beside it.
    package init(
        asking: any ConsentAsking, isTaken: @escaping @Sendable (SafeName, SafeRelativePath?) -> Bool,
        isKnown: @escaping @Sendable (OfferedItem, PeerID) -> Bool = { _, _ in false }
    ) {
        self.asking = asking
        self.isTaken = isTaken
        self.isKnown = isKnown
    }

    package func consent(
        to offer: Offer, from peer: PeerID, freeRoom: UInt64, waits: @escaping @Sendable () -> Void
    ) async -> [ItemVerdict] {
        let verdicts = await asking.consent(to: offer, from: peer, freeRoom: freeRoom, waits: waits)
        // The caller detects a wrong number of verdicts.
        guard verdicts.count == offer.items.count else { return verdicts }
        return zip(offer.items, verdicts).map { item, verdict in
            // A message that comes again is another one.
            guard verdict.answer == .accepted, !item.kind.isMessage, isTaken(item.name, verdict.destination.folder),
                !isKnown(item, peer)
            else {
                return verdict
            }
            return ItemVerdict(.declined, reason: ConflictRule.taken, cause: .rule)
        }
    }
}
