/// The rule for an item whose name is taken at its destination. Existing files are never replaced.
package enum ConflictRule: String, Sendable, Codable, CaseIterable {
    /// It gets a number: `name-1.ext`.
    case keepBoth = "keep-both"
    /// It is not taken.
    case skip

    package static let taken = "the name exists already"
}

/// Declines what others have accepted and whose name is taken. After them, so that nobody learns what lies in an Inbox
/// by offering things that are declined anyway.
package struct ConflictConsent: ConsentAsking {
    private let asking: any ConsentAsking
    private let isTaken: @Sendable (SafeName, SafeRelativePath?) -> Bool
    private let isKnown: @Sendable (OfferedItem, PeerID) -> Bool

    /// Both may look at the disk.
    ///
    /// - Parameters:
    ///   - isTaken: whether something of that name lies in that folder below the Inbox (nil: the Inbox itself).
    ///   - isKnown: whether what lies there seems to be this very item. Then it is left to its digest: what is the same is
    ///     there already, and the contents of another do not come to lie beside it.
    package init(
        asking: any ConsentAsking, isTaken: @escaping @Sendable (SafeName, SafeRelativePath?) -> Bool,
        isKnown: @escaping @Sendable (OfferedItem, PeerID) -> Bool = { _, _ in false }
    ) {
        self.asking = asking
        self.isTaken = isTaken
        self.isKnown = isKnown
    }

    package func consent(to offer: Offer, from peer: PeerID, freeRoom: UInt64) async -> [ItemVerdict] {
        let verdicts = await asking.consent(to: offer, from: peer, freeRoom: freeRoom)
        // Too few of them are found out by whoever asked.
        guard verdicts.count == offer.items.count else { return verdicts }
        return zip(offer.items, verdicts).map { item, verdict in
            guard verdict.answer == .accepted, isTaken(item.name, verdict.destination.folder), !isKnown(item, peer)
            else {
                return verdict
            }
            return ItemVerdict(.declined, reason: ConflictRule.taken)
        }
    }
}
