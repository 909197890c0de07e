/// Durations in the form that users type.
package enum DurationText {
    /// Reads `90s`, `10m`, `2h`, `30d`: a whole number with its unit, from a second to `ContactBounds.days` days.
    /// - Throws: `ContactError` `unfit`.
    package static func read(_ text: String) throws(ContactError) -> Duration {
        let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400]
        guard text.utf8.prefix(12).count < 12, let unit = text.last.flatMap({ units[$0] }),
            let number = Digits.number(text.dropLast()), number > 0
        else { throw .unfit("\(text.quoted) is not a duration such as 90s, 10m, 2h or 30d") }
        let (seconds, isTooLong) = (Int64(exactly: number) ?? .max).multipliedReportingOverflow(by: unit)
        guard !isTooLong, seconds <= Int64(ContactBounds.days) * 86_400 else {
            throw .unfit("\(text.quoted) is longer than \(ContactBounds.days) days")
        }
        return .seconds(seconds)
    }

    /// The form that users type: `90s`, `10m`, `2h`, `30d`, in the largest unit that fits, rounded up to seconds.
    package static func text(_ duration: Duration) -> String {
        let (whole, rest) = duration.components
        let seconds = rest > 0 && whole < .max ? whole + 1 : whole
        for (unit, size) in [("d", 86_400), ("h", 3_600), ("m", 60)] as [(String, Int64)]
        where seconds >= size && seconds % size == 0 {
            return "\(seconds / size)\(unit)"
        }
        return "\(seconds)s"
    }
}
