import Endpoints
import Lines
import Operations
import Sending
import Settings
import Sharing

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
    init(_ entry: SentLog.Entry, _ people: Acquaintances) {
        ended = ISOTime.text(WallTime(milliseconds: entry.time))
        peer = entry.id == nil && entry.name == nil ? nil : entry.person(people).fields
        via = entry.dialect
        (transfer, count, storedCount, moved) = (entry.transfer, entry.count, entry.arrived, entry.moved)
        items = entry.items.map(Item.init)
    }
}
