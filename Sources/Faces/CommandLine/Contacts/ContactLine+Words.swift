import Lines
import Sharing

/// A contact in words. Foreign text is escaped.
extension ContactLine: WordedLine {
    private static let labelWidth = 10
    /// Types that are named in a line.
    private static let namedTypes = 4

    /// `kitchen  k7qf-9m2c-x4ap-t0zd  accept: public.image, up to 5.0 GB, until 2026-12-21 08:00:00`.
    var words: [String] { ["\(TerminalText.escaped(name))  \(short)  \(terms)"] }

    private var terms: String {
        if blocked { return "blocked" }
        let limits = policy == "decline" ? [] : limits
        let end = ends.map { "; a contact until \($0.local)" } ?? ""
        return policy + (limits.isEmpty ? "" : ": " + limits.joined(separator: ", ")) + end
    }

    private var limits: [String] {
        var words: [String] = []
        if let types {
            let more = types.count > Self.namedTypes ? " or \(Glyph.ellipsis)" : ""
            words.append(types.prefix(Self.namedTypes).joined(separator: " or ") + more)
        }
        if let sizeAtMost { words.append("up to \(ByteCount.text(sizeAtMost))") }
        if let itemsAtMost { words.append("up to \(itemsAtMost) \(itemsAtMost == 1 ? "item" : "items")") }
        if let sizePerDay { words.append("up to \(ByteCount.text(sizePerDay)) a day") }
        if let hours { words.append(hours) }
        if let until { words.append("\(hasEnded ? "ended" : "until") \(until.local)") }
        return words
    }

    /// All facts about the contact, a line each.
    var details: [String] {
        let rows: [(label: String, values: [String])] = [
            ("id", [id]),
            ("state", blocked ? ["blocked: its offers are refused, and you are not asked"] : []),
            ("contact", ends.map { ["until \($0.local), then a stranger again"] } ?? []),
            ("policy", [policyWords]),
            ("types", types ?? []),
            ("size", sizeAtMost.map { ["up to \(ByteCount.text($0)) in one offer"] } ?? []),
            ("items", itemsAtMost.map { ["up to \($0) in one offer"] } ?? []),
            ("day", sizePerDay.map { [day($0)] } ?? []),
            ("time", hours.map { [$0] } ?? []),
            ("until", until.map { [$0.local + (hasEnded ? " (ended: you are asked)" : "")] } ?? []),
            ("handler", handler.map { [TerminalText.escaped($0)] } ?? []),
            ("folder", folder.map { [TerminalText.escaped($0)] } ?? []),
            ("sealed", protection.map { [$0] } ?? []),
            ("verified", ["\(verificationWords), \(verifiedAt.local)"]),
            ("reached", reached.map { "\(TerminalText.escaped($0.host)) port \($0.port), \($0.lastGood.local)" }),
        ]
        return [TerminalText.escaped(name)] + rows.flatMap(Self.lines)
    }

    private func day(_ size: UInt64) -> String {
        let words =
            received.map { "\(ByteCount.text($0)) received" } ?? "you are asked, because the journal cannot be read"
        return "up to \(ByteCount.text(size)) in 24 hours; \(words)"
    }

    private static func lines(_ row: (label: String, values: [String])) -> [String] {
        row.values.enumerated().map { index, value in
            let label = index == 0 ? row.label : ""
            return "  " + label + String(repeating: " ", count: labelWidth - label.count) + value
        }
    }

    private var policyWords: String {
        switch policy {
        case "accept": "accept: its offers are accepted without a question"
        case "ask": "ask: you are asked about its offers"
        default: "decline: its offers are declined"
        }
    }

    private var verificationWords: String {
        switch verifiedBy {
        case "comparedCode": "by comparing codes"
        case "typedCode": "by typing a code"
        case "keyID": "by its key id"
        case "spokenCode": "by a spoken code"
        default: "by the key of an offer, which was not compared"
        }
    }
}

extension BlockedStrangerLine: WordedLine {
    var words: [String] { ["stranger \"\(TerminalText.escaped(name))\"  \(short)  blocked since \(at.local)"] }
}

extension RelationLine: WordedLine {
    var words: [String] {
        let peer = name.map { TerminalText.escaped($0) } ?? "the peer \(short)"
        return switch change {
        case .forgotten: ["forgot \(peer) (\(short))\(blocked ? "; its key is still blocked" : "")"]
        case .blocked: ["\(peer) is blocked"]
        case .unblocked: ["\(peer) is no longer blocked"]
        }
    }
}

extension MeLine: WordedLine {
    var words: [String] { ["name  \(TerminalText.escaped(name))", "id    \(id)"] }
}
