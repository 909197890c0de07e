internal import NIOCore

/// Counts what anybody can cause as often as they like, and says when it is time to write a line about it.
struct Tally {
    private static let interval = TimeAmount.minutes(1)

    private var count = 0
    private var nextReport = NIODeadline.distantPast

    /// Counts one more.
    ///
    /// - Returns: how many there were since the last report; nil if that was less than a minute ago.
    mutating func add(now: NIODeadline = .now()) -> Int? {
        count += 1
        guard now >= nextReport else { return nil }
        nextReport = now + Self.interval
        defer { count = 0 }
        return count
    }
}
