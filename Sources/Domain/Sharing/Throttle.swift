import Synchronization

/// Lets something happen at most every so often: drawing, progress events.
package final class Throttle: Sendable {
    private let interval: Duration
    private let last = Mutex<ContinuousClock.Instant?>(nil)

    package init(_ interval: Duration = .milliseconds(100)) {
        self.interval = interval
    }

    /// Whether it is time; if so, a new interval begins.
    package func isDue(at now: ContinuousClock.Instant = .now) -> Bool {
        last.withLock { last in
            if let before = last, now - before < interval { return false }
            last = now
            return true
        }
    }
}
