/// What becomes of an item whose name is taken where it should go. Nothing that exists is ever replaced.
package enum ConflictRule: String, Sendable, Codable, CaseIterable {
    /// It gets a number: `name-1.ext`.
    case keepBoth = "keep-both"
    /// It is not taken.
    case skip

    package static let taken = "something of that name is there already"
}

/// Declines what others have accepted and whose name is taken. After them, so that nobody learns what lies in an Inbox
/// by offering things that are declined anyway.
package struct ConflictConsent: ConsentAsking {
    private let asking: any ConsentAsking
    private let isTaken: @Sendable (SafeName, SafeRelativePath?) -> Bool

    /// - Parameter isTaken: whether something of that name lies in that folder below the Inbox (nil: the Inbox itself); may
    ///   look at the disk.
    package init(asking: any ConsentAsking, isTaken: @escaping @Sendable (SafeName, SafeRelativePath?) -> Bool) {
        self.asking = asking
        self.isTaken = isTaken
    }

    package func consent(to offer: Offer, from peer: PeerID, freeRoom: UInt64) async -> [ItemVerdict] {
        let verdicts = await asking.consent(to: offer, from: peer, freeRoom: freeRoom)
        // Too few of them are found out by whoever asked.
        guard verdicts.count == offer.items.count else { return verdicts }
        return zip(offer.items, verdicts).map { item, verdict in
            guard verdict.answer == .accepted, isTaken(item.name, verdict.destination.folder) else { return verdict }
            return ItemVerdict(.declined, reason: ConflictRule.taken)
        }
    }
}
