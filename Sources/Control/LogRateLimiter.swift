/// Lets something be logged once in an interval: strangers and handlers do not fill the log.
package struct LogRateLimiter: Sendable {
    private let interval: Duration
    private var last: ContinuousClock.Instant?

    package init(interval: Duration) {
        self.interval = interval
    }

    /// - Returns: whether the interval has passed since this last said yes.
    package mutating func mayBeSaid(now: ContinuousClock.Instant) -> Bool {
        if let last, now - last < interval { return false }
        last = now
        return true
    }
}
