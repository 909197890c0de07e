private import Synchronization

/// Keeps the machine awake for one activity: from `take` until this object is released.
package final class WakeHold: Sendable {
    private let inhibitor: SleepInhibitor?
    private let isTaken = Mutex(false)

    /// - Parameter inhibitor: nil to keep nothing awake.
    package init(_ inhibitor: SleepInhibitor?) {
        self.inhibitor = inhibitor
    }

    /// Begins the activity; a second call does nothing.
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
