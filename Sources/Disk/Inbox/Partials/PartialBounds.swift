package import Sharing

/// How long, and how many bytes of, interrupted items are kept.
package struct PartialBounds: Hashable, Sendable {
    /// Time since the last write or lookup.
    package var lifetime: Duration
    /// Maximum bytes on the disk, including `Limits.entryBytes` for each file, folder and link. The latest item is kept
    /// even if it alone exceeds the quota: otherwise large files could never be resumed. With 0 nothing is kept.
    package var quota: UInt64

    package init(lifetime: Duration, quota: UInt64) {
        self.lifetime = lifetime
        self.quota = quota
    }

    /// 7 days, 20 GiB.
    package static let standard = PartialBounds(lifetime: .seconds(7 * 86_400), quota: 20 << 30)
}

/// A summary of the kept parts of interrupted items, for display.
package struct PartialsSummary: Hashable, Sendable {
    package var count: Int
    /// Bytes on the disk.
    package var bytes: UInt64
    /// The last use of the oldest one; nil if there is none.
    package var oldest: Timestamp?
}
