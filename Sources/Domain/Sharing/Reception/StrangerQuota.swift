/// Reads a stranger's share of the Inbox, so that the domain can limit it.
package protocol OccupancyReading: Sendable {
    /// Bytes, by `Footprint`, that are in the Inbox and came from this peer. May block on the disk.
    /// - Parameter bound: up to it, items that people took out by hand may still count; `.max`: none is looked up.
    func occupied(by peer: PeerID, exactAbove bound: UInt64) throws(JournalError) -> UInt64
}

/// How much of the disk one stranger may fill with stored, accepted and offered items together. Kept parts of its
/// interrupted items count too, but never block another item: the oldest are removed if the sum is too large.
package struct StrangerQuota: Sendable {
    /// Bytes, by `Footprint`.
    package var limit: UInt64 { limiting() }
    private let limiting: @Sendable () -> UInt64
    private let isStranger: @Sendable (PeerID) -> Bool
    private let occupancy: any OccupancyReading

    /// The quota of a stranger if no other is set.
    package static let standardLimit: UInt64 = 10 << 30

    /// - Parameters:
    ///   - limit: bytes; 0 for no quota.
    ///   - isStranger: false for contacts, which have no quota.
    /// - Returns: nil if there is no quota.
    package init?(
        limit: UInt64, isStranger: @escaping @Sendable (PeerID) -> Bool, occupancy: any OccupancyReading
    ) {
        guard limit > 0 else { return nil }
        self.init(limits: { limit }, isStranger: isStranger, occupancy: occupancy)
    }

    /// - Parameters:
    ///   - limits: bytes, asked for at each use; 0 for no quota.
    ///   - isStranger: as above.
    package init(
        limits: @escaping @Sendable () -> UInt64, isStranger: @escaping @Sendable (PeerID) -> Bool,
        occupancy: any OccupancyReading
    ) {
        (limiting, self.isStranger, self.occupancy) = (limits, isStranger, occupancy)
    }

    /// Judges an offer by its sizes and entries. Unknown sizes count as nothing here; `allowance` bounds them.
    ///
    /// - Parameter underWay: accepted bytes, by `Footprint`, of this peer that are not stored yet.
    /// - Returns: the answer to all items; nil if there is room.
    package func refusal(of offer: Offer, from peer: PeerID, underWay: UInt64) -> ItemVerdict? {
        ruling(on: offer, from: peer)(underWay)
    }

    /// Judges by the bytes under way, as `refusal` does, and reads nothing any more.
    package typealias Ruling = (UInt64) -> ItemVerdict?

    /// The judgement of an offer by the bytes that are in the Inbox now.
    package func ruling(on offer: Offer, from peer: PeerID) -> Ruling {
        let limit = limit
        guard limit > 0, isStranger(peer) else { return { _ in nil } }
        do throws(JournalError) {
            let offered = offer.knownFootprint.bytes
            // Half of the quota is left for those under way, which are not known yet.
            let bound = limit / 2 > offered ? limit / 2 - offered : 0
            let lying = try occupancy.occupied(by: peer, exactAbove: bound)
            return { Self.judge(offered: offered, lying: lying, underWay: $0, limit: limit) }
        } catch {
            return { _ in ItemVerdict(.busy, reason: "the other side cannot count what it has from you", cause: .fault)
            }
        }
    }

    /// Whether a peer has a quota.
    package func bounds(_ peer: PeerID) -> Bool { limit > 0 && isStranger(peer) }

    /// Bytes, by `Footprint`, that may come in addition to those stored or accepted before.
    ///
    /// - Returns: nil if there is no bound.
    package func allowance(for peer: PeerID, underWay: UInt64) -> UInt64? {
        let limit = limit
        guard limit > 0, isStranger(peer) else { return nil }
        return Self.left(of: limit, occupied(by: peer, exactAbove: limit / 2), underWay)
    }

    /// Bounds the contents of one transfer whose size is unknown. A peer decides how many items it has here: they are
    /// looked up only if the transfer comes to the bound that the journal knows.
    ///
    /// - Returns: nil if there is no bound.
    package func bound(for peer: PeerID, underWay: UInt64) -> ContentsBound? {
        let limit = limit
        guard limit > 0, isStranger(peer) else { return nil }
        let recorded = occupied(by: peer, exactAbove: .max)
        return ContentsBound(bytes: Self.left(of: limit, recorded, underWay)) { [self] in
            // The journal has more items by now, perhaps of this transfer: only those that people took out matter.
            let now = occupied(by: peer, exactAbove: .max)
            let taken = now - min(occupied(by: peer, exactAbove: 0), now)
            return Self.left(of: limit, recorded - min(taken, recorded), underWay)
        }
    }

    private func occupied(by peer: PeerID, exactAbove bound: UInt64) -> UInt64 {
        (try? occupancy.occupied(by: peer, exactAbove: bound)) ?? 0
    }

    private static func left(of limit: UInt64, _ lying: UInt64, _ underWay: UInt64) -> UInt64 {
        let (used, overflow) = lying.addingReportingOverflow(underWay)
        return overflow || used > limit ? 0 : limit - used
    }

    /// - Returns: nil if there is room.
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
                        + "you\(onItsWay); \(ByteCount.text(offered)) offered",
                    cause: .rule)
            }
            left -= part
        }
        return nil
    }
}
