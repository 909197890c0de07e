import Glibc
import Journal
import Sharing
import Synchronization

/// Bytes in the Inbox by peer: the sum of the journal without the items that people moved out or deleted by hand.
///
/// A peer decides how many items it has here. So they are looked up only when their sum comes near the peer's bound, and
/// these looks together take at most a twentieth of the time.
final class InboxOccupancy: OccupancyReading {
    /// The result of the last look.
    private struct Look {
        var found: UInt64
        /// The journal's sum then.
        var recorded: UInt64
        var next: ContinuousClock.Instant
    }

    /// Peers whose last look is remembered.
    private static let peers = 256

    private let journal: Journal
    private let looks = Mutex<[PeerID: Look]>([:])

    init(journal: Journal) { self.journal = journal }

    func occupied(by peer: PeerID, exactAbove bound: UInt64) throws(JournalError) -> UInt64 {
        let recorded = try journal.occupied(by: peer)
        guard recorded > bound else { return recorded }
        let start = ContinuousClock.now
        if let look = looks.withLock({ $0[peer] }), start < look.next {
            return look.found + (recorded > look.recorded ? recorded - look.recorded : 0)
        }
        let found = try look(for: peer)
        let look = Look(found: found, recorded: recorded, next: .now + start.duration(to: .now) * 20)
        looks.withLock { looks in
            if looks.count >= Self.peers { looks = looks.filter { $0.value.next > start } }
            if looks.count < Self.peers { looks[peer] = look }
        }
        return found
    }

    private func look(for peer: PeerID) throws(JournalError) -> UInt64 {
        try journal.lying(from: peer).reduce(0) { sum, item in
            var status = stat()
            guard lstat(item.path, &status) == 0 || errno != ENOENT else { return sum }
            let (total, overflow) = sum.addingReportingOverflow(
                Footprint(bytes: item.size, entries: item.entries).bytes)
            return overflow ? .max : total
        }
    }
}
