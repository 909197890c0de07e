import Endpoints
import Sending
import Settings
import Sharing

/// Words for answers and outcomes, for people.
enum OutcomeWords {
    /// - Parameter name: the name for programs; an unknown one is escaped.
    static func of(_ name: String) -> String {
        switch name {
        case "noRoom": "no room"
        case "ineligible": "not eligible"
        case "expired": "no answer"
        case "notSent": "not sent"
        case "unread": "could not be read"
        case "alreadyThere": "already there"
        default: TerminalText.escaped(name, limit: 32)
        }
    }

    /// An answer with its reason, escaped.
    static func line(_ verdict: ItemVerdict) -> String {
        let reason = TerminalText.escaped(verdict.reason)
        // The usual reason is enough; it has the time in it.
        let nobody = "nobody answered"
        let isOwn = reason.hasPrefix(nobody) || [SilenceWords.cancelled, SilenceWords.stopping].contains(reason)
        if verdict.answer == .expired, reason.isEmpty || isOwn {
            return reason.isEmpty ? "\(nobody) in time" : reason
        }
        return of(verdict.answer.rawValue) + (reason.isEmpty ? "" : ": \(reason)")
    }
}

/// A transfer that was sent from here, for programs.
struct SentFields: Encodable {
    struct Item: Encodable {
        var name: String
        var type: String
        var size: UInt64?
        var stored: String?
        var digest: String?
        /// `stored`, `alreadyThere`, `sent` (no receipt), `notSent`, `failed`, `unread`, or the answer.
        var state: String
        var reason: String?
        var handlerAnswer: String?
    }

    var ended: String
    var peer: EventLine.Peer?
    /// The dialect of the transfer.
    var via: String
    var transfer: String
    /// Items of the transfer, and how many of them are on the other side.
    var count: Int
    var storedCount: Int
    /// Bytes of contents that were sent, in all attempts.
    var moved: UInt64
    /// The first items.
    var items: [Item]
}

extension SentFields.Item {
    init(_ item: SentLog.Entry.Item) {
        (name, type, size) = (item.name, item.type, item.size)
        (stored, digest) = (item.stored, item.digest)
        state = item.state == "taken" ? "sent" : item.state
        (reason, handlerAnswer) = (item.reason, item.handler)
    }
}

extension SentFields {
    init(_ entry: SentLog.Entry) {
        ended = ISOTime.text(WallTime(milliseconds: entry.time))
        let id = entry.id?.text
        peer = id == nil && entry.name == nil ? nil : EventLine.Peer(id: id, name: entry.name)
        via = entry.dialect
        (transfer, count, storedCount, moved) = (entry.transfer, entry.count, entry.arrived, entry.moved)
        items = entry.items.map(Item.init)
    }
}

/// `waft history --sent`: the transfers from here and their outcomes.
enum SentHistory {
    static func show(latest count: Int, json: Bool) throws(CommandFailure) {
        let entries = try Surroundings().home.sentLog.entries(latest: count)
        if entries.isEmpty, !json { return Console.shared.note("nothing was sent yet") }
        for entry in entries { Console.shared.result(json ? EventLine.transfer(SentFields(entry)).text : line(entry)) }
    }

    /// One transfer; foreign text is escaped.
    static func line(_ entry: SentLog.Entry) -> String {
        let time = JournalText.time(WallTime(milliseconds: entry.time))
        let first = entry.items.first.map { TerminalText.escaped($0.name) } ?? "nothing"
        let rest = entry.count > 1 ? " and \(entry.count - 1) more" : ""
        let key = entry.id?.short ?? entry.peer.map { TerminalText.escaped($0, limit: 64) }
        let via = "by \(DialectTable.known[entry.dialect].title)"
        let name = entry.name.map(TerminalText.peerName)
        let peer = key.map { key in name.map { "\($0) (\(key))" } ?? key } ?? "\(name ?? "unnamed") \(via)"
        return "\(time)  \(first)\(rest) \(Glyph.arrow) \(peer): \(outcome(entry))"
    }

    private static func outcome(_ entry: SentLog.Entry) -> String {
        // The first fault is shown before the number of successes.
        let bad = entry.items.first { !["stored", "alreadyThere", "taken"].contains($0.state) }
        let moved = entry.moved > 0 ? ", \(ByteCount.text(entry.moved)) moved" : ""
        if entry.arrived == entry.count {
            let isOld = entry.items.allSatisfy { $0.state == "alreadyThere" }
            let isTaken = entry.items.contains { $0.state == "taken" }
            return (isTaken ? "the other side says it has it" : isOld ? "already there" : "stored") + moved
        }
        let reason = bad?.reason.map { ": \(TerminalText.escaped($0, limit: 200))" } ?? ""
        let state = bad.map { OutcomeWords.of($0.state) } ?? "not all stored"
        return entry.count == 1 ? state + reason : "\(entry.arrived) of \(entry.count) stored, \(state)\(reason)"
    }
}

extension SentLog.Entry {
    /// An older Waft wrote ids without check digits.
    fileprivate var id: PeerID? { peer.flatMap { PeerID(text: $0) ?? PeerID(bareText: $0) } }
}
