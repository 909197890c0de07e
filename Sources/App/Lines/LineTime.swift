package import Foundation
package import Sharing

/// A time in a line: RFC 3339, UTC, whole seconds.
package struct LineTime: Codable, Hashable, Sendable {
    package let time: WallTime

    package init(_ time: WallTime) { self.init(milliseconds: time.milliseconds) }

    package init(milliseconds: Int64) { time = WallTime(milliseconds: milliseconds - milliseconds % 1_000) }

    package var text: String { date.ISO8601Format() }

    /// The time where the user is, for people.
    package var local: String {
        date.formatted(
            Date.ISO8601FormatStyle(timeZone: .current).year().month().day()
                .dateTimeSeparator(.space).time(includingFractionalSeconds: false))
    }

    /// The years 0 to 9999 or so: a file can say any number, and calendars do not go that far.
    package var date: Date {
        Date(timeIntervalSince1970: Double(min(max(time.milliseconds / 1_000, -62_000_000_000), 253_000_000_000)))
    }

    package init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        let date = try Date(text, strategy: .iso8601)
        self.init(milliseconds: Int64(date.timeIntervalSince1970) * 1_000)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
