internal import NIOCore

/// Counts events that any peer can cause at any rate, and limits the log lines about them.
struct Tally {
    private static let interval = TimeAmount.minutes(1)

    private var count = 0
    private var nextReport = NIODeadline.distantPast

    /// Counts one event.
    ///
    /// - Returns: the number of events since the last report; nil if that was less than a minute ago.
    mutating func add(now: NIODeadline = .now()) -> Int? {
        count += 1
        guard now >= nextReport else { return nil }
        nextReport = now + Self.interval
        defer { count = 0 }
        return count
    }
}
