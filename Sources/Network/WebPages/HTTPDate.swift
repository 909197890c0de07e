import Glibc

/// Times as HTTP writes them: `Fri, 01 May 2026 10:00:00 GMT`, in seconds since 1970.
package enum HTTPDate {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    package static func text(_ seconds: Int64) -> String {
        var (time, parts) = (time_t(seconds), tm())
        gmtime_r(&time, &parts)
        let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
        let clock = [parts.tm_hour, parts.tm_min, parts.tm_sec].map(two).joined(separator: ":")
        return "\(days[Int(parts.tm_wday)]), \(two(parts.tm_mday)) \(months[Int(parts.tm_mon)]) "
            + "\(parts.tm_year + 1_900) \(clock) GMT"
    }

    private static func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }

    /// Reads also the two older forms, as each server must (RFC 9110, 5.6.7).
    /// - Returns: nil for other text.
    package static func seconds(_ text: String) -> Int64? {
        var words = text.split { " ,-:".contains($0) }.map(String.init)
        if words.count == 7 { words = [words[0], words[2], words[1], words[6], words[3], words[4], words[5], "GMT"] }
        guard words.count == 8, words[7] == "GMT", let month = months.firstIndex(of: words[2]) else { return nil }
        let numbers = [1, 3, 4, 5, 6].compactMap { words[$0].utf8.count <= 4 ? Int32(words[$0]) : nil }
        guard numbers.count == 5, numbers.allSatisfy({ $0 >= 0 }) else { return nil }
        var parts = tm()
        // Only one of the older forms has years of two digits.
        let year = numbers[1] >= 100 ? numbers[1] : numbers[1] + (numbers[1] < 70 ? 2_000 : 1_900)
        (parts.tm_mday, parts.tm_mon, parts.tm_year) = (numbers[0], Int32(month), year - 1_900)
        (parts.tm_hour, parts.tm_min, parts.tm_sec) = (numbers[2], numbers[3], numbers[4])
        return Int64(timegm(&parts))
    }
}
