import Control
import Sharing

/// An offer as people read it, every foreign string escaped.
enum OfferText {
    /// Items that are shown one by one; the rest is counted.
    private static let shown = 10

    static func lines(_ offer: OfferSummary) -> [String] {
        let items = offer.itemCount == 1 ? "1 item" : "\(offer.itemCount) items"
        var lines = [
            "\(offer.number): \(TerminalText.escaped(offer.peerName, limit: 64)) (\(offer.peerID)) offers \(items), "
                + "\(ByteCount.text(offer.size)); \(ByteCount.text(offer.freeRoom)) free"
        ]
        if let note = offer.note { lines.append("  note: \(TerminalText.escaped(note))") }
        for item in offer.items.prefix(shown) { lines.append("  " + line(item)) }
        let rest = offer.itemCount - min(offer.items.count, shown)
        if rest > 0 { lines.append("  and \(rest) more") }
        return lines
    }

    private static func line(_ item: OfferSummary.Item) -> String {
        var facts = [TerminalText.escaped(item.type, limit: 80)]
        facts.append(item.size.map(ByteCount.text) ?? "size not known")
        if let entries = item.entries { facts.append(entries == 1 ? "empty folder" : "\(entries - 1) things in it") }
        return "\(TerminalText.escaped(item.name, limit: 120))  \(facts.joined(separator: ", "))"
    }
}
