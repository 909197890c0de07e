package import Sharing

/// How a sending to one peer ended, when it came to a verdict.
package struct SendReport: Sendable {
    package var peer: PeerID
    package var name: String?
    package var offer: Offer
    /// One for each item.
    package var items: [SendResult.Item]
    /// Bytes of contents that were sent, in all attempts: less than the items have where something was there already.
    package var movedBytes: UInt64

    /// How many items the other side says it has.
    package var storedItems: Int {
        items.count { item in
            guard case .acknowledged(let receipt, _) = item, case .stored = receipt.outcome else { return false }
            return true
        }
    }

    package init(
        peer: PeerID, name: String?, offer: Offer, items: [SendResult.Item], movedBytes: UInt64 = 0
    ) {
        (self.peer, self.name, self.offer) = (peer, name, offer)
        (self.items, self.movedBytes) = (items, movedBytes)
    }
}
