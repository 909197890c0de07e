/// A bucket of permissions: so many at once, then one each so long.
struct Pace {
    private let interval: Duration
    private let slack: Duration
    /// When all permissions would be back.
    private var full: ContinuousClock.Instant?

    /// - Parameters:
    ///   - burst: 1 or more.
    ///   - interval: not negative.
    init(burst: Int, interval: Duration) {
        self.interval = interval
        slack = interval * max(0, burst - 1)
    }

    /// Takes a permission where there is one.
    mutating func take(_ now: ContinuousClock.Instant) -> Bool {
        let full = max(full ?? now, now)
        guard full - now <= slack else { return false }
        self.full = full + interval
        return true
    }

    /// When there is, or was, a permission again; nil where none was ever taken.
    var next: ContinuousClock.Instant? { full.map { $0 - slack } }
}
