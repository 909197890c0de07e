import Sharing

/// One line that tells how far a transfer is: which it is, bar, share, rate, time left. Pure: a terminal draws it.
package struct ProgressLine: Sendable {
    /// When and how much, for the rate: the last seconds count, not the whole.
    private struct Sample {
        var time: ContinuousClock.Instant
        var bytes: UInt64
    }

    private let label: String
    private let total: UInt64?
    private var samples: [Sample] = []

    /// Seconds over which the rate is taken.
    private static let window: Duration = .seconds(5)

    /// Longest label, in characters.
    private static let labelLength = 40

    /// - Parameters:
    ///   - label: names the items and the peer; escaped.
    ///   - total: bytes of all items; nil if unknown.
    package init(_ label: String = "", total: UInt64?) {
        self.label = label.count > Self.labelLength ? label.prefix(Self.labelLength - 1) + Glyph.ellipsis : label
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
        let rest = width - label.count - 1
        guard !label.isEmpty, rest >= Self.minimumBesideLabel else { return text(bytes, moved ?? bytes, now, width) }
        return "\(label) \(text(bytes, moved ?? bytes, now, rest))"
    }

    /// Columns that the numbers need; where there are fewer, the label is left out.
    private static let minimumBesideLabel = 45

    private mutating func text(
        _ bytes: UInt64, _ moved: UInt64, _ now: ContinuousClock.Instant, _ width: Int
    ) -> String {
        samples.append(Sample(time: now, bytes: moved))
        while samples.count > 2, now - samples[0].time > Self.window { samples.removeFirst() }
        var facts = [ByteCount.text(bytes)]
        if let total { facts[0] += " of \(ByteCount.text(total))" }
        if let rate {
            facts.append("\(ByteCount.text(UInt64(rate)))/s")
            if let total, total > bytes, rate >= 1 { facts.append(Self.timeLeft(Double(total - bytes) / rate)) }
        }
        let text = facts.joined(separator: "  ")
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

    /// Bytes a second, nil before there is anything to say.
    private var rate: Double? {
        guard let first = samples.first, let last = samples.last, last.bytes > first.bytes else { return nil }
        let (seconds, attoseconds) = (last.time - first.time).components
        let time = Double(seconds) + Double(attoseconds) / 1e18
        return time > 0.05 ? Double(last.bytes - first.bytes) / time : nil
    }

    private static func timeLeft(_ seconds: Double) -> String {
        guard seconds < 360_000 else { return "days left" }
        let whole = Int(seconds.rounded(.up))
        let (hours, minutes, rest) = (whole / 3_600, whole / 60 % 60, whole % 60)
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return hours > 0 ? "\(hours):\(two(minutes)):\(two(rest)) left" : "\(minutes):\(two(rest)) left"
    }
}
