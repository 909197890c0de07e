package import Sharing

/// A transfer that arrives.
package struct TransferSummary: Codable, Sendable, Equatable {
    package var transfer: String
    /// The sender: the user's name for it, or the name that it gives itself. Not escaped.
    package var peerName: String
    package var itemCount: Int
    /// Bytes of everything whose size is known.
    package var size: UInt64

    package init(_ offer: Offer, contact: String?) {
        transfer = offer.transfer.text
        peerName = contact ?? offer.senderName
        itemCount = offer.items.count
        size = offer.knownSize
    }
}
