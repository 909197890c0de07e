private import Synchronization

/// Runs the commits of one peer's concurrent transfers one after another. If two transfers bring the same item, the
/// second commit finds the item that the first one stored.
///
/// The verdict on an offer names the items that are stored already. Concurrent offers are judged before any of their
/// items is stored, so each commit checks again.
package final class CommitTurn: Sendable {
    private let lock = Mutex(())
    private let count = Atomic<Int>(0)

    package init() {}

    /// Number of commits that stored something. Readable while a commit waits for the disk.
    package var storings: Int { count.load(ordering: .acquiring) }

    /// Waits until no other commit runs. Blocks its thread.
    /// - Parameter body: receives `storings`; returns whether it has stored something.
    func take(_ body: (Int) -> Bool) {
        lock.withLock { _ in
            if body(storings) { count.add(1, ordering: .acquiringAndReleasing) }
        }
    }
}
