/// A moment by the wall clock, in milliseconds since 1970-01-01 UTC. For times that must survive a restart. Clocks can
/// be set back, so no code may depend on the order of two moments.
package struct WallTime: Hashable, Sendable, Comparable {
    package var milliseconds: Int64

    package init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    package static func < (left: Self, right: Self) -> Bool { left.milliseconds < right.milliseconds }
}
