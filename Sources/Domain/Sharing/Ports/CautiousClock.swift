private import Synchronization

/// Tells the time to code that removes or gives up things when their time is over.
///
/// The wall clock can be wrong by years: a machine without a battery starts in the past, and a mistyped date or a bad
/// time server puts it into the future. So it is trusted only after this process has run for a while, in which it is
/// usually set. From then on this clock is no faster than real time. A step back is trusted at once: it only makes
/// things live longer.
package final class CautiousClock: Sendable {
    /// Time until the wall clock is trusted.
    package static let settling: Duration = .seconds(600)

    private let wall: @Sendable () -> WallTime
    private let steady: @Sendable () -> Duration
    private let settling: Duration
    private let start: Duration
    /// The first trusted moment: the wall clock's time and the steady one's.
    private let anchor = Mutex<(wall: Int64, steady: Duration)?>(nil)

    /// - Parameters:
    ///   - steady: time that has passed since some moment; it continues while the machine sleeps.
    ///   - settling: time until the wall clock is trusted.
    package init(
        wall: @escaping @Sendable () -> WallTime, steady: @escaping @Sendable () -> Duration,
        settling: Duration = CautiousClock.settling
    ) {
        (self.wall, self.steady, self.settling) = (wall, steady, settling)
        start = steady()
    }

    /// - Returns: nil while the clock is not trusted.
    package func now() -> WallTime? {
        // In this order: if the machine sleeps in between, the trusted time is not behind for ever.
        let steady = self.steady()
        let wall = self.wall().milliseconds
        guard steady - start >= settling else { return nil }
        let anchor = anchor.withLock { anchor in
            let known = anchor ?? (wall, steady)
            anchor = known
            return known
        }
        let (believed, overflow) = anchor.wall.addingReportingOverflow(
            Int64((steady - anchor.steady) / .milliseconds(1)))
        return WallTime(milliseconds: overflow ? wall : min(wall, believed))
    }

    /// Whether a time is over; false while the clock is not trusted.
    package func isOver(_ end: WallTime) -> Bool { now().map { $0 >= end } ?? false }
}
