package import Sharing
import UniformTypes

/// Events for a watching command, one a line, after the reply to `ControlRequest.watch`. The first are `ready`, if the
/// receiver can be reached, and the waiting offers. Commands ignore unknown events.
package enum ControlEvent: Codable, Sendable, Equatable {
    /// The receiver can be reached.
    case ready(ReceiverSummary)
    /// An offer waits for an answer.
    case offer(OfferSummary)
    /// The offer waits no longer: it was answered or withdrawn, or its time was up.
    case settled(SettledOffer)
    /// An item is in the Inbox.
    case stored(ArrivalSummary)
    /// A handler has answered for an arrival: `HandlerAnswer.State`, and its exit code.
    case opened(ArrivalSummary, answer: String, exitCode: Int?)
    /// An item has left the Inbox. `toward` is its new path, or a handler's identifier.
    case left(ArrivalSummary, how: Departure.How, toward: String)
    /// A transfer is over; `fault` is the reason for its failure, in one line.
    case ended(transfer: String, peer: String?, fault: String?)
}

/// A receiver that can be reached.
package struct ReceiverSummary: Codable, Sendable, Equatable {
    /// The whole id.
    package var id: String
    package var name: String
    package var port: Int
    package var inbox: String

    package init(id: String, name: String, port: Int, inbox: String) {
        self.id = id
        self.name = name
        self.port = port
        self.inbox = inbox
    }
}

/// The outcome of an offer that waited.
package struct SettledOffer: Codable, Sendable, Equatable {
    package struct Answer: Codable, Sendable, Equatable {
        /// `ItemVerdict.Answer`.
        package var answer: String
        package var reason: String?
    }

    package var number: Int
    package var transfer: String
    /// The whole id of its key; nil for a peer that proved none.
    package var peer: String?
    /// The dialect of the offer.
    package var via: String?
    /// The name that the peer gives itself.
    package var peerName: String
    /// The user's name for the peer; nil for a stranger.
    package var contact: String?
    /// Items of it that are taken, and all.
    package var accepted: Int
    package var itemCount: Int
    /// Of the first `OfferSummary.shownItems`.
    package var answers: [Answer]

    package init(_ number: Int, _ offer: Offer, from peer: PeerID, contact: String?, verdicts: [ItemVerdict]) {
        self.number = number
        self.peer = peer.provenText
        via = offer.dialect.name
        transfer = offer.transfer.text
        peerName = offer.senderName
        self.contact = contact
        accepted = verdicts.count { $0.answer == .accepted }
        itemCount = offer.items.count
        answers = verdicts.prefix(OfferSummary.shownItems).map { verdict in
            Answer(answer: verdict.answer.rawValue, reason: verdict.reason.isEmpty ? nil : verdict.reason)
        }
    }
}

/// An item that has arrived.
package struct ArrivalSummary: Codable, Sendable, Equatable {
    package var arrival: Int64
    /// The whole id of the sender's key, nil for a peer that proved none; and the name that the sender gives itself.
    package var peer: String?
    package var peerName: String
    /// The user's name for the peer; nil for a stranger.
    package var contact: String?
    package var transfer: String
    /// Place of the item in its offer, from 0.
    package var item: Int
    /// The name that was offered.
    package var name: String
    /// The name it has in the Inbox.
    package var stored: String
    package var path: String
    package var type: String
    package var size: UInt64
    package var digest: String
    /// The dialect of the transfer.
    package var via: String?
    /// The result of comparing content and type: `ContentVerdict.Outcome`.
    package var content: String?

    /// The sender's id, or an unproven one if the sender proved no key. Nil if it cannot be read.
    package func sender(_ dialects: DialectTable) -> PeerID? {
        if let peer { return PeerID(text: peer) }
        return via.map { .unproven(dialects[$0], seed: []) }
    }

    /// - Parameter content: the verdict on its content.
    package init(_ arrival: Arrival, contact: String?, content: String?) {
        self.arrival = arrival.number.value
        peer = arrival.peer.provenText
        via = arrival.dialect.name
        peerName = arrival.senderName
        self.contact = contact
        transfer = arrival.transfer.text
        item = arrival.itemNumber
        name = arrival.item.name.text
        stored = arrival.stored.name.text
        path = arrival.stored.path
        type = arrival.item.type.identifier
        size = arrival.size
        digest = "\(arrival.digest)"
        self.content = content
    }
}
