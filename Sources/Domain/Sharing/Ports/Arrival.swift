package import ContentCheck
package import Digests
package import UniformTypes

/// The number of an arrival in the journal: 1 and up, in the order of arrival, never given twice. Users type it in
/// `waft inbox show NUMBER`.
package struct ArrivalNumber: Hashable, Sendable, Comparable, CustomStringConvertible {
    package let value: Int64

    package init(_ value: Int64) {
        self.value = value
    }

    package static func < (left: Self, right: Self) -> Bool { left.value < right.value }

    package var description: String { String(value) }
}

/// The known facts about an item that has arrived whole, wherever it is.
package struct ArrivalFacts: Hashable, Sendable {
    package var transfer: TransferID
    /// The item's place in the offer, and the number of items of the offer.
    package var itemNumber: Int
    package var itemsInOffer: Int
    package var item: OfferedItem
    /// Bytes of contents.
    package var size: UInt64
    /// Files, folders and links in the item, itself included; nil if an older Waft recorded the arrival.
    package var entries: UInt64?
    /// The digest of a file, or of a tree's listing in byte order, as it is on the disk: of a sealed item the digest of
    /// its sealed form. `DigestAlgorithm.lasting`, unless it is sealed or an older Waft recorded it.
    package var digest: Digest
    /// The digest that the sender knows, if that is another: of another algorithm, or of a tree's listing in another
    /// order. Nil for a sealed item.
    package var sentDigest: Digest?
    /// The sender's own digest by `DigestAlgorithm.lasting`, if that is another: of a tree with executable files, on a
    /// disk that keeps no executable bits. Nil for a sealed item.
    package var ownDigest: Digest?
    /// Of a sealed item: the digests of its contents, sealed (`SealedDigests.contents`).
    package var sealedContents: [UInt8]?
    package var peer: PeerID
    package var senderName: String
    package var annotation: [String: String]
    /// The check of its content against its type; nil for a folder, whose content is not checked.
    package var content: ContentVerdict?
    package var destination: Destination
    /// The protocol of the transfer.
    package var dialect: Dialect

    /// How it is sealed on the disk.
    package var protection: ProtectionClass { destination.protection ?? .none }

    /// The type for handlers: the declared one, or the one found by the check of the content.
    package var type: UniformType {
        if let content, content.outcome == .mislabelled, let type = content.contentType { return type }
        return item.type
    }

    package init(
        transfer: TransferID,
        itemNumber: Int,
        itemsInOffer: Int,
        item: OfferedItem,
        size: UInt64,
        entries: UInt64? = nil,
        digest: Digest,
        sentDigest: Digest? = nil,
        sealedContents: [UInt8]? = nil,
        peer: PeerID,
        senderName: String,
        annotation: [String: String],
        content: ContentVerdict? = nil,
        destination: Destination = .usual,
        dialect: Dialect
    ) {
        self.transfer = transfer
        self.itemNumber = itemNumber
        self.itemsInOffer = itemsInOffer
        self.item = item
        self.size = size
        self.entries = entries
        self.digest = digest
        self.sentDigest = sentDigest
        self.sealedContents = sealedContents
        self.peer = peer
        self.senderName = senderName
        self.annotation = annotation
        self.content = content
        self.destination = destination
        self.dialect = dialect
    }
}

/// An item in the Inbox: the data for a handler.
@dynamicMemberLookup
package struct Arrival: Hashable, Sendable {
    package var number: ArrivalNumber
    package var facts: ArrivalFacts
    package var stored: StoredItem
    /// The arrival that stored the item, if this one found it in the Inbox and is only a call of its handlers again.
    package var again: ArrivalNumber?

    /// The arrival that stored the item.
    package var holder: ArrivalNumber { again ?? number }

    package init(number: ArrivalNumber, facts: ArrivalFacts, stored: StoredItem, again: ArrivalNumber? = nil) {
        self.number = number
        self.facts = facts
        self.stored = stored
        self.again = again
    }

    /// The last name of its path: that of a sealed file has an ending of its own.
    package var nameOnDisk: String { PathText.lastName(of: stored.path) }

    package subscript<Value>(dynamicMember fact: KeyPath<ArrivalFacts, Value>) -> Value { facts[keyPath: fact] }
}

/// The identity of a file or folder on its file system, which a new name does not change. It finds an item again after
/// a crash between the journal and the Inbox.
package struct FileIdentity: Hashable, Sendable {
    package var device: UInt64
    package var inode: UInt64

    package init(device: UInt64, inode: UInt64) {
        self.device = device
        self.inode = inode
    }
}
