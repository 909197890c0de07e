/// The share of the common resources that an offer takes.
struct OfferClaim: Sendable {
    var peer: PeerID
    /// The address from which it came; nil if unknown.
    var address: AddressKey?
    var isContact: Bool
    var items: Int
    /// Bytes of everything whose size is known.
    var bytes: UInt64
    /// The same bytes by `Footprint`.
    var footprint: UInt64

    /// Subtracts an item that is stored.
    mutating func subtract(bytes stored: UInt64, footprint held: UInt64) {
        bytes -= min(bytes, stored)
        footprint -= min(footprint, held)
    }

    /// Whether both count as one stranger's: they have the same key or, because new keys cost nothing, the same
    /// address.
    fileprivate func isOfSameStranger(as other: OfferClaim) -> Bool {
        guard !isContact, !other.isContact else { return false }
        return peer == other.peer || address.map { $0 == other.address } ?? false
    }
}

/// Divides the common resources of all offers: contacts together can take all of them, one contact a part, strangers
/// together a part, and one stranger a part of that.
enum OfferShares {
    /// - Parameters:
    ///   - waiting: offers that wait for an answer.
    ///   - open: transfers that were accepted and have not ended.
    /// - Returns: the reason if there is no room for one more offer; nil if there is room.
    static func refusal(of claim: OfferClaim, waiting: [OfferClaim], open: [OfferClaim]) -> ItemVerdict? {
        if waiting.count(where: { $0.peer == claim.peer }) >= Limits.waitingOffersPerPeer
            || !waitingOffers.hasRoom(for: claim, beside: waiting, counting: { _ in 1 })
        {
            return .tooManyOffersWait
        }
        if open.count(where: { $0.peer == claim.peer }) >= Limits.openTransfersPerPeer {
            return ItemVerdict(.busy, reason: "too many transfers of yours are under way")
        }
        if !openTransfers.hasRoom(for: claim, beside: open, counting: { _ in 1 }) {
            return ItemVerdict(.busy, reason: "too many transfers are under way")
        }
        let own = (waiting + open).filter { $0.peer == claim.peer }
        if own.reduce(claim.items, { $0 + $1.items }) > Limits.openItemsPerPeer {
            return ItemVerdict(.busy, reason: "too many items of yours are under way")
        }
        if !openItems.hasRoom(for: claim, beside: waiting + open, counting: \.items) {
            return ItemVerdict(.busy, reason: "too many items are under way")
        }
        return nil
    }

    private static let waitingOffers = Share(
        all: Limits.waitingOffers, strangers: Limits.waitingOffersOfStrangers, stranger: Limits.waitingOffersPerStranger
    )
    private static let openTransfers = Share(
        all: Limits.openTransfers, strangers: Limits.openTransfersOfStrangers, stranger: Limits.openTransfersPerStranger
    )
    private static let openItems = Share(
        all: Limits.openItems, strangers: Limits.openItemsOfStrangers, stranger: Limits.openItemsPerStranger)

    private struct Share {
        /// The most of all peers, of all strangers, and of one stranger.
        var all: Int
        var strangers: Int
        var stranger: Int

        func hasRoom(
            for claim: OfferClaim, beside claims: [OfferClaim], counting count: (OfferClaim) -> Int
        ) -> Bool {
            func sum(_ limit: Int, _ isMeant: (OfferClaim) -> Bool) -> Bool {
                claims.reduce(count(claim)) { isMeant($1) ? $0 + count($1) : $0 } <= limit
            }
            guard sum(all, { _ in true }) else { return false }
            return claim.isContact
                || (sum(strangers) { !$0.isContact } && sum(stranger) { $0.isOfSameStranger(as: claim) })
        }
    }
}
