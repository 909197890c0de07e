import ContentCheck
import Digests
import Foundation
import Journal
import Operations
import Sharing
import UniformTypes

/// An arrival in words. Foreign text is escaped.
enum JournalText {
    /// One line of a list.
    static func line(_ entry: JournalEntry, _ people: Acquaintances) -> String {
        let arrival = entry.arrival
        let columns = [
            pad("\(arrival.number)", 6), time(entry.arrived), pad(ByteCount.text(arrival.size), 9),
            TerminalText.escaped(arrival.stored.name.text),
        ]
        let sender = people.person(arrival.peer, callingItself: arrival.senderName).line
        return columns.joined(separator: "  ") + "  from \(sender)\(suffix(entry))"
    }

    private static func suffix(_ entry: JournalEntry) -> String {
        (entry.arrival.again == nil ? "" : ", sent again") + standing(entry)
    }

    private static func standing(_ entry: JournalEntry) -> String {
        let left = departure(entry).map { "; \($0)" } ?? ""
        if entry.arrival.content?.outcome == .lying {
            return ": content does not match its type, no handler asked" + left
        }
        if entry.departure != nil, [.none, .gone].contains(entry.state) { return ":" + left.dropFirst() }
        return entry.state == .none ? "" : ": " + words(entry) + left
    }

    /// All that is known, a line each.
    static func lines(_ entry: JournalEntry, _ people: Acquaintances, icon: DocumentIcon? = nil) -> [String] {
        let arrival = entry.arrival
        var facts = [
            ("name", TerminalText.escaped(arrival.stored.name.text)),
            ("path", TerminalText.escaped(arrival.stored.path, limit: 4_096)),
            ("type", arrival.type.identifier),
            ("size", ByteCount.text(arrival.size)),
            ("digest", arrival.digest.description + (arrival.protection.isSealed ? ", of its sealed form" : "")),
            ("from", people.person(arrival.peer, callingItself: arrival.senderName).line),
            ("via", arrival.dialect.name),
            ("arrived", time(entry.arrived)),
            ("transfer", "\(arrival.transfer), item \(arrival.itemNumber + 1) of \(arrival.itemsInOffer)"),
        ]
        if arrival.item.name != arrival.stored.name {
            facts.insert(("offered as", TerminalText.escaped(arrival.item.name.text)), at: 1)
        }
        if let again = arrival.again { facts.append(("sent again", "it has been in the Inbox since arrival \(again)")) }
        if arrival.protection.isSealed { facts.append(("protection", arrival.protection.rawValue)) }
        if let content = arrival.content {
            facts.append(("content", "\(content.outcome.rawValue): \(TerminalText.escaped(content.explanation))"))
        }
        if let icon { facts.append(("icon", icon.words)) }
        if let application = SourceApplication.named(in: arrival.annotation) {
            facts.append(("sent with", "\(application), as the sender says"))
        }
        for (key, value) in SourceApplication.removed(from: arrival.annotation).sorted(by: { $0.key < $1.key }) {
            facts.append((TerminalText.escaped(key, limit: 20), TerminalText.escaped(value, limit: 1_000)))
        }
        facts.append(("delivery", words(entry)))
        if let left = departure(entry) { facts.append(("left", left)) }
        let lines = facts.map { pad($0.0 + " ", -11) + $0.1 }
        return ["\(arrival.number)"] + lines.map { "  " + $0 } + entry.attempts.flatMap(Self.lines)
    }

    /// How the item left the Inbox; nil if it has not.
    static func departure(_ entry: JournalEntry) -> String? {
        guard let departure = entry.departure else { return nil }
        let toward = TerminalText.escaped(departure.toward, limit: 4_096)
        return switch departure.how {
        case .taken: "taken to \(toward) on \(time(departure.time))"
        case .removed: "removed on \(time(departure.time))"
        case .handler: "gone after \(toward) was asked on \(time(departure.time))"
        }
    }

    /// How the delivery stands.
    private static func words(_ entry: JournalEntry) -> String {
        switch entry.state {
        case .none:
            entry.arrival.content?.outcome == .lying
                ? "no handler asked: the content does not match the type" : "no handler asked"
        case .waiting: waiting(entry)
        case .yes: "opened"
        case .no: "no handler wants it"
        case .failed: "the handler failed; again: waft inbox retry \(entry.arrival.number)"
        case .parked: "parked, after a day of trying; again: waft inbox retry \(entry.arrival.number)"
        case .gone: "it had left the Inbox before a handler was asked"
        }
    }

    private static func waiting(_ entry: JournalEntry) -> String {
        guard let waiting = entry.waiting, waiting.deferrals > 0 else {
            return entry.arrival.protection.isSealed
                ? "waits for its handler, or for the unlock: waft unlock" : "waits for its handler"
        }
        return "its handler is asked again at \(time(waiting.due))"
    }

    private static func lines(_ attempt: JournalAttempt) -> [String] {
        let asked = attempt.isAsked ? ", asked for" : ""
        let handler = TerminalText.escaped(attempt.handler)
        let head = "  attempt \(attempt.number), \(handler)\(asked), \(time(attempt.began))"
        guard let ended = attempt.ended, let outcome = attempt.outcome else {
            return [head + ": running, or cut off when the receiver ended"]
        }
        let seconds = Double(ended.milliseconds &- attempt.began.milliseconds) / 1_000
        let reason = outcome.reason.isEmpty ? "" : ", \(TerminalText.escaped(outcome.reason, limit: 400))"
        let output = outcome.standardError.split(whereSeparator: \.isNewline).map { line in
            "    | \(TerminalText.escaped(String(line), limit: 400))"
        }
        let duration = seconds >= 0 ? " for \(seconds.formatted(.number.precision(.fractionLength(1)))) s" : ""
        return [head + "\(duration): \(outcome.answer.rawValue)\(reason)"] + output
    }

    /// The local time.
    static func time(_ time: WallTime) -> String {
        let format = Date.ISO8601FormatStyle(timeZone: .current).year().month().day()
            .dateTimeSeparator(.space).time(includingFractionalSeconds: false)
        return Date(timeIntervalSince1970: Double(time.milliseconds) / 1_000).formatted(format)
    }

    /// - Parameter width: negative to stand at the left.
    private static func pad(_ text: String, _ width: Int) -> String {
        let space = String(repeating: " ", count: max(0, abs(width) - text.count))
        return width < 0 ? text + space : space + text
    }
}

extension DocumentIcon {
    /// For people; escaped.
    fileprivate var words: String {
        ([name, genericName] + [file].compactMap(\.self)).map { TerminalText.escaped($0, limit: 4_096) }
            .joined(separator: ", ")
    }
}
