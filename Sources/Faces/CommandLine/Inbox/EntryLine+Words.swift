import Lines
import Sharing

// The lines of the Inbox in words. Foreign text is escaped.

/// The beginning of a line about an item.
private func itemHead(_ number: Int64, _ stored: String) -> String { "\(number)  \(TerminalText.escaped(stored))" }

extension ItemName {
    var head: String { itemHead(arrival, stored) }
}

extension ArrivalLine {
    var head: String { itemHead(arrival, stored) }
}

extension EntryLine: WordedLine {
    var words: [String] {
        let size = form == "file" ? ByteCount.text(size ?? 0) : form
        let padding = String(repeating: " ", count: max(0, 10 - size.count))
        let number = arrival.map { String($0) } ?? "-"
        let sender = from.map { " from " + $0.line(via: via) } ?? ""
        let line =
            "\(number)\(String(repeating: " ", count: max(0, 5 - number.count)))\(padding)\(size)  "
            + "\(arrived?.local ?? Self.noTime)  \(TerminalText.escaped(shownName, limit: 1_000))\(sender)"
            + (protection == nil ? "" : "  (sealed)")
        return [line] + (mark.map { ["            \(TerminalText.escaped($0))"] } ?? [])
    }

    /// The names of the columns.
    static let heading = "No.        Size  Arrived              Item"

    /// Fills the column of a time.
    private static let noTime = "-" + String(repeating: " ", count: 18)

    /// Number and size of the items: files with their size on the disk, folders with the size at arrival.
    static func summary(_ lines: [EntryLine]) -> String {
        let bytes = lines.reduce(UInt64(0)) { $0 &+ ($1.bytes ?? 0) }
        let unknown = lines.count { $0.form == "folder" && $0.arrival == nil }
        let words = lines.count == 1 ? "1 item" : "\(lines.count) items"
        let rest = unknown == 0 ? "" : ", without the contents of \(unknown == 1 ? "1 folder" : "\(unknown) folders")"
        return "\(words), \(ByteCount.text(bytes))\(rest)"
    }
}

extension TakenLine: WordedLine {
    var words: [String] { ["\(item.head): \(Glyph.arrow) \(TerminalText.escaped(toward, limit: 4_096))"] }

    var problems: [String] { remarks.map { TerminalText.escaped($0, limit: 1_000) } }
}

extension RemovedLine: WordedLine {
    var words: [String] { ["\(item.head): \(wasGone ? "it was gone already" : "removed")"] }

    var problems: [String] { remarks.map { TerminalText.escaped($0, limit: 1_000) } }
}

extension RetriedLine: WordedLine {
    var words: [String] { ["\(itemHead(arrival, stored)): given to its handler again"] }
}

extension AdoptedLine: WordedLine {
    var words: [String] { ["the Inbox is \(TerminalText.escaped(inbox, limit: 400)) now"] }
}

extension ResealedLine: WordedLine {
    var words: [String] {
        ["\(item.head): \(protection.isSealed ? "sealed as \(protection.rawValue)" : "open, not sealed")"]
    }
}

extension ChangedLine: WordedLine {
    var words: [String] {
        let detail = reason.map { "; \(TerminalText.escaped($0, limit: 400))" } ?? ""
        let last = differences.contains("kind") ? nil : touched.map { "; last touched \($0.local)" }
        let list = differences.joined(separator: ", ")
        return ["\(itemHead(arrival, stored)): changed: \(list)\(detail)\(last ?? "")"]
    }
}

extension MissingLine: WordedLine {
    var words: [String] { ["\(itemHead(arrival, stored)): missing: another program moved or deleted it"] }
}

extension UnreadableLine: WordedLine {
    var words: [String] {
        let detail = reason.map { "; \(TerminalText.escaped($0, limit: 400))" } ?? ""
        return ["\(itemHead(arrival, stored)): unreadable\(detail)"]
    }
}

extension AbsentLine: WordedLine {
    var words: [String] { [] }

    var problems: [String] {
        let head = arrival.map { "\(itemHead($0, stored ?? "")): " } ?? ""
        return [head + TerminalText.escaped(reason, limit: 8_192)]
    }
}

extension VerifiedLine: WordedLine {
    var words: [String] {
        let findings = [("changed", changed), ("missing", missing), ("unreadable", unreadable)].filter { $0.1 > 0 }
        // "0 ok" is no news about an item that is not there.
        if exit == .inputMissing, ok == 0, findings.isEmpty { return [] }
        let sealed = locked.map { " (\($0) sealed)" } ?? ""
        return [(["\(ok) ok\(sealed)"] + findings.map { "\($0.1) \($0.0)" }).joined(separator: ", ")]
    }

    /// The next step of the user.
    var remarks: [String] {
        (summed.map {
            ["  compared by a checksum only: \($0) (of an older Waft, or locked): that finds faults, not forgery"]
        } ?? []) + (missing > 0 ? ["  to forget a missing item: waft inbox remove NUMBER"] : [])
    }
}
