/// Allows a log message once per interval, so that strangers and handlers cannot fill the log.
package struct LogRateLimiter: Sendable {
    private let interval: Duration
    private var last: ContinuousClock.Instant?

    package init(interval: Duration) {
        self.interval = interval
    }

    /// - Returns: whether the interval has passed since the last `true`.
    package mutating func mayBeSaid(now: ContinuousClock.Instant) -> Bool {
        if let last, now - last < interval { return false }
        last = now
        return true
    }
}
