import Lines
import Sharing

/// A rule in words.
extension RuleLine: WordedLine {
    /// Values of one condition that are named in a line.
    private static let namedValues = 8

    var words: [String] { [TerminalText.escaped(text, limit: 2_000)] }

    /// `1  accept: from Anna; type public.image; up to 5.0 GB; into Photos/Anna`. Not escaped.
    var text: String {
        // In the order in which the settings are read.
        let conditions = [
            senders.map { "from \(Self.list($0))" }, types.map { "type \(Self.list($0))" },
            names.map { "name \(Self.list($0))" }, sizeAtMost.map { "up to \(ByteCount.text($0))" },
            sizeAtLeast.map { "at least \(ByteCount.text($0))" },
            sizePerDay.map { "up to \(ByteCount.text($0)) in 24 hours" }, hours.map { "at \($0)" },
        ].compactMap(\.self)
        let all = (conditions.isEmpty ? ["everything"] : conditions) + destinationWords(folder, handler, protection)
        return "\(rule)  \(outcome): \(all.joined(separator: "; "))"
    }

    private static func list(_ values: [String]) -> String {
        values.prefix(namedValues).joined(separator: " or ")
            + (values.count > namedValues ? " or \(Glyph.ellipsis)" : "")
    }
}

extension PolicyDecisionLine: WordedLine {
    var words: [String] {
        let size = size.map(ByteCount.text) ?? "unknown size"
        var lines = [
            "\(TerminalText.escaped(path, limit: 4_096))  \(TerminalText.escaped(type)), \(size)",
            "  \(TerminalText.escaped(explanation, limit: 4_000))",
        ]
        let destination = destinationWords(folder, handler, protection)
        if !destination.isEmpty {
            lines.append("  goes \(TerminalText.escaped(destination.joined(separator: ", "), limit: 4_000))")
        }
        return lines
    }
}

private func destinationWords(_ folder: String?, _ handler: String?, _ protection: String?) -> [String] {
    [folder.map { "into \($0)" }, handler.map { "to \($0)" }, protection.map { "sealed as \($0)" }].compactMap(\.self)
}
