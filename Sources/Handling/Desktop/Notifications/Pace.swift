/// A token bucket: a number of tokens at once, then one for each interval.
struct Pace {
    private let interval: Duration
    private let slack: Duration
    /// When the bucket is full again.
    private var full: ContinuousClock.Instant?

    /// - Parameters:
    ///   - burst: 1 or more.
    ///   - interval: not negative.
    init(burst: Int, interval: Duration) {
        self.interval = interval
        slack = interval * max(0, burst - 1)
    }

    /// Takes a token if one is available.
    mutating func take(_ now: ContinuousClock.Instant) -> Bool {
        let full = max(full ?? now, now)
        guard full - now <= slack else { return false }
        self.full = full + interval
        return true
    }

    /// When a token is, or was, available again; nil if none was ever taken.
    var next: ContinuousClock.Instant? { full.map { $0 - slack } }
}
