import Contacts
import Foundation
import Sharing
import UniformTypes

/// Times for programs: RFC 3339, UTC, whole seconds.
enum ISOTime {
    static func text(_ time: WallTime) -> String { date(time).ISO8601Format() }

    /// The years 0 to 9999 or so: a file can say any number, and calendars do not go that far.
    static func date(_ time: WallTime) -> Date {
        Date(timeIntervalSince1970: Double(min(max(time.milliseconds / 1_000, -62_000_000_000), 253_000_000_000)))
    }
}
