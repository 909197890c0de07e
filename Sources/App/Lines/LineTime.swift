package import Foundation
package import Sharing

/// A time in a line: RFC 3339, UTC, whole seconds.
package struct LineTime: Encodable, Hashable, Sendable {
    package let time: WallTime

    package init(_ time: WallTime) { self.time = time }

    package init(milliseconds: Int64) { self.init(WallTime(milliseconds: milliseconds)) }

    package var text: String { date.ISO8601Format() }

    /// The years 0 to 9999 or so: a file can say any number, and calendars do not go that far.
    package var date: Date {
        Date(timeIntervalSince1970: Double(min(max(time.milliseconds / 1_000, -62_000_000_000), 253_000_000_000)))
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
