import Contacts
import Foundation
import Sharing
import Testing

@Suite("Times of the day, and durations")
struct TimeTests {
    @Test(
        "a window is that of the clock on the wall, its end not in it",
        arguments: [
            ("08:00-18:00", "2026-11-20 08:00", true), ("08:00-18:00", "2026-11-20 07:59", false),
            ("08:00-18:00", "2026-11-20 17:59", true), ("08:00-18:00", "2026-11-20 18:00", false),
            ("22:00-06:00", "2026-11-20 23:00", true), ("22:00-06:00", "2026-11-20 05:59", true),
            ("22:00-06:00", "2026-11-20 06:00", false), ("00:00-24:00", "2026-11-20 00:00", true),
            ("00:00-24:00", "2026-11-20 23:59", true), ("12:00-00:00", "2026-11-20 23:59", true),
            ("12:00-00:00", "2026-11-20 00:00", false), ("08:00-18:00", "1969-07-20 10:00", true),
        ])
    func window(text: String, time: String, holds: Bool) throws {
        for zone in ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Pacific/Kiritimati"] {
            let (time, zone) = try local(time, zone)
            #expect(try TimeWindow(text).contains(time, in: zone) == holds, "\(zone.identifier)")
        }
    }

    @Test(
        "a window over midnight is of the day on which it begins",
        arguments: [
            // 2026-11-20 is a Friday.
            ("2026-11-20 21:59", false), ("2026-11-20 22:00", true), ("2026-11-21 05:59", true),
            ("2026-11-21 06:00", false),
            ("2026-11-21 22:00", false), ("2026-11-20 03:00", false), ("2026-11-22 23:00", true),
            ("2026-11-23 05:00", true),
        ])
    func overMidnight(time: String, holds: Bool) throws {
        let (time, zone) = try local(time, "Europe/Berlin")
        #expect(try TimeWindow("22:00-06:00", days: [.friday, .sunday]).contains(time, in: zone) == holds)
    }

    /// Summer time in Berlin began on 2026-03-29 at 02:00 (01:00 UTC), and ended on 2026-10-25 at 03:00 (01:00 UTC).
    @Test("an hour that clocks skip is in no window, and an hour that they show twice is in it twice")
    func summerTime() throws {
        let berlin = try local("2026-03-29 00:00", "Europe/Berlin").zone
        let spring = try local("2026-03-29 01:00", "UTC").time.milliseconds
        let autumn = try local("2026-10-25 01:00", "UTC").time.milliseconds
        func minutes(_ text: String, around change: Int64) throws -> Int {
            let window = try TimeWindow(text)
            return (-360..<360).count { window.contains(at(change + $0 * 60_000), in: berlin) }
        }
        #expect(try minutes("02:00-03:00", around: spring) == 0)
        #expect(try minutes("01:30-03:30", around: spring) == 60)
        #expect(try minutes("02:00-03:00", around: autumn) == 120)
        #expect(try minutes("01:30-03:30", around: autumn) == 180)
        #expect(try minutes("04:00-05:00", around: spring) == 60)
        #expect(try minutes("22:00-02:30", around: spring) == 240)
    }

    @Test("any time has an answer", arguments: [Int64.min, .max, 0, -1, -86_400_000])
    func extremes(milliseconds: Int64) throws {
        let window = try TimeWindow("00:00-24:00")
        #expect(window.contains(at(milliseconds), in: .gmt))
    }

    @Test(
        "a text that is no time window is refused",
        arguments: [
            "", "-", "8-18", "08:00", "08:00-08:00", "24:00-06:00", "08:60-09:00", "-1:00-02:00", "08:00-25:00",
            "8:0-9:00",
            "08:00-09:00-10:00", "٠٨:٠٠-٠٩:٠٠", "08:00–18:00", String(repeating: "0", count: 100_000) + "8:00-09:00",
        ])
    func noWindow(text: String) {
        #expect(refusal { _ = try TimeWindow(text) } != nil)
    }

    @Test("a window is written as it is read", arguments: ["08:00-18:30", "22:00-06:00", "00:00-24:00", "00:05-00:06"])
    func written(text: String) throws {
        #expect(try TimeWindow(text).description == text)
        #expect(try TimeWindow(text, days: [.sunday, .monday]).description == text + " on mon, sun")
    }

    @Test(
        "durations are read as people type them, and written so",
        arguments: [
            ("90s", 90, "90s"), ("10m", 600, "10m"), ("2h", 7_200, "2h"), ("30d", 2_592_000, "30d"),
            ("3600s", 3_600, "1h"), ("24h", 86_400, "1d"), ("1s", 1, "1s"),
        ] as [(String, Int64, String)])
    func durations(text: String, seconds: Int64, written: String) throws {
        #expect(try DurationText.read(text) == .seconds(seconds))
        #expect(DurationText.text(.seconds(seconds)) == written)
    }

    @Test(
        "a text that is no duration is refused",
        arguments: [
            "", "10", "m", "0s", "-1m", "1.5h", "10 m", "10M", "10min", "3661d", "99999999999d",
            "18446744073709551615s", "٣d", "1m\n",
        ])
    func noDurations(text: String) {
        #expect(refusal { _ = try DurationText.read(text) } != nil)
    }
}
