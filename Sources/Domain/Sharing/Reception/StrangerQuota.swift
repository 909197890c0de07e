/// What the domain needs to know of the Inbox to keep one stranger from filling it.
package protocol OccupancyReading: Sendable {
    /// Bytes, by `Footprint`, that are in the Inbox and came from this peer. May block on the disk.
    func occupied(by peer: PeerID) throws(JournalFault) -> UInt64
}

/// How much of the disk one stranger may fill: what lies in the Inbox, what is on its way, and what is offered, together.
/// What is kept of its items that did not come whole counts too, and never stands in the way of another: it goes, oldest
/// first, where all together would be too much.
package struct StrangerQuota: Sendable {
    /// Bytes, by `Footprint`.
    package let limit: UInt64
    private let isStranger: @Sendable (PeerID) -> Bool
    private let occupancy: any OccupancyReading

    /// What a stranger gets where nothing else is said.
    package static let standardLimit: UInt64 = 10 << 30

    /// - Parameters:
    ///   - limit: bytes; 0 for no quota.
    ///   - isStranger: false for contacts, for whom there is none.
    /// - Returns: nil where there is no quota.
    package init?(
        limit: UInt64, isStranger: @escaping @Sendable (PeerID) -> Bool, occupancy: any OccupancyReading
    ) {
        guard limit > 0 else { return nil }
        (self.limit, self.isStranger, self.occupancy) = (limit, isStranger, occupancy)
    }

    /// Judges an offer by its sizes and entries. Unknown sizes count as nothing here; `allowance` bounds them.
    ///
    /// - Parameter underWay: accepted bytes, by `Footprint`, of this peer that are not stored yet.
    /// - Returns: the answer to all items; nil where there is room.
    package func refusal(of offer: Offer, from peer: PeerID, underWay: UInt64) -> ItemVerdict? {
        guard isStranger(peer) else { return nil }
        do throws(JournalFault) {
            let lying = try occupancy.occupied(by: peer)
            return Self.judge(offered: offer.knownFootprint.bytes, lying: lying, underWay: underWay, limit: limit)
        } catch {
            return ItemVerdict(.busy, reason: "the other side cannot count what it has from you")
        }
    }

    /// Bytes, by `Footprint`, that a transfer may bring in addition to those stored or accepted before.
    ///
    /// - Returns: nil where there is no bound.
    package func allowance(for peer: PeerID, underWay: UInt64) -> UInt64? {
        guard isStranger(peer) else { return nil }
        let (used, overflow) = ((try? occupancy.occupied(by: peer)) ?? 0).addingReportingOverflow(underWay)
        return overflow || used > limit ? 0 : limit - used
    }

    /// - Returns: nil where there is room.
    static func judge(offered: UInt64, lying: UInt64, underWay: UInt64, limit: UInt64) -> ItemVerdict? {
        var left = limit
        for part in [lying, underWay, offered] {
            guard part <= left else {
                let onItsWay = underWay > 0 ? ", \(ByteCount.text(underWay)) in transfer" : ""
                return ItemVerdict(
                    .noRoom,
                    reason:
                        "the limit for one stranger is \(ByteCount.text(limit)), where each file and folder counts for "
                        + "\(ByteCount.text(Limits.entryBytes)) more; \(ByteCount.text(lying)) stored from "
                        + "you\(onItsWay); \(ByteCount.text(offered)) offered")
            }
            left -= part
        }
        return nil
    }
}
