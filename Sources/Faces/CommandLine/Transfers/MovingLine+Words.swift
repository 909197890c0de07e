import Lines
import Sharing

/// A moving transfer in words. Foreign text is escaped.
extension MovingLine: WordedLine {
    /// Characters of an id that are shown: enough to tell transfers apart.
    static let shownIDLength = 8

    /// `4f21a07c  film.mkv from study ✓: 41 %  1.2 GB of 3.0 GB  38 MB/s  0:47 left`
    var words: [String] { ["\(transfer.prefix(Self.shownIDLength))  \(label): \(course)"] }

    /// `film.mkv and 2 more from study ✓`, or `passes film.mkv on for study ✓` in a group.
    var label: String {
        var items = TerminalText.escaped(name, limit: 60)
        if count > 1 { items += " and \(count - 1) more" }
        guard let from else { return "\(items) to \(TerminalText.escaped(to ?? "", limit: 64))" }
        let sender = from.line(via: via)
        return relaying == nil ? "\(items) from \(sender)" : "passes \(items) on for \(sender)"
    }

    /// Percent of all accepted items; nil if the sum is unknown.
    var percent: Int? {
        guard let bytes, let total, total > 0 else { return nil }
        return Int(min(Double(bytes) / Double(total), 1) * 100)
    }

    private var course: String {
        if isOver { return TerminalText.escaped(reason ?? "stored", limit: 400) }
        guard let bytes else { return "accepted, \(ByteCount.text(size))" }
        let percent = percent.map { ["\($0) %"] } ?? []
        return (percent + ProgressLine.facts(bytes, of: total, rate: rate.map(Double.init))).joined(separator: "  ")
    }
}
