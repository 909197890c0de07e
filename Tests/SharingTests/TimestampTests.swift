import Sharing
import Testing

@Suite("Times in words of RFC 3339")
struct TimestampTests {
    @Test(
        "a time is read to the nanosecond, in either case, with any offset",
        arguments: [
            ("2026-05-01T10:00:00Z", 1_777_629_600, 0), ("2026-05-01t10:00:00z", 1_777_629_600, 0),
            ("2026-05-01 10:00:00Z", 1_777_629_600, 0), ("2026-05-01T12:00:00.25+02:00", 1_777_629_600, 250_000_000),
            ("2026-05-01T10:00:00.123456789z", 1_777_629_600, 123_456_789),
            ("2026-05-01T10:00:00.1234567899Z", 1_777_629_600, 123_456_789),
            ("2026-05-01T06:30:00.000000001-0330", 1_777_629_600, 1), ("1969-12-31T23:59:59.5Z", -1, 500_000_000),
            ("1965-05-01T12:00:00Z", -147_355_200, 0), ("2150-05-01T12:00:00Z", 5_690_692_800, 0),
            ("2016-12-31T23:59:60Z", 1_483_228_800, 0), ("0000-01-01T00:00:00Z", -62_167_219_200, 0),
        ] as [(String, Int64, UInt32)])
    func reading(_ text: String, _ seconds: Int64, _ nanoseconds: UInt32) {
        #expect(Timestamp(rfc3339: text) == Timestamp(seconds: seconds, nanoseconds: nanoseconds))
    }

    @Test(
        "another text is no time",
        arguments: [
            "", "yesterday", "2026-05-01", "2026-05-01T10:00:00", "2026-04-31T10:00:00Z", "2026-05-01T24:00:00Z",
            "2026-05-01T10:00:00.Z", "2026-05-01T10:00:00+2:00", "2026-05-01T10:00:00Z ", "-026-05-01T10:00:00Z",
            "2026-05-01T10:00:00+02:", "2026-13-01T10:00:00Z", "２026-05-01T10:00:00Z",
            "2026-05-01T10:00:00." + String(repeating: "1", count: 99) + "Z",
        ])
    func refusing(_ text: String) { #expect(Timestamp(rfc3339: text) == nil) }

    @Test("a time that was written is read as the same one", arguments: [0, 250_000_000, 1, 999_999_999] as [UInt32])
    func writing(_ nanoseconds: UInt32) {
        for seconds: Int64 in [0, -1, 1_777_629_600, -147_355_200, 5_690_692_800, -62_167_219_200, 253_402_300_799] {
            let time = Timestamp(seconds: seconds, nanoseconds: nanoseconds)
            #expect(time.rfc3339.flatMap { Timestamp(rfc3339: $0) } == time)
        }
        #expect(Timestamp(seconds: 1_777_629_600, nanoseconds: 0).rfc3339 == "2026-05-01T10:00:00.000Z")
        for seconds: Int64 in [253_402_300_800, .max, .min] {
            #expect(Timestamp(seconds: seconds, nanoseconds: nanoseconds).rfc3339 == nil)
        }
    }
}
