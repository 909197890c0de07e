import Control
import Endpoints
import Lines
import Sending
import Sharing
import UniformTypes

/// An offer as people read it; foreign text is escaped.
enum OfferText {
    // MARK: All of it

    /// - Parameter items: most items that are listed.
    static func lines(_ offer: OfferSummary, items most: Int = .max) -> [String] {
        var lines = ["\(offer.number): \(asker(offer)) offers \(items(offer)), \(sizes(offer))"]
        if let warning = warning(offer) { lines.append(warning) }
        if let subject = offer.subject { lines.append("  subject: \(TerminalText.escaped(subject))") }
        if let note = offer.note { lines.append("  note: \(TerminalText.escaped(note))") }
        // `waft accept --items` takes these numbers.
        let isNumbered = offer.itemCount > 1
        let shown = offer.items.prefix(most)
        for (index, item) in shown.enumerated() {
            lines.append("  " + (isNumbered ? "\(index + 1). " : "") + line(item))
        }
        let rest = offer.itemCount - shown.count
        if rest > 0 { lines.append("  and \(rest) more; all of them: waft offers \(offer.number)") }
        return lines
    }

    /// The question below a list that may have scrolled away: it names the sender and the size.
    static func question(_ offer: OfferSummary) -> String {
        "Accept \(items(offer)), \(size(offer)), from \(asker(offer))?"
    }

    private static func items(_ offer: OfferSummary) -> String {
        offer.itemCount == 1 ? "1 item" : "\(offer.itemCount) items"
    }

    private static func line(_ item: OfferSummary.Item) -> String {
        // People know a PDF document; the identifier is in --json.
        let type = UniformType(item.type).map(TypeRegistry.system.name) ?? item.type
        var facts = [TerminalText.escaped(type, limit: 80)]
        facts.append(ByteCount.text(of: item.size, hint: item.sizeHint))
        if let entries = item.entries { facts.append(Self.entries(entries)) }
        if item.hasPreview == true { facts.append("with a preview") }
        return "\(TerminalText.escaped(item.name, limit: nameLimit))  \(facts.joined(separator: ", "))"
    }

    /// - Parameter count: of a folder, with itself.
    static func entries(_ count: UInt64) -> String {
        count < 2 ? "empty folder" : count == 2 ? "1 thing in it" : "\(count - 1) things in it"
    }

    // MARK: Events

    /// One line for an offer, and a second one if its sender uses the name of a contact; one line for a settled offer, a
    /// stored item and a transfer that failed. No lines for other events.
    static func lines(_ event: ControlEvent) -> [String] {
        switch event {
        case .offer(let offer):
            let line =
                "\(offer.number): \(asker(offer)) offers \(named(offer.items, of: offer.itemCount)), \(sizes(offer))"
            return [line] + (warning(offer).map { [$0] } ?? [])
        case .settled(let offer):
            return ["\(offer.number.map { "\($0): " } ?? "")\(outcome(offer))"]
        case .acceptedUnasked(let offer):
            let items = offer.items ?? []
            var what = named(items, of: offer.itemCount)
            if let size = offer.size, items.allSatisfy({ $0.size != nil }) { what += ", \(ByteCount.text(size))" }
            let sender = Person.line(
                offer.contact, claims: offer.claims, name: offer.peerName, peer: offer.peer, via: offer.via)
            return ["\(sender) sends \(what): \(outcome(offer)), as your settings say"]
        case .stored(let arrival):
            let name = TerminalText.escaped(arrival.stored, limit: nameLimit)
            return ["stored: \(name) from \(Person.line(arrival))"]
        case .ended(_, let peer, let fault?, _):
            let sender = peer.flatMap { PeerID(text: $0)?.short } ?? "a peer without a key"
            return ["a transfer from \(sender) ended: \(TerminalText.escaped(fault, limit: 400))"]
        case .visibility, .ready, .progress, .opened, .left, .settings, .contacts, .protection, .ended:
            return []
        }
    }

    private static func named(_ items: [OfferSummary.Item], of count: Int) -> String {
        let first = items.first.map { TerminalText.escaped($0.name, limit: nameLimit) } ?? "nothing"
        return count > 1 ? "\(first) and \(count - 1) more" : first
    }

    private static func outcome(_ offer: SettledOffer) -> String {
        if offer.accepted == offer.itemCount { return "accepted" }
        if offer.accepted > 0 { return "\(offer.accepted) of \(offer.itemCount) items accepted" }
        guard offer.isExpired else { return "declined" }
        let cause = offer.answers.lazy.compactMap { $0.answer == "expired" ? $0.cause : nil }.first
        return (cause ?? .timeout).words
    }

    // MARK: Parts

    /// Names that a disk can take are at most this long.
    private static let nameLimit = 256

    private static func asker(_ offer: OfferSummary) -> String {
        if let asker = offer.asker { return Person.line(asker.line, isContact: asker.contact != nil) + way(offer) }
        return "\(TerminalText.peerName(offer.peerName)) (\(TerminalText.escaped(offer.peerID ?? "no key")))"
    }

    /// The dialect of a peer that proved its key otherwise than by Waft's own; the program and the address of one that says
    /// which program it is.
    private static func way(_ offer: OfferSummary) -> String {
        if let program = offer.program {
            return ", \(TerminalText.escaped(program, limit: 80)) at \(offer.host ?? "an unknown address")"
        }
        guard offer.peer != nil, let dialect = offer.via.map({ DialectTable.known[$0] }), !dialect.provesKeys else {
            return ""
        }
        return " by \(dialect.title)"
    }

    private static func warning(_ offer: OfferSummary) -> String? {
        offer.asker?.warning.map { "  warning: \(TerminalText.escaped($0, limit: 1_600))" }
    }

    private static func sizes(_ offer: OfferSummary) -> String {
        "\(size(offer)); \(ByteCount.text(offer.freeRoom)) free"
    }

    private static func size(_ offer: OfferSummary) -> String {
        ByteCount.total(
            offer.size, hinted: offer.hintedSize ?? 0,
            isComplete: offer.items.allSatisfy { $0.size != nil || $0.sizeHint != nil })
    }
}
