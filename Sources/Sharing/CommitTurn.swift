private import Synchronization

/// The commits of one peer's transfers that are under way together: one after the other, so that of two that bring the same
/// item the second finds what the first has stored.
///
/// Who sends something that is there already is told so with the verdict. Of many that are offered at once none is there yet,
/// and all are accepted: so it is asked again when each of them is whole.
package final class CommitTurn: Sendable {
    private let lock = Mutex(())
    private let count = Atomic<Int>(0)

    package init() {}

    /// How often something was stored. Can be asked while a commit waits for the disk.
    package var storings: Int { count.load(ordering: .acquiring) }

    /// Waits until no other commit runs. Blocks its thread.
    /// - Parameter body: gets what `storings` is; returns whether it has stored something.
    func take(_ body: (Int) -> Bool) {
        lock.withLock { _ in
            if body(storings) { count.add(1, ordering: .acquiringAndReleasing) }
        }
    }
}
