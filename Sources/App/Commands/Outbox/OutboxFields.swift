import Control
import Outbox
import Sending
import Sharing

/// A job of the outbox for programs.
struct OutboxFields: Encodable {
    struct Item: Encodable {
        var item: Int
        var name: String
        var kind: String
        var type: String
        var size: UInt64?
        /// `path`, `copy`, `text` or `url`.
        var source: String
        var path: String?
        var stored: String?
        var digest: String?
        var handlerAnswer: String?
        var reason: String?
    }

    var job: Int
    var state: String
    var to: String
    var peer: EventLine.Peer?
    var queued: String
    var expires: String
    /// Time of the next attempt; absent if there is none.
    var due: String?
    var finished: String?
    var attemptCount: Int
    /// Bytes that were handed over or were there already, and of how many: while it is being sent.
    var bytes: UInt64?
    var total: UInt64?
    var transfer: String
    var size: UInt64
    var count: Int
    /// The first `EventLine.shownItems`.
    var items: [Item]
    var reason: String?
    /// As an exit code of `waft send`.
    var exit: Int32?
}

extension OutboxFields {
    init(_ record: OutboxStore.Record, _ people: Acquaintances, _ course: OutboxCourse = OutboxCourse()) {
        let (job, standing) = (record.job, record.standing)
        self.job = record.number.value
        state = standing.state.rawValue
        to = job.destination.text
        let key = job.destination.key ?? standing.peer
        if let key {
            peer = people.person(key, callingItself: standing.peerName).fields
        } else if standing.wasOffered {
            peer = EventLine.Peer(name: standing.peerName)
        }
        func time(_ milliseconds: Int64) -> String { ISOTime.text(WallTime(milliseconds: milliseconds)) }
        (queued, expires, finished) = (time(job.queued), time(standing.expires), standing.finished.map(time))
        (bytes, total) = (course.progress(of: record)?.bytes, course.progress(of: record)?.total)
        due = standing.state == .waiting ? time(standing.due) : nil
        (attemptCount, transfer, size, count) = (standing.attempts, standing.transfer, job.size, job.items.count)
        items = job.items.prefix(EventLine.shownItems).enumerated().map { number, item in
            Item(number, item, standing.outcomes[number])
        }
        reason = standing.failure?.reason
        exit = standing.state == .done ? 0 : standing.failure.map { WaftExit($0.code).rawValue }
    }
}

extension OutboxFields.Item {
    fileprivate init(_ number: Int, _ item: OutboxItem, _ outcome: SettledItem?) {
        let (source, path): (String, String?) =
            switch item.content {
            case .path(let path): ("path", path)
            case .spooled: ("copy", nil)
            case .text: ("text", nil)
            case .url: ("url", nil)
            }
        self.init(
            item: number, name: item.name, kind: item.kind.rawValue, type: item.type, size: outcome?.size ?? item.size,
            source: source, path: path, stored: outcome?.stored, digest: outcome?.digest,
            handlerAnswer: outcome?.handler,
            reason: outcome?.failure?.reason)
    }
}
