private import Synchronization

/// The results of commits that the journal could not record: the items are in the Inbox, and the journal does not know
/// it yet. Whoever keeps them repeats the recording, so that no item waits for the next start.
package final class UnsettledResults: Sendable {
    private struct Batch: Sendable {
        let transfer: TransferID
        let peer: PeerID
        let outcomes: [(number: ArrivalNumber, stored: StoredItem?)]
        /// Those of its items that handlers are to get.
        let delivered: [Arrival]
    }

    private let batches = Mutex<[Batch]>([])

    package init() {}

    /// The number of items that wait for the journal.
    package var count: Int { batches.withLock { $0.reduce(0) { $0 + $1.outcomes.count } } }

    /// Keeps the results of one commit of a transfer, if an item was stored: the rows of others are removed at the next
    /// start.
    /// - Parameter delivered: those of its items that handlers are to get.
    func keep(
        _ outcomes: [(number: ArrivalNumber, stored: StoredItem?)], of transfer: TransferID, from peer: PeerID,
        delivered: [Arrival]
    ) {
        guard outcomes.contains(where: { $0.stored != nil }) else { return }
        batches.withLock {
            $0.append(Batch(transfer: transfer, peer: peer, outcomes: outcomes, delivered: delivered))
        }
    }

    /// Records again; batches that fail again stay, unless the fault came after they were recorded. Blocks on the disk.
    /// - Returns: the arrivals that can now be delivered.
    func settle(in journal: any ArrivalJournal) -> [Arrival] {
        let waiting = batches.withLock { batches in
            defer { batches = [] }
            return batches
        }
        var delivered: [Arrival] = []
        for batch in waiting {
            if (try? journal.settle(batch.outcomes)) != nil || Self.isRecorded(batch, in: journal) {
                delivered += batch.delivered
            } else {
                batches.withLock { $0.append(batch) }
            }
        }
        return delivered
    }

    /// A batch is one transaction: one of its items stands for all.
    private static func isRecorded(_ batch: Batch, in journal: any ArrivalJournal) -> Bool {
        guard let stored = batch.outcomes.first(where: { $0.stored != nil }),
            let arrivals = try? journal.arrivals(of: batch.transfer, from: batch.peer)
        else { return false }
        return arrivals.contains { $0.number == stored.number }
    }
}
