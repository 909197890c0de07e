/// Counts events in a second. An event above the bound is an excess.
struct RateBound {
    let limit: Int
    private var count = 0
    private var second: ContinuousClock.Instant?

    init(_ limit: Int) { self.limit = limit }

    /// - Returns: whether the event is within the bound.
    mutating func allows(at now: ContinuousClock.Instant) -> Bool {
        if let second, now - second < .seconds(1) {
            count += 1
        } else {
            (second, count) = (now, 1)
        }
        return count <= limit
    }
}
