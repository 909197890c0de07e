import Foundation
import Lines
import Operations
import Sharing

/// An arrival in words. Foreign text is escaped.
extension JournalLine: WordedLine {
    /// One line of a list.
    var words: [String] {
        let columns = [
            Self.pad("\(arrival)", 6), arrived.local, Self.pad(ByteCount.text(size), 9), TerminalText.escaped(stored),
        ]
        let sentAgain = again == nil ? "" : ", sent again"
        return [columns.joined(separator: "  ") + "  from \(from.line(via: via))\(sentAgain)\(standing)"]
    }

    private var isLying: Bool { content == "lying" }

    private var standing: String {
        let departure = left.map { "; \($0.words)" } ?? ""
        if isLying { return ": content does not match its type, no handler asked" + departure }
        if left != nil, ["none", "gone"].contains(delivery) { return ":" + departure.dropFirst() }
        return delivery == "none" ? "" : ": " + deliveryWords + departure
    }

    /// All that is known, a line each.
    var details: [String] {
        var facts = [
            ("name", TerminalText.escaped(stored)),
            ("path", TerminalText.escaped(path, limit: 4_096)),
            ("type", type),
            ("size", ByteCount.text(size)),
            ("digest", digest + (protection == nil ? "" : ", of its sealed form")),
            ("from", from.line(via: via)),
            ("via", via),
            ("arrived", arrived.local),
            ("transfer", "\(transfer), item \(item + 1) of \(itemsInOffer)"),
        ]
        if name != stored { facts.insert(("offered as", TerminalText.escaped(name)), at: 1) }
        if let again { facts.append(("sent again", "it has been in the Inbox since arrival \(again)")) }
        if let protection { facts.append(("protection", protection)) }
        if let content { facts.append(("content", "\(content): \(TerminalText.escaped(explanation ?? ""))")) }
        let icons = [icon, genericIcon, iconFile].compactMap(\.self).map { TerminalText.escaped($0, limit: 4_096) }
        if !icons.isEmpty { facts.append(("icon", icons.joined(separator: ", "))) }
        if let sourceApplication { facts.append(("sent with", "\(sourceApplication), as the sender says")) }
        for (key, value) in (annotation ?? [:]).sorted(by: { $0.key < $1.key }) {
            facts.append((TerminalText.escaped(key, limit: 20), TerminalText.escaped(value, limit: 1_000)))
        }
        facts.append(("delivery", deliveryWords))
        if let left { facts.append(("left", left.words)) }
        let lines = facts.map { "  " + Self.pad($0.0 + " ", -11) + $0.1 }
        return ["\(arrival)"] + lines + (attempts ?? []).flatMap(\.words)
    }

    /// How the delivery stands.
    private var deliveryWords: String {
        switch delivery {
        case "waiting" where deferrals > 0: "its handler is asked again at \(due?.local ?? "")"
        case "waiting" where protection != nil: "waits for its handler, or for the unlock: waft unlock"
        case "waiting": "waits for its handler"
        case "yes": "opened"
        case "no": "no handler wants it"
        case "failed": "the handler failed; again: waft inbox retry \(arrival)"
        case "parked": "parked, after a day of trying; again: waft inbox retry \(arrival)"
        case "gone": "it had left the Inbox before a handler was asked"
        default: isLying ? "no handler asked: the content does not match the type" : "no handler asked"
        }
    }

    /// - Parameter width: negative to stand at the left.
    private static func pad(_ text: String, _ width: Int) -> String {
        let space = String(repeating: " ", count: max(0, abs(width) - text.count))
        return width < 0 ? text + space : space + text
    }
}

extension JournalLine.Attempt {
    fileprivate var words: [String] {
        let asked = isAsked == true ? ", asked for" : ""
        let head = "  attempt \(attempt), \(TerminalText.escaped(handler))\(asked), \(began.local)"
        guard let duration, let handlerAnswer else {
            return [head + ": running, or cut off when the receiver ended"]
        }
        let seconds = Double(duration) / 1_000
        let time = seconds >= 0 ? " for \(seconds.formatted(.number.precision(.fractionLength(1)))) s" : ""
        let reason = reason.map { ", \(TerminalText.escaped($0, limit: 400))" } ?? ""
        let output = (output ?? "").split(whereSeparator: \.isNewline).map { line in
            "    | \(TerminalText.escaped(String(line), limit: 400))"
        }
        return [head + "\(time): \(handlerAnswer)\(reason)"] + output
    }
}

/// A sent transfer in words.
extension SentTransferLine: WordedLine {
    var words: [String] {
        let first = items.first.map { TerminalText.escaped($0.name) } ?? "nothing"
        let rest = count > 1 ? " and \(count - 1) more" : ""
        let receiver = (peer ?? PersonFields()).line(via: via)
        return ["\(ended.local)  \(first)\(rest) \(Glyph.arrow) \(receiver): \(outcome)"]
    }

    private var outcome: String {
        if storedCount == count {
            let amount = moved > 0 ? ", \(ByteCount.text(moved)) moved" : ""
            if items.contains(where: { $0.state == "sent" }) { return "the other side says it has it" + amount }
            return (items.allSatisfy { $0.state == "alreadyThere" } ? "already there" : "stored") + amount
        }
        // The first fault is shown before the number of successes.
        let bad = items.first { !["stored", "alreadyThere", "sent"].contains($0.state) }
        let reason = bad?.reason.map { ": \(TerminalText.escaped($0, limit: 200))" } ?? ""
        let state = bad.map { TerminalText.escaped(OutcomeWords.of($0.state), limit: 32) } ?? "not all stored"
        return count == 1 ? state + reason : "\(storedCount) of \(count) stored, \(state)\(reason)"
    }
}
