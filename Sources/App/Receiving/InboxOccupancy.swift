import Glibc
import Journal
import Sharing

/// Bytes in the Inbox by peer: those of the journal without those that people moved out or deleted by hand.
struct InboxOccupancy: OccupancyReading {
    let journal: Journal

    func occupied(by peer: PeerID) throws(JournalError) -> UInt64 {
        try journal.lying(from: peer).reduce(0) { sum, item in
            var status = stat()
            guard lstat(item.path, &status) == 0 || errno != ENOENT else { return sum }
            let (total, overflow) = sum.addingReportingOverflow(
                Footprint(bytes: item.size, entries: item.entries).bytes)
            return overflow ? .max : total
        }
    }
}
