private import Glibc

/// A point in time in the resolution of file systems.
package struct Timestamp: Hashable, Sendable {
    /// Seconds since 1970-01-01 UTC; may be negative.
    package var seconds: Int64
    /// 0...999,999,999.
    package var nanoseconds: UInt32

    package init(seconds: Int64, nanoseconds: UInt32) {
        self.seconds = seconds
        self.nanoseconds = min(nanoseconds, 999_999_999)
    }

    /// The time by the system's clock.
    package static var now: Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(seconds: Int64(time.tv_sec), nanoseconds: UInt32(clamping: time.tv_nsec))
    }
}

extension Timestamp: Comparable {
    package static func < (left: Timestamp, right: Timestamp) -> Bool {
        (left.seconds, left.nanoseconds) < (right.seconds, right.nanoseconds)
    }
}
