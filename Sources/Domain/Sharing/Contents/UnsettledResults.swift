private import Synchronization

/// The results of commits that the journal could not record: the items are in the Inbox, and the journal does not know
/// it yet. Whoever keeps them repeats the recording, so that no item waits for the next start.
package final class UnsettledResults: Sendable {
    private struct Batch: Sendable {
        let outcomes: [(number: ArrivalNumber, stored: StoredItem?)]
        /// Those of its items that handlers are to get.
        let delivered: [Arrival]
    }

    private let batches = Mutex<[Batch]>([])

    package init() {}

    /// The number of items that wait for the journal.
    package var count: Int { batches.withLock { $0.reduce(0) { $0 + $1.outcomes.count } } }

    func keep(_ outcomes: [(number: ArrivalNumber, stored: StoredItem?)], delivered: [Arrival]) {
        batches.withLock { $0.append(Batch(outcomes: outcomes, delivered: delivered)) }
    }

    /// Records again; batches that fail again stay. Blocks on the disk.
    /// - Returns: the arrivals that can now be delivered.
    func settle(in journal: any ArrivalJournal) -> [Arrival] {
        let waiting = batches.withLock { batches in
            defer { batches = [] }
            return batches
        }
        var delivered: [Arrival] = []
        for batch in waiting {
            do {
                try journal.settle(batch.outcomes)
                delivered += batch.delivered
            } catch {
                keep(batch.outcomes, delivered: batch.delivered)
            }
        }
        return delivered
    }
}
