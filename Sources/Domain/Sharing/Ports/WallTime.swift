/// A moment by the wall clock, in milliseconds since 1970-01-01 UTC. For times that must survive a restart. Clocks can
/// be set back, so no code may depend on the order of two moments.
package struct WallTime: Hashable, Sendable, Comparable {
    package var milliseconds: Int64

    package init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    /// The time by the system's clock.
    package static var now: WallTime {
        let now = Timestamp.now
        return WallTime(milliseconds: now.seconds * 1_000 + Int64(now.nanoseconds) / 1_000_000)
    }

    /// - Parameter time: counted in whole seconds.
    package func after(_ time: Duration) -> WallTime {
        WallTime(milliseconds: milliseconds &+ time.components.seconds &* 1_000)
    }

    package static func < (left: Self, right: Self) -> Bool { left.milliseconds < right.milliseconds }
}
