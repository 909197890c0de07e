private import Synchronization

/// Says how late it is to whoever removes things, or gives them up, when their time is over.
///
/// The wall clock can be wrong by years: a machine without a battery starts in the past, and a mistyped date or a bad time
/// server puts it into the future. So it is believed only when this process has run for a while, in which whoever sets clocks
/// has set this one; and from then on it goes no faster than time passes. Set back it is believed at once: things live
/// longer then.
package final class CautiousClock: Sendable {
    /// After how long the wall clock is believed.
    package static let settling: Duration = .seconds(600)

    private let wall: @Sendable () -> WallTime
    private let steady: @Sendable () -> Duration
    private let settling: Duration
    private let start: Duration
    /// When it was believed first: the wall clock's time and the steady one's.
    private let anchor = Mutex<(wall: Int64, steady: Duration)?>(nil)

    /// - Parameters:
    ///   - steady: time that has passed since some moment; it goes on while the machine sleeps.
    ///   - settling: after how long the wall clock is believed.
    package init(
        wall: @escaping @Sendable () -> WallTime, steady: @escaping @Sendable () -> Duration,
        settling: Duration = CautiousClock.settling
    ) {
        (self.wall, self.steady, self.settling) = (wall, steady, settling)
        start = steady()
    }

    /// - Returns: nil as long as nobody should go by it.
    package func now() -> WallTime? {
        // In this order: where the machine sleeps in between, what is believed is not behind for ever.
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

    /// Whether a time is over; never while nobody should go by the clock.
    package func isOver(_ end: WallTime) -> Bool { now().map { $0 >= end } ?? false }
}
