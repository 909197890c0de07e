import ContentCheck
import Endpoints
package import Journal
package import Lines
package import Sending
import Sharing

extension Waft {
    /// The transfers of the past.
    package var history: History { History(waft: self) }
}

/// The transfers of the past: the arrivals that the journal has, and the log of those that were sent.
package struct History: Sendable {
    fileprivate let waft: Waft

    /// The latest arrivals, in the order of their numbers.
    /// - Parameters:
    ///   - count: most lines.
    ///   - before: only those with a lower number.
    /// - Throws: `WaftError`.
    package func arrivals(
        latest count: Int, before: Int64? = nil, _ choice: ArrivalChoice? = nil
    ) throws(WaftError) -> [JournalLine] {
        let filter = choice?.filter ?? .all
        let entries = try waft.inbox.read { reader throws(JournalError) in
            try reader.entries(latest: count, before: before.map(ArrivalNumber.init), filter: filter)
        }
        let people = waft.people
        return entries.sorted { $0.arrival.number < $1.arrival.number }.map { JournalLine($0, people) }
    }

    /// The latest transfers that were sent, the last one last.
    package func sent(latest count: Int) -> [SentTransferLine] {
        let people = waft.people
        return waft.home.sentLog.entries(latest: count).map { SentTransferLine($0, people) }
    }
}

extension JournalLine {
    /// Without its icon.
    package init(_ entry: JournalEntry, _ people: KnownPeers) {
        let arrival = entry.arrival
        self.init(
            arrival, from: people.person(arrival.peer, callingItself: arrival.senderName).fields,
            arrived: entry.arrived, delivery: entry.state.rawValue)
        (content, explanation) = (arrival.content?.outcome.rawValue, arrival.content?.explanation)
        due = (entry.waiting?.due).map { LineTime($0) }
        deferrals = entry.waiting?.deferrals ?? 0
        left = entry.departure.map(Departure.init)
        attempts = entry.attempts.isEmpty ? nil : entry.attempts.map(Attempt.init)
    }
}

extension JournalLine.Departure {
    /// How the item left the Inbox: also the reason why nothing can be done with it. Cut.
    package var words: String {
        let toward = ShownText.line(toward ?? "", limit: 4_096)
        return switch Departure.How(rawValue: how) {
        case .taken: "taken to \(toward) on \(at.local)"
        case .handler: "gone after \(toward) was asked on \(at.local)"
        case .removed, nil: "removed on \(at.local)"
        }
    }
}

extension JournalLine.Attempt {
    fileprivate init(_ attempt: JournalAttempt) {
        self.init(attempt.number, handler: attempt.handler, began: LineTime(attempt.began))
        isAsked = attempt.isAsked ? true : nil
        ended = attempt.ended.map { LineTime($0) }
        duration = attempt.ended.map { $0.milliseconds &- attempt.began.milliseconds }
        guard let outcome = attempt.outcome else { return }
        (handlerAnswer, exitCode, signal) = (outcome.answer.rawValue, outcome.exitCode, outcome.signal)
        reason = outcome.reason.isEmpty ? nil : outcome.reason
        output = outcome.standardError.isEmpty ? nil : outcome.standardError
    }
}

extension SentTransferLine {
    fileprivate init(_ entry: SentLog.Entry, _ people: KnownPeers) {
        self.init(
            ended: LineTime(milliseconds: entry.time),
            peer: entry.id == nil && entry.name == nil ? nil : entry.person(people).fields,
            via: entry.dialect, transfer: entry.transfer, count: entry.count, storedCount: entry.arrived,
            moved: entry.moved, items: entry.items.map(Item.init))
    }
}

extension SentTransferLine.Item {
    fileprivate init(_ item: SentLog.Entry.Item) {
        self.init(name: item.name, type: item.type, state: item.state == "taken" ? "sent" : item.state)
        (size, stored, digest) = (item.size, item.stored, item.digest)
        (reason, handlerAnswer) = (item.reason, item.handler)
    }
}

extension SentLog.Entry {
    /// An older Waft wrote ids without check digits.
    fileprivate var id: PeerID? { peer.flatMap { PeerID(text: $0) ?? PeerID(bareText: $0) } }

    /// Its receiver, as the user knows it now.
    package func person(_ people: KnownPeers) -> Person {
        people.person(id ?? .unproven(DialectTable.known[dialect], seed: []), callingItself: name)
    }
}
