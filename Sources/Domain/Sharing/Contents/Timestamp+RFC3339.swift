private import Glibc

/// Times as most protocols write them: `2026-05-01T10:00:00.25+02:00`.
extension Timestamp {
    private static let maximumBytes = 64

    /// Reads a time with an offset (RFC 3339): its letters in either case, its fraction of any length. Digits beyond
    /// nanoseconds are passed by.
    /// - Returns: nil for other text.
    package init?(rfc3339 text: String) {
        guard text.utf8.count <= Self.maximumBytes else { return nil }
        var rest = Array(text.utf8)[...]
        func number(_ digits: Int, _ range: ClosedRange<Int32>, after mark: String = "") -> Int32? {
            guard mark.isEmpty || rest.popFirst().map({ mark.utf8.contains($0) }) == true else { return nil }
            let word = rest.prefix(digits)
            rest = rest.dropFirst(digits)
            guard word.count == digits, word.allSatisfy(Self.isDigit),
                let number = Int32(String(decoding: word, as: UTF8.self)), range.contains(number)
            else { return nil }
            return number
        }
        guard let year = number(4, 0...9_999), let month = number(2, 1...12, after: "-"),
            let day = number(2, 1...31, after: "-"), let hour = number(2, 0...23, after: "Tt "),
            let minute = number(2, 0...59, after: ":"), let second = number(2, 0...60, after: ":")
        else { return nil }
        var nanoseconds: UInt32 = 0
        if rest.first == UInt8(ascii: ".") {
            let digits = rest.dropFirst().prefix(while: Self.isDigit)
            guard !digits.isEmpty else { return nil }
            rest = rest.dropFirst(1 + digits.count)
            for place in 0..<9 {
                let digit = place < digits.count ? digits[digits.startIndex + place] - UInt8(ascii: "0") : 0
                nanoseconds = nanoseconds * 10 + UInt32(digit)
            }
        }
        var offset: Int64 = 0
        switch rest.popFirst() {
        case UInt8(ascii: "Z"), UInt8(ascii: "z"): break
        case let sign? where sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-"):
            guard let hours = number(2, 0...23) else { return nil }
            // ISO 8601 allows an offset without a colon, too.
            guard let minutes = number(2, 0...59, after: rest.count == 3 ? ":" : "") else { return nil }
            offset = Int64(hours * 3_600 + minutes * 60) * (sign == UInt8(ascii: "+") ? 1 : -1)
        default: return nil
        }
        var parts = tm()
        (parts.tm_year, parts.tm_mon, parts.tm_mday) = (year - 1_900, month - 1, day)
        (parts.tm_hour, parts.tm_min, parts.tm_sec) = (hour, minute, 0)
        let whole = Int64(timegm(&parts))
        // 31 April is another day by now.
        guard rest.isEmpty, parts.tm_mday == day else { return nil }
        self.init(seconds: whole + Int64(second) - offset, nanoseconds: nanoseconds)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    /// The time in UTC, with milliseconds, or with all nanoseconds if there are more; nil before the year 0 and after
    /// 9999.
    package var rfc3339: String? {
        var (time, parts) = (time_t(seconds), tm())
        guard gmtime_r(&time, &parts) != nil, (0...9_999).contains(Int(parts.tm_year) + 1_900) else { return nil }
        func padded(_ number: some BinaryInteger, _ digits: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: digits - text.utf8.count) + text
        }
        let date = [padded(Int(parts.tm_year) + 1_900, 4), padded(parts.tm_mon + 1, 2), padded(parts.tm_mday, 2)]
        let clock = [parts.tm_hour, parts.tm_min, parts.tm_sec].map { padded($0, 2) }
        let fraction =
            nanoseconds.isMultiple(of: 1_000_000) ? padded(nanoseconds / 1_000_000, 3) : padded(nanoseconds, 9)
        return "\(date.joined(separator: "-"))T\(clock.joined(separator: ":")).\(fraction)Z"
    }
}
