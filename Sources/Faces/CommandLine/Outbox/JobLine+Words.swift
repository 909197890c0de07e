import Foundation
import Lines
import Sharing

/// A job of the outbox in words. Foreign text is escaped.
extension JobLine: WordedLine {
    /// One line of a list.
    var words: [String] {
        var names = items.prefix(2).map { TerminalText.escaped($0.name, limit: 60) }.joined(separator: ", ")
        if count > 2 { names += " and \(count - 2) more" }
        let padding = String(repeating: " ", count: max(0, 4 - "\(job)".count))
        return ["\(padding)\(job)  \(names) \(Glyph.arrow) \(destination) (\(ByteCount.text(size))): \(stateWords)"]
    }

    /// All facts about the job, a line each.
    var details: [String] {
        var facts = [("to", destination)]
        if let key = peer?.id.flatMap({ PeerID(text: $0) }) {
            let name = peer?.name.map { ", calls itself \(TerminalText.peerName($0))" } ?? ""
            facts.append(("peer", key.short + name))
        } else if let peer {
            facts.append(("peer", "\(peer.name.map { TerminalText.peerName($0) } ?? "unknown name"), proved no key"))
        }
        facts += [
            ("state", stateWords), ("amount", Self.amount(count, size)), ("queued", queued.local),
            ("expires", expires.local), ("attempts", "\(attemptCount)"), ("transfer", transfer),
        ]
        if let subject { facts.append(("subject", TerminalText.escaped(subject, limit: 1_000))) }
        if let note { facts.append(("note", TerminalText.escaped(note, limit: 1_000))) }
        let lines = facts.map { "  " + $0.0 + String(repeating: " ", count: 11 - $0.0.count) + $0.1 }
        let items = items.map { "  \($0.item + 1). \($0.words): \($0.outcome(state.isFinal))" }
        let rest = count > shownItems ? ["  and \(count - shownItems) more"] : []
        return ["\(job)"] + lines + items + rest
    }

    private var destination: String { Self.destination(contact, to) }

    /// A contact under the user's name for it now; otherwise the word of the user.
    fileprivate static func destination(_ contact: String?, _ word: String) -> String {
        contact.map { Person.line($0, isContact: true) } ?? TerminalText.escaped(word, limit: 64)
    }

    fileprivate static func amount(_ count: Int, _ size: UInt64) -> String {
        (count == 1 ? "1 item" : "\(count) items") + ", \(ByteCount.text(size))"
    }

    private var stateWords: String {
        let reason = reason.map { TerminalText.escaped($0, limit: 400) }
        switch state {
        case .waiting where attemptCount == 0: return "waits"
        case .waiting:
            let time = due.map { " at \($0.local)" } ?? ""
            return "waits, is tried again\(time)" + (reason.map { "; the last time: \($0)" } ?? "")
        case .sending where isInterrupted: return "interrupted when the receiver ended; resumes when waftd runs"
        case .sending: return "is being sent" + (bytes.map(progress) ?? "")
        case .done: return "sent"
        case .failed: return "given up: \(reason ?? "for no known reason"); again: waft outbox retry \(job)"
        case .cancelled: return "cancelled"
        }
    }

    private func progress(_ bytes: UInt64) -> String {
        guard let total, total > 0 else { return ", \(ByteCount.text(bytes)) so far" }
        let percent = Int(min(Double(bytes) / Double(total), 1) * 100)
        return ", \(percent) %: \(ByteCount.text(bytes)) of \(ByteCount.text(total))"
    }
}

extension JobLine.Item {
    fileprivate var words: String {
        let size = size.map { ", \(ByteCount.text($0))" } ?? ""
        let place =
            switch source {
            case "path": ", \(TerminalText.escaped(path ?? "", limit: 1_000))"
            case "copy": ", a copy of \(TerminalText.escaped(origin, limit: 1_000))"
            default: ""
            }
        return "\(TerminalText.escaped(name)) (\(type)\(size)\(place))"
    }

    fileprivate func outcome(_ isFinal: Bool) -> String {
        if let reason { return TerminalText.escaped(reason, limit: 400) }
        guard let stored else { return isFinal ? "not sent" : "to be sent" }
        let handler = handlerAnswer.map { "; its handler: \($0)" } ?? ""
        return "stored as \(TerminalText.escaped(stored))\(handler)"
    }
}

extension JobCancelledLine: WordedLine {
    var words: [String] { ["job \(job) cancelled"] }
}

extension JobRetriedLine: WordedLine {
    var words: [String] { ["job \(job) is tried \(daemon ? "now" : "when waftd runs")"] }
}

extension JobRemovedLine: WordedLine {
    var words: [String] { ["job \(job) removed"] }
}

extension JobsRemovedLine: WordedLine {
    var words: [String] { [jobCount == 1 ? "1 job removed" : "\(jobCount) jobs removed"] }
}

extension QueuedLine: WordedLine {
    /// Beside a job of which no receiver knows.
    static let later = "no receiver is running here: it is sent when waftd runs"

    var words: [String] {
        let destination = JobLine.destination(contact, to)
        return ["queued as \(job) \(Glyph.arrow) \(destination): \(JobLine.amount(count, size))"]
    }
}
