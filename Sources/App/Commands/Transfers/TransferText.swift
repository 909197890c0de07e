import Control
import Lines
import Sharing

/// A moving transfer in words. Foreign text is escaped.
enum TransferText {
    /// Characters of an id that are shown: enough to tell transfers apart.
    static let idLength = 8
    private static let nameLimit = 60

    /// `4f21a07c  film.mkv from study ✓: 41 %  1.2 GB of 3.0 GB  38 MB/s  0:47 left`
    static func line(_ transfer: TransferSummary) -> String {
        "\(transfer.transfer.prefix(idLength))  \(label(transfer)): \(course(transfer))"
    }

    /// `film.mkv and 2 more from study ✓`
    static func label(_ transfer: TransferSummary) -> String {
        var items = TerminalText.escaped(transfer.name, limit: nameLimit)
        if transfer.itemCount > 1 { items += " and \(transfer.itemCount - 1) more" }
        guard transfer.way == .in else { return "\(items) to \(TerminalText.escaped(transfer.peerName, limit: 64))" }
        let sender = Person.line(
            transfer.contact, claims: transfer.claims, name: transfer.peerName, peer: transfer.peer, via: transfer.via)
        return "\(items) from \(sender)"
    }

    /// Percent of all accepted items; nil if the sum is unknown.
    static func percent(_ transfer: TransferSummary) -> Int? {
        guard let bytes = transfer.bytes, let total = transfer.total, total > 0 else { return nil }
        return Int(min(Double(bytes) / Double(total), 1) * 100)
    }

    private static func course(_ transfer: TransferSummary) -> String {
        if let end = transfer.end { return TerminalText.escaped(end, limit: 400) }
        guard let bytes = transfer.bytes else { return "accepted, \(ByteCount.text(transfer.size))" }
        let percent = percent(transfer).map { ["\($0) %"] } ?? []
        return (percent + ProgressLine.facts(bytes, of: transfer.total, rate: transfer.rate)).joined(separator: "  ")
    }
}
