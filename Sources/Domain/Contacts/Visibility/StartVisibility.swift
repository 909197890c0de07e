import Synchronization

/// The visibility from the start of a receiver. It overrides the stored one until the user chooses a visibility, and
/// not again while the receiver runs.
package final class StartVisibility: Sendable {
    private let visibility: Visibility?
    private let file: VisibilityFile
    /// The mark of the last choice before the start.
    private let mark: UInt32?
    private let isOver = Atomic(false)

    /// - Parameter visibility: nil uses the stored visibility from the start.
    package init(_ visibility: Visibility?, over file: VisibilityFile) {
        self.visibility = visibility
        self.file = file
        mark = (try? file.mark()) ?? nil
    }

    /// Nil once the stored visibility applies. Reads the file if it has changed.
    package var current: Visibility? {
        guard let visibility, !isOver.load(ordering: .relaxed) else { return nil }
        guard let now = (try? file.mark()) ?? nil, now != mark else { return visibility }
        isOver.store(true, ordering: .relaxed)
        return nil
    }
}
