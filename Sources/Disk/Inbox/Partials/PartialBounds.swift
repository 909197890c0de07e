package import Sharing

/// How long, and how much of it, is kept of items that did not come whole.
package struct PartialBounds: Hashable, Sendable {
    /// Since it was last written to or looked for.
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

/// What is kept of items that did not come whole, for those who show it.
package struct PartialsSummary: Hashable, Sendable {
    package var count: Int
    /// Bytes on the disk.
    package var bytes: UInt64
    /// When the oldest one was used last; nil where there is none.
    package var oldest: Timestamp?
}
