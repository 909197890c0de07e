private import Synchronization

/// What keeps the machine awake for one thing that is under way: from when it is taken until this is let go of.
package final class WakeHold: Sendable {
    private let inhibitor: SleepInhibitor?
    private let isTaken = Mutex(false)

    /// - Parameter inhibitor: nil where nothing is to be kept awake.
    package init(_ inhibitor: SleepInhibitor?) {
        self.inhibitor = inhibitor
    }

    /// From now on; a second time nothing.
    package func take() {
        guard let inhibitor else { return }
        let isFirst = isTaken.withLock { isTaken in
            defer { isTaken = true }
            return !isTaken
        }
        if isFirst { inhibitor.begin() }
    }

    deinit {
        if isTaken.withLock({ $0 }) { inhibitor?.end() }
    }
}
