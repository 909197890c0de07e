import Sharing

/// One line that tells how far a transfer is: which it is, bar, share, rate, time left. Pure: a terminal draws it.
package struct ProgressLine: Sendable {
    private let label: String
    private let total: UInt64?
    private var rate = MovingRate()
    /// Tenths of the transfer, or steps of unknown size, for which there was a line.
    private var steps: UInt64 = 0

    /// Longest label, in columns.
    private static let labelLength = 40

    /// - Parameters:
    ///   - label: names the items and the peer; escaped.
    ///   - total: bytes of all items; nil if unknown.
    package init(_ label: String = "", total: UInt64?) {
        self.label =
            label.columns > Self.labelLength ? label.prefix(columns: Self.labelLength - 1) + Glyph.ellipsis : label
        self.total = total
    }

    /// - Parameters:
    ///   - bytes: bytes on the other side by now.
    ///   - moved: bytes that were sent until now, for the rate; nil for `bytes`. Fewer than `bytes` if some were there
    ///     before.
    ///   - width: columns of the terminal; parts that do not fit are left out.
    package mutating func text(
        bytes: UInt64, moved: UInt64? = nil, at now: ContinuousClock.Instant, width: Int
    ) -> String {
        let rest = width - label.columns - 1
        guard !label.isEmpty, rest >= Self.minimumBesideLabel else { return text(bytes, moved ?? bytes, now, width) }
        return "\(label) \(text(bytes, moved ?? bytes, now, rest))"
    }

    /// Columns that the numbers need; where there are fewer, the label is left out.
    private static let minimumBesideLabel = 45

    /// Bytes between two lines where the size is unknown.
    private static let unknownStep: UInt64 = 100_000_000

    /// A whole line that stays, at each tenth of the transfer: for logs and screen readers.
    /// - Parameters: as of `text`.
    /// - Returns: nil between two tenths.
    mutating func step(bytes: UInt64, moved: UInt64? = nil, at now: ContinuousClock.Instant) -> String? {
        rate.note(moved ?? bytes, at: now)
        let facts = Self.facts(bytes, of: total, rate: rate.bytesPerSecond)
        var tenths: UInt64?
        if let total { tenths = total == 0 ? 10 : UInt64(min(Double(bytes) / Double(total), 1) * 10) }
        let reached = tenths ?? bytes / Self.unknownStep
        guard reached > steps else { return nil }
        steps = reached
        let shown = (tenths.map { ["\($0 * 10)%"] } ?? []) + facts
        return (label.isEmpty ? "" : label + ": ") + shown.joined(separator: ", ")
    }

    /// The amount, speed and time left, for a window that draws the bar itself.
    /// - Parameters: as of `text`.
    mutating func facts(bytes: UInt64, moved: UInt64? = nil, at now: ContinuousClock.Instant) -> String {
        rate.note(moved ?? bytes, at: now)
        return Self.facts(bytes, of: total, rate: rate.bytesPerSecond).joined(separator: ", ")
    }

    private mutating func text(
        _ bytes: UInt64, _ moved: UInt64, _ now: ContinuousClock.Instant, _ width: Int
    ) -> String {
        rate.note(moved, at: now)
        let text = Self.facts(bytes, of: total, rate: rate.bytesPerSecond).joined(separator: "  ")
        guard let total, total > 0 else { return String(text.prefix(width)) }
        let share = min(Double(bytes) / Double(total), 1)
        let percent = "\(Int(share * 100))%"
        let room = width - text.count - percent.count - 6
        guard room >= 10 else { return String("\(percent)  \(text)".prefix(width)) }
        let bar = min(room, 30)
        let full = Int(share * Double(bar))
        return "[" + String(repeating: Glyph.full, count: full) + String(repeating: Glyph.empty, count: bar - full)
            + "] \(percent)  \(text)"
    }

    /// The amount; then speed and time left, where they are known.
    /// - Parameter rate: bytes a second.
    static func facts(_ bytes: UInt64, of total: UInt64?, rate: Double?) -> [String] {
        var facts = [ByteCount.text(bytes)]
        if let total { facts[0] += " of \(ByteCount.text(total))" }
        if let rate {
            facts.append("\(ByteCount.text(UInt64(rate)))/s")
            if let total, total > bytes, rate >= 1 { facts.append(timeLeft(Double(total - bytes) / rate)) }
        }
        return facts
    }

    private static func timeLeft(_ seconds: Double) -> String {
        guard seconds < 360_000 else { return "days left" }
        let whole = Int(seconds.rounded(.up))
        let (hours, minutes, rest) = (whole / 3_600, whole / 60 % 60, whole % 60)
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return hours > 0 ? "\(hours):\(two(minutes)):\(two(rest)) left" : "\(minutes):\(two(rest)) left"
    }
}
