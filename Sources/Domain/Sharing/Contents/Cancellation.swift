private import Synchronization

/// The user's wish to stop, seen by whoever works at the next good moment.
///
/// Softer than cancelling a task: what is under way can still say goodbye to the other side.
package final class Cancellation: Sendable {
    private let requested = Atomic<Bool>(false)

    package init() {}

    package var isRequested: Bool { requested.load(ordering: .relaxed) }

    package func request() {
        requested.store(true, ordering: .relaxed)
    }
}
