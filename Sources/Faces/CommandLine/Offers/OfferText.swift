import Lines
import Operations
import Sharing

/// An offer as people read it; foreign text is escaped.
enum OfferText {
    // MARK: All of it

    /// - Parameter items: most items that are listed.
    static func lines(_ offer: OfferLine, items most: Int = .max) -> [String] {
        var lines = ["\(number(offer))\(asker(offer)) offers \(items(offer)), \(sizes(offer))"]
        if let warning = warning(offer) { lines.append(warning) }
        if let others = others(offer) { lines.append("  \(others)") }
        if let subject = offer.subject { lines.append("  subject: \(TerminalText.escaped(subject))") }
        if let note = offer.note { lines.append("  note: \(TerminalText.escaped(note))") }
        // `waft accept --items` takes these numbers.
        let isNumbered = offer.count > 1
        let shown = offer.items.prefix(most)
        for (index, item) in shown.enumerated() {
            lines.append("  " + (isNumbered ? "\(index + 1). " : "") + line(item))
        }
        let rest = offer.count - shown.count
        if rest > 0 { lines.append("  and \(rest) more; all of them: waft offers \(offer.offer ?? 0)") }
        return lines
    }

    /// The question below a list that may have scrolled away: it names the sender and the size.
    static func question(_ offer: OfferLine) -> String {
        let others = others(offer).map { " (\($0))" } ?? ""
        return "Accept \(items(offer)), \(size(offer)), from \(asker(offer))\(others)?"
    }

    /// The others of a group, and what this machine does for them; nil for an offer to this machine alone.
    private static func others(_ offer: OfferLine) -> String? {
        offer.otherCount.map { OfferedGroup.words(others: $0, relays: offer.relays == true) }
    }

    private static func items(_ offer: OfferLine) -> String {
        offer.count == 1 ? "1 item" : "\(offer.count) items"
    }

    private static func line(_ item: ItemFields) -> String {
        // People know a PDF document; the identifier is in --json.
        var facts = [TerminalText.escaped(TypeWords.name(of: item.type), limit: 80)]
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
                "\(number(offer))\(asker(offer)) offers \(named(offer.items, of: offer.count)), \(sizes(offer))"
            return [line] + (warning(offer).map { [$0] } ?? [])
        case .answered(let answer):
            let outcome = outcome(answer)
            if let number = answer.offer { return ["\(number): \(outcome)"] }
            let items = answer.items ?? []
            var what = named(items, of: answer.count)
            if items.allSatisfy({ $0.size != nil }) { what += ", \(ByteCount.text(answer.size))" }
            return ["\(answer.from.line(via: answer.via)) sends \(what): \(outcome), as your settings say"]
        case .arrival(let arrival) where arrival.change == .stored:
            let name = TerminalText.escaped(arrival.stored, limit: nameLimit)
            return ["stored: \(name) from \(arrival.from.line(via: arrival.via))"]
        case .ended(let end) where end.isFailed:
            let sender = end.from?.id.flatMap { PeerID(text: $0)?.short } ?? "a peer without a key"
            return ["a transfer from \(sender) ended: \(TerminalText.escaped(end.reason ?? "", limit: 400))"]
        case .visibility, .ready, .progress, .arrival, .settings, .contacts, .protection, .ended:
            return []
        }
    }

    private static func named(_ items: [ItemFields], of count: Int) -> String {
        let first = items.first.map { TerminalText.escaped($0.name, limit: nameLimit) } ?? "nothing"
        return count > 1 ? "\(first) and \(count - 1) more" : first
    }

    private static func outcome(_ offer: AnsweredLine) -> String {
        if offer.acceptedCount == offer.count { return "accepted" }
        if offer.acceptedCount > 0 { return "\(offer.acceptedCount) of \(offer.count) items accepted" }
        guard offer.isExpired else { return "declined" }
        let cause = offer.answers.lazy.compactMap { $0.answer == "expired" ? $0.cause : nil }.first
        return (cause ?? .timeout).words
    }

    // MARK: Parts

    /// Names that a disk can take are at most this long.
    private static let nameLimit = 256

    private static func number(_ offer: OfferLine) -> String { offer.offer.map { "\($0): " } ?? "" }

    private static func asker(_ offer: OfferLine) -> String { offer.from.line(via: offer.via) + way(offer) }

    /// The dialect of a peer that proved its key otherwise than by Waft's own; the program and the address of one that says
    /// which program it is.
    private static func way(_ offer: OfferLine) -> String {
        if let program = offer.program {
            return ", \(TerminalText.escaped(program, limit: 80)) at \(offer.host ?? "an unknown address")"
        }
        guard offer.from.id != nil, let dialect = offer.via.map({ Waft.dialects[$0] }), !dialect.provesKeys else {
            return ""
        }
        return " by \(dialect.title)"
    }

    private static func warning(_ offer: OfferLine) -> String? {
        offer.warning.map { "  warning: \(TerminalText.escaped($0, limit: 1_600))" }
    }

    private static func sizes(_ offer: OfferLine) -> String {
        "\(size(offer)); \(ByteCount.text(offer.free ?? 0)) free"
    }

    private static func size(_ offer: OfferLine) -> String {
        ByteCount.total(
            offer.size ?? 0, hinted: offer.hintedSize,
            isComplete: offer.items.allSatisfy { $0.size != nil || $0.sizeHint != nil })
    }
}

extension OfferLine: WordedLine {
    var words: [String] {
        let number = offer ?? 0
        return OfferText.lines(self) + ["  waft accept \(number)   or   waft decline \(number)"]
    }
}

extension AcceptedLine: WordedLine {
    /// Items that are named; the others are counted.
    private static let shown = 10

    var words: [String] {
        let place = folder.map { ", into \(TerminalText.escaped($0))" } ?? ""
        guard let items else { return ["offer \(offer) accepted\(place)"] }
        let numbers =
            items.prefix(Self.shown).map { String($0 + 1) } + (items.count > Self.shown ? [Glyph.ellipsis] : [])
        let which = items.count == 1 ? "item" : "items"
        return ["offer \(offer) accepted, only \(which) \(numbers.joined(separator: ", "))\(place)"]
    }

    /// Items that do not go to the folder that was named for them.
    var presentWords: [String] {
        let present = present ?? []
        let lines = present.prefix(Self.shown).map { item in
            "\(TerminalText.escaped(item.name)): already there as \(TerminalText.escaped(item.stored)), and stays there unless "
                + "it has changed; to move it: waft inbox take \(item.arrival) FOLDER"
        }
        let rest = present.count - lines.count
        return lines + (rest > 0 ? ["and \(rest) more that are already there"] : [])
    }
}

extension DeclinedLine: WordedLine {
    var words: [String] { ["offer \(offer) declined" + (blocked ? ", and its sender is blocked" : "")] }
}
