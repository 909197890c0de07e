package import Sharing
import UniformTypes

/// An item that has arrived.
package struct ArrivalSummary: Codable, Sendable, Equatable {
    package var arrival: Int64
    /// The arrival that stored the item, of one that only called for it again.
    package var again: Int64?
    /// The whole id of the sender's key, nil for a peer that proved none; and the name that the sender gives itself.
    package var peer: String?
    package var peerName: String
    /// The user's name for the peer; nil for a stranger.
    package var contact: String?
    /// The contact whose name a stranger gives itself: the user's name for it.
    package var claims: String?
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
    package init(_ arrival: Arrival, from sender: Introduction, content: String?) {
        self.arrival = arrival.number.value
        again = arrival.again?.value
        peer = arrival.peer.provenText
        via = arrival.dialect.name
        peerName = arrival.senderName
        (contact, claims) = (sender.contact, sender.claims)
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
