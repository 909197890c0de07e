/// The peer and the transfer for which the contents of an item are made.
package struct ItemRecipient: Sendable, Hashable {
    package var peer: PeerID
    /// The name that the peer gives itself, if it tells it. Foreign text.
    package var name: String?
    package var transfer: TransferID

    package init(peer: PeerID, name: String?, transfer: TransferID) {
        (self.peer, self.name, self.transfer) = (peer, name, transfer)
    }
}

/// A source whose contents are made for one recipient, when that peer has accepted the item.
package protocol RecipientItemSource: ItemSource {
    /// The same item for one sending.
    /// - Parameter recipient: asked when the contents are opened; nil if no peer gets them, but a copy.
    func made(for recipient: @escaping @Sendable () -> ItemRecipient?) -> any ItemSource
}
