package import Sharing

/// A transfer that moves now, or has just ended.
package struct TransferSummary: Codable, Sendable, Equatable {
    package enum Way: String, Codable, Sendable { case `in`, out }

    package var transfer: String
    package var way: Way
    /// The whole id of the other side's key; nil for a peer that proved none, or before it is known.
    package var peer: String?
    /// The name that the sender gives itself; the words by which the receiver was named. Not escaped.
    package var peerName: String
    /// The user's name for the sender; nil for a stranger.
    package var contact: String?
    /// The contact whose name a stranger gives itself: the user's name for it.
    package var claims: String?
    /// The dialect of the transfer.
    package var via: String?
    /// The first item as it is offered. Not escaped.
    package var name: String
    package var itemCount: Int
    /// Bytes of everything whose size is known.
    package var size: UInt64
    /// Bytes of contents that have moved, or were there already; nil before the first.
    package var bytes: UInt64?
    /// Bytes of all accepted items; nil if unknown.
    package var total: UInt64?
    /// Bytes a second; nil before anything can be said.
    package var rate: Double?
    /// The outcome of one that has just ended, in one line: `stored`, or why not.
    package var end: String?
    /// The outcome of one of which everything is stored.
    package static let stored = "stored"

    /// - Parameters:
    ///   - peerName: as the property.
    ///   - sender: of one that arrives.
    package init(_ way: Way, _ offer: Offer, peer: PeerID?, peerName: String, from sender: Introduction? = nil) {
        (self.way, self.peer, self.peerName) = (way, peer?.provenText, peerName)
        (contact, claims, via) = (sender?.contact, sender?.claims, offer.dialect.name)
        transfer = offer.transfer.text
        name = offer.items.first?.name.text ?? ""
        itemCount = offer.items.count
        size = offer.knownSize
    }
}
