import ContentCheck
import Control
import Digests
import Endpoints
import Lines
import Sharing
import UniformTypes

/// Lines of a receiver, and of the commands that watch and answer it.
extension EventLine {
    struct Ready: Encodable {
        var id: String
        var name: String
        var port: Int
        var inbox: String
    }

    /// The sender of an offer, and its transfer.
    struct Sender: Encodable {
        var from: Peer
        /// The dialect of the transfer: `waft` and others.
        var via: String?
        var transfer: String

        init(_ offer: Offer, from peer: Peer) {
            (from, via, transfer) = (peer, offer.dialect.name, offer.transfer.text)
        }

        init(_ settled: SettledOffer) {
            from = Peer(
                id: settled.peer, name: settled.peerName, contact: settled.contact, claims: settled.claims)
            (via, transfer) = (settled.via, settled.transfer)
        }
    }

    struct ReceivedOffer: Encodable {
        /// Number of a waiting offer, for the answer.
        var offer: Int?
        var from: Peer
        var via: String?
        var transfer: String
        /// The first `shownItems` of the items; `count` says how many there are.
        var items: [Item]
        var count: Int
        var subject: String?
        var note: String?
        var size: UInt64?
        /// Bytes free on the disk of the destination.
        var free: UInt64?
        /// When the time for an answer ends.
        var expires: String?
        /// If a stranger gives itself the name of a contact.
        var warning: String?

        init(_ offer: Offer, from peer: Peer) {
            (from, via, transfer) = (peer, offer.dialect.name, offer.transfer.text)
            (items, count) = (Item.first(of: offer), offer.items.count)
            (subject, note, size) = (offer.subject, offer.annotation["note"], offer.knownSize)
        }

        init(_ summary: OfferSummary) {
            offer = summary.number
            from = Peer(
                id: summary.peer, name: summary.peerName, contact: summary.asker?.contact,
                claims: summary.asker?.claims)
            (via, transfer) = (summary.via, summary.transfer)
            items = Item.of(summary.items)
            (count, size) = (summary.itemCount, summary.size)
            (subject, note) = (summary.subject, summary.note)
            (free, warning) = (summary.freeRoom, summary.asker?.warning)
            expires = summary.expires.map { ISOTime.text(WallTime(milliseconds: $0)) }
        }
    }

    /// The name of an entry was changed on arrival, or the entry was left out.
    struct Altered: Encodable {
        var from: Peer
        var via: String
        var transfer: String
        var name: String
        var reason: String
    }

    /// An item that has arrived.
    struct Arrived: Encodable {
        var from: Peer
        var via: String?
        var transfer: String
        /// The number of the arrival, for `waft inbox show`.
        var arrival: Int64
        /// The arrival that stored the item, of one that only called for it again.
        var again: Int64?
        /// Place of the item in its offer.
        var item: Int
        /// The name that was offered.
        var name: String
        /// The name it has in the Inbox.
        var stored: String
        var path: String
        var type: String
        var size: UInt64
        var digest: String
        /// The result of comparing content and type: `consistent`, `unverified`, `mislabelled`, `lying`.
        var content: String?

        init(_ arrival: Arrival, from peer: Peer) {
            (from, via, transfer) = (peer, arrival.dialect.name, arrival.transfer.text)
            (self.arrival, item, name) = (arrival.number.value, arrival.itemNumber, arrival.item.name.text)
            (again, stored, path) = (arrival.again?.value, arrival.stored.name.text, arrival.stored.path)
            (type, size, digest) = (arrival.item.type.identifier, arrival.size, arrival.digest.description)
            content = arrival.content?.outcome.rawValue
        }

        init(_ summary: ArrivalSummary) {
            from = Peer(
                id: summary.peer, name: summary.peerName, contact: summary.contact, claims: summary.claims)
            (via, transfer, arrival) = (summary.via, summary.transfer, summary.arrival)
            again = summary.again
            (item, name, stored, path) = (summary.item, summary.name, summary.stored, summary.path)
            (type, size, digest, content) = (summary.type, summary.size, summary.digest, summary.content)
        }
    }

    struct Deferred: FieldGroups {
        var arrival: Arrived
        var reply: HandlerReply
        var reason: String

        var groups: [any Encodable] { [arrival, reply, ["reason": reason]] }
    }

    /// An offered item that seems to be in the Inbox already.
    struct Present: Encodable {
        /// As it is offered.
        var name: String
        /// The number of the arrival, and its name in the Inbox.
        var arrival: Int64
        var stored: String
    }

    struct Accepted: Encodable {
        var offer: Int
        /// Absent if all items were accepted.
        var acceptedCount: Int?
        /// The folder below the Inbox for the items.
        var folder: String?
        var present: [Present]?
    }

    struct Declined: Encodable {
        var offer: Int
        /// Whether the sender is blocked now.
        var blocked: Bool
    }

    /// The line for a handler's answer.
    /// - Parameter reply: has the word for `answer`.
    init(_ arrival: Arrived, _ answer: HandlerAnswer.State, _ reply: HandlerReply) {
        switch answer {
        case .yes: self = .opened(.received(arrival, reply))
        case .later, .pending:
            let reason = "its handler wants to be asked again later"
            self = .deferred(Deferred(arrival: arrival, reply: reply, reason: reason))
        case .no: self = .failed(.handler(arrival, reply, reason: "no handler wants it"))
        case .none: self = .failed(.handler(arrival, reply, reason: "no handler was asked"))
        case .failed: self = .failed(.handler(arrival, reply, reason: "the handler failed"))
        }
    }

    /// The line for the end of a transfer at the receiver.
    /// - Parameters:
    ///   - fault: why the transfer failed; nil if it did not.
    ///   - failures: why some of its items were not stored.
    init(ended transfer: Transfer, fault: End?, failures: String? = nil) {
        if let fault {
            self = .failed(.transfer(transfer, fault))
        } else {
            self = .done(.transfer(transfer, failures: failures))
        }
    }
}
