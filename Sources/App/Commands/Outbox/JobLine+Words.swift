import Control
import Foundation
import Outbox
import Sending
import Sharing

/// A job of the outbox in words. Foreign text is escaped.
enum OutboxText {
    /// Items that are listed one by one.
    private static let shownItems = 100

    /// The line for a job that was just queued.
    static func queued(_ job: OutboxJob, _ people: Acquaintances) -> String {
        "queued as \(job.number) \(Glyph.arrow) \(to(job, people)): \(amount(job))"
    }

    /// One line of a list.
    static func line(_ record: OutboxStore.Record, _ people: Acquaintances, _ course: OutboxCourse = OutboxCourse())
        -> String
    {
        let job = record.job
        var names = job.items.prefix(2).map { TerminalText.escaped($0.name, limit: 60) }.joined(separator: ", ")
        if job.items.count > 2 { names += " and \(job.items.count - 2) more" }
        let number = "\(record.number)"
        let padding = String(repeating: " ", count: max(0, 4 - number.count))
        return
            "\(padding)\(number)  \(names) \(Glyph.arrow) \(to(job, people)) (\(ByteCount.text(job.size))): \(state(record, course))"
    }

    /// All facts about a job, a line each.
    static func lines(_ record: OutboxStore.Record, _ people: Acquaintances, _ course: OutboxCourse = OutboxCourse())
        -> [String]
    {
        let (job, standing) = (record.job, record.standing)
        var facts = [("to", to(job, people))]
        if let peer = job.destination.key ?? standing.peer {
            let name = standing.peerName.map { ", calls itself \(TerminalText.peerName($0))" } ?? ""
            facts.append(("peer", peer.short + name))
        } else if standing.wasOffered {
            let name = standing.peerName.map { TerminalText.peerName($0) } ?? "unknown name"
            facts.append(("peer", "\(name), proved no key"))
        }
        facts += [
            ("state", state(record, course)), ("amount", amount(job)), ("queued", time(job.queued)),
            ("expires", time(standing.expires)), ("attempts", "\(standing.attempts)"),
            ("transfer", standing.transfer),
        ]
        if let subject = job.options.annotation[Offer.subjectKey] {
            facts.append(("subject", TerminalText.escaped(subject, limit: 1_000)))
        }
        if let note = job.options.annotation["note"] {
            facts.append(("note", TerminalText.escaped(note, limit: 1_000)))
        }
        let lines = facts.map { "  " + $0.0 + String(repeating: " ", count: 11 - $0.0.count) + $0.1 }
        let items = job.items.prefix(shownItems).enumerated().map { number, item in
            "  \(number + 1). \(line(item)): \(outcome(standing.outcomes[number], standing.state))"
        }
        let rest = job.items.count > shownItems ? ["  and \(job.items.count - shownItems) more"] : []
        return ["\(record.number)"] + lines + items + rest
    }

    /// A contact under the user's name for it now; otherwise the word of the user.
    private static func to(_ job: OutboxJob, _ people: Acquaintances) -> String {
        let person = job.destination.key.map { people.person($0, callingItself: nil) }
        return person.flatMap { $0.isContact ? $0.line : nil } ?? TerminalText.escaped(job.destination.text, limit: 64)
    }

    private static func amount(_ job: OutboxJob) -> String {
        (job.items.count == 1 ? "1 item" : "\(job.items.count) items") + ", \(ByteCount.text(job.size))"
    }

    private static func state(_ record: OutboxStore.Record, _ course: OutboxCourse) -> String {
        let standing = record.standing
        let reason = standing.failure.map { TerminalText.escaped($0.reason, limit: 400) }
        switch standing.state {
        case .waiting where standing.attempts == 0: return "waits"
        case .waiting:
            return "waits, is tried again at \(time(standing.due))" + (reason.map { "; the last time: \($0)" } ?? "")
        case .sending where !course.isReceiverThere:
            return "interrupted when the receiver ended; resumes when waftd runs"
        case .sending: return "is being sent" + (course.progress(of: record).map(progress) ?? "")
        case .done: return "sent"
        case .failed:
            return "given up: \(reason ?? "for no known reason"); again: waft outbox retry \(record.number)"
        case .cancelled: return "cancelled"
        }
    }

    private static func progress(_ progress: JobProgress) -> String {
        guard let total = progress.total, total > 0 else { return ", \(ByteCount.text(progress.bytes)) so far" }
        let percent = Int(min(Double(progress.bytes) / Double(total), 1) * 100)
        return ", \(percent) %: \(ByteCount.text(progress.bytes)) of \(ByteCount.text(total))"
    }

    private static func line(_ item: OutboxItem) -> String {
        let size = item.size.map { ", \(ByteCount.text($0))" } ?? ""
        let place: String
        switch item.content {
        case .path(let path): place = ", \(TerminalText.escaped(path, limit: 1_000))"
        case .spooled: place = ", a copy of \(TerminalText.escaped(item.origin, limit: 1_000))"
        case .text, .url: place = ""
        }
        return "\(TerminalText.escaped(item.name)) (\(item.type)\(size)\(place))"
    }

    private static func outcome(_ outcome: SettledItem?, _ state: OutboxStanding.State) -> String {
        guard let outcome else { return state.isFinal ? "not sent" : "to be sent" }
        if let failure = outcome.failure { return TerminalText.escaped(failure.reason, limit: 400) }
        let handler = outcome.handler.map { "; its handler: \($0)" } ?? ""
        return "stored as \(TerminalText.escaped(outcome.stored ?? ""))\(handler)"
    }

    private static func time(_ milliseconds: Int64) -> String {
        let date = Date(timeIntervalSince1970: Double(milliseconds) / 1_000)
        return date.formatted(
            Date.ISO8601FormatStyle(timeZone: .current).year().month().day()
                .dateTimeSeparator(.space).time(includingFractionalSeconds: false))
    }
}
