package import Foundation
package import Sharing

/// A day of the week.
package enum Weekday: Int, Sendable, CaseIterable, Comparable {
    case monday, tuesday, wednesday, thursday, friday, saturday, sunday

    /// `mon`, `tue` …
    package var short: String { Self.names[rawValue].0 }

    /// Reads `mon`, `monday`, in any case.
    package init?(_ text: String) {
        let text = text.lowercased()
        guard let index = Self.names.firstIndex(where: { $0.0 == text || $0.1 == text }) else { return nil }
        self.init(rawValue: index)
    }

    /// Reads `fri` or `mon-fri`; `sat-mon` goes through Sunday.
    static func range(_ text: String) -> Set<Weekday>? {
        let ends = text.split(separator: "-", omittingEmptySubsequences: false).map {
            Weekday($0.trimmingCharacters(in: .whitespaces))
        }
        guard (1...2).contains(ends.count), let first = ends[0], let last = ends[ends.count - 1] else { return nil }
        var days: Set<Weekday> = [first]
        var day = first
        while day != last {
            day = day.next
            days.insert(day)
        }
        return days
    }

    var next: Weekday { Weekday(rawValue: (rawValue + 1) % 7) ?? .monday }
    var previous: Weekday { Weekday(rawValue: (rawValue + 6) % 7) ?? .monday }

    package static func < (left: Weekday, right: Weekday) -> Bool { left.rawValue < right.rawValue }

    private static let names = [
        ("mon", "monday"), ("tue", "tuesday"), ("wed", "wednesday"), ("thu", "thursday"), ("fri", "friday"),
        ("sat", "saturday"), ("sun", "sunday"),
    ]
}

/// Times of the day on some days of the week, by local wall-clock time.
///
/// When summer time begins, the skipped times are in no window on that day. When it ends, the repeated times are in a
/// window twice.
package struct TimeWindow: Hashable, Sendable {
    /// Minutes after midnight, 0...1439: the first minute in the window.
    package let start: Int
    /// Minutes after midnight, 1...1440: the first minute after it. If not after `start`, it is on the next day.
    package let end: Int
    /// The days on which the window begins; never empty. On Friday from 22:00 to 06:00 ends on Saturday.
    package let days: Set<Weekday>

    /// - Throws: `ContactError` `unfit` for times out of range, for `start` equal to `end`, or for no day.
    package init(
        start: Int = 0, end: Int = 1_440, days: Set<Weekday> = Set(Weekday.allCases)
    ) throws(ContactError) {
        guard (0...1_439).contains(start), (1...1_440).contains(end), start != end, !days.isEmpty else {
            throw .unfit("a time window has two different times of the day and at least one day")
        }
        self.start = start
        self.end = end
        self.days = days
    }

    /// Reads `08:00-18:30`, `22:00-06:00`, `00:00-24:00`.
    /// - Throws: `ContactError` `unfit`.
    package init(_ text: String, days: Set<Weekday> = Set(Weekday.allCases)) throws(ContactError) {
        let ends = text.utf8.prefix(64).split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
            .map { Self.minutes(Substring($0)) }
        guard ends.count == 2, let start = ends[0], var end = ends[1], start < 1_440, start != end else {
            throw .unfit("\(text.quoted) is not a time of the day such as 08:00-18:30 or 22:00-06:00")
        }
        if end == 0 { end = 1_440 }
        try self.init(start: start, end: end, days: days)
    }

    private static func minutes(_ text: Substring) -> Int? {
        let parts = text.trimmingCharacters(in: .whitespaces).utf8.split(
            separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard parts.count == 2, (1...2).contains(parts[0].count), parts[1].count == 2,
            parts.joined().allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let hours = Int(Substring(parts[0])), let minutes = Int(Substring(parts[1])), minutes < 60
        else { return nil }
        let sum = hours * 60 + minutes
        return sum <= 1_440 ? sum : nil
    }

    package func contains(_ time: WallTime, in zone: TimeZone) -> Bool { contains(LocalTime(time, in: zone)) }

    func contains(_ local: LocalTime) -> Bool {
        if start < end { return days.contains(local.day) && (start..<end).contains(local.minute) }
        return days.contains(local.day) && local.minute >= start
            || days.contains(local.day.previous) && local.minute < end
    }
}

/// Local wall-clock time.
struct LocalTime: Hashable {
    let day: Weekday
    /// Minutes after midnight.
    let minute: Int

    init(_ time: WallTime, in zone: TimeZone) {
        // About the years 0 to 9999: no calendar needs more.
        let seconds = min(max(time.milliseconds / 1_000, -62_000_000_000), 253_000_000_000)
        let offset = zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(seconds)))
        let local = seconds + Int64(offset)
        let days = local >= 0 ? local / 86_400 : (local - 86_399) / 86_400
        // 1970 began on a Thursday.
        day = Weekday(rawValue: Int(((days + 3) % 7 + 7) % 7)) ?? .monday
        minute = Int(local - days * 86_400) / 60
    }
}

extension TimeWindow: CustomStringConvertible {
    /// `08:00-18:30`; if it has not all days, with its days: `22:00-06:00 on mon, fri`.
    package var description: String {
        days.count == 7 ? times : times + " on " + days.sorted().map(\.short).joined(separator: ", ")
    }

    /// The times without the days.
    var times: String { "\(Self.clock(start))-\(Self.clock(end))" }

    private static func clock(_ minutes: Int) -> String {
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(two(minutes / 60)):\(two(minutes % 60))"
    }
}
