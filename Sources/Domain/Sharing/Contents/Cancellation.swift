private import Synchronization

/// The user's wish to stop. The working code checks it at its next good moment.
///
/// Milder than cancelling a task: current work can still end properly with the other side.
package final class Cancellation: Sendable {
    private let requested = Atomic<Bool>(false)

    package init() {}

    package var isRequested: Bool { requested.load(ordering: .relaxed) }

    package func request() {
        requested.store(true, ordering: .relaxed)
    }
}
