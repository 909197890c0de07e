/// The last 24 hours by the wall clock.
package struct Day: Hashable, Sendable {
    package static let milliseconds: Int64 = 86_400_000

    /// Only arrivals after this time count.
    package let start: WallTime
    /// Arrivals after this time do not count: the clock was far ahead when they came, and was set back since.
    package let end: WallTime

    package init(until time: WallTime) {
        func shifted(_ by: Int64) -> WallTime {
            let (sum, overflow) = time.milliseconds.addingReportingOverflow(by)
            return overflow ? time : WallTime(milliseconds: sum)
        }
        (start, end) = (shifted(-Self.milliseconds), shifted(Self.milliseconds))
    }
}
