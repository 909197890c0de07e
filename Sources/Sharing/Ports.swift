package import ContentCheck
package import Digests
package import UniformTypes

// The ports of the domain: what it needs of the disk, of people and of handlers. Each comment is the contract;
// the real thing and the fakes of TestSupport are held to it by the same tests.

/// The disk, as a receiver needs it.
///
/// All calls may block on the disk and are made from threads that may.
package protocol InboxStoring: Sendable {
    /// Bytes that may be stored now without touching the reserve.
    /// - Throws: `TransferFault.storage` when the Inbox cannot be reached.
    func freeRoom() throws(TransferFault) -> UInt64

    /// A place for one item outside the Inbox, on its file system. Nothing of it can be seen in the Inbox.
    /// - Parameter isTree: whether the item is a folder with things in it, or one file.
    func stage(transfer: TransferID, item: Int, isTree: Bool) throws(TransferFault) -> any StagedItem

    /// Moves whole items into the Inbox, in order: contents and names are on the disk when this returns.
    ///
    /// Nothing that exists is replaced: where a name is taken, `name-1.ext` and so on is used. An item that cannot be
    /// moved reports its own fault; the others are moved all the same. Items are used up by this.
    /// - Returns: for each item the name it has in the Inbox, or its fault.
    func commit(_ items: [(staged: any StagedItem, name: SafeName)]) -> [Result<StoredItem, TransferFault>]
}

/// Where an item came to lie.
package struct StoredItem: Hashable, Sendable {
    /// Its name in the Inbox.
    package var name: SafeName
    /// Its absolute path.
    package var path: String

    package init(name: SafeName, path: String) {
        self.name = name
        self.path = path
    }
}

/// One item while it is being written. Used by one thread at a time; a call after a fault is a programming error.
///
/// An item that is neither committed nor discarded when its last reference goes is discarded.
package protocol StagedItem: AnyObject, Sendable {
    /// Begins the next file; the one before must have ended.
    ///
    /// Room for `entry.size` bytes is taken at once where the file system can.
    /// - Throws: `unsafeName` when something lies at that path already or its folder is not there, `noRoom`, `storage`.
    func beginFile(_ entry: FileEntry) throws(TransferFault)
    /// Appends to the file that was begun.
    /// - Throws: `noRoom`, `storage`.
    func write(_ bytes: UnsafeRawBufferPointer) throws(TransferFault)
    /// Ends the file: mode and time are set.
    func endFile() throws(TransferFault)
    /// - Throws: as `beginFile`.
    func makeFolder(_ path: SafeRelativePath) throws(TransferFault)
    /// - Throws: as `beginFile`.
    func makeLink(_ path: SafeRelativePath, target: SafeLinkTarget) throws(TransferFault)
    /// Sets the time of a folder (nil: the item itself).
    func closeFolder(_ path: SafeRelativePath?, modified: Timestamp?) throws(TransferFault)
    /// Holds the contents of an item that is one file, and has ended, against the type it is said to have.
    ///
    /// A liar loses its executable bit and is marked, so that whoever looks into the Inbox can tell.
    /// - Returns: nil where contents are not looked into.
    func contentVerdict(declared: UniformType) throws(TransferFault) -> ContentVerdict?
    /// Removes all of it from the disk, as far as the disk allows. Can be called at any time, and twice.
    func discard()
}

/// Who decides whether an offer is taken: a person at a terminal, a rule, a desktop notification.
package protocol ConsentAsking: Sendable {
    /// Asks, and waits for the answer as long as that takes, but no longer than the offer stands.
    ///
    /// The task is cancelled when the sender goes away or time is up; the question is then withdrawn at once, and
    /// what is returned does not matter.
    /// - Returns: one verdict an item.
    func consent(to offer: Offer, from peer: PeerID, freeRoom: UInt64) async -> [ItemVerdict]
}

/// What is known of an item that came to lie in the Inbox: what a handler is told.
package struct Arrival: Sendable {
    package var transfer: TransferID
    /// The item's place in the offer, and how many the offer has.
    package var itemNumber: Int
    package var itemsInOffer: Int
    package var item: OfferedItem
    package var stored: StoredItem
    /// Bytes of contents.
    package var size: UInt64
    package var digest: Digest
    package var peer: PeerID
    package var senderName: String
    package var annotation: [String: String]
    /// What its content says; nil where that was not looked into (folders, URLs, texts).
    package var content: ContentVerdict?

    /// The type it is handed on as: what it was said to be, or what it turned out to be.
    package var type: UniformType {
        if let content, content.outcome == .mislabelled, let type = content.contentType { return type }
        return item.type
    }

    package init(
        transfer: TransferID,
        itemNumber: Int,
        itemsInOffer: Int,
        item: OfferedItem,
        stored: StoredItem,
        size: UInt64,
        digest: Digest,
        peer: PeerID,
        senderName: String,
        annotation: [String: String],
        content: ContentVerdict? = nil
    ) {
        self.transfer = transfer
        self.itemNumber = itemNumber
        self.itemsInOffer = itemsInOffer
        self.item = item
        self.stored = stored
        self.size = size
        self.digest = digest
        self.peer = peer
        self.senderName = senderName
        self.annotation = annotation
        self.content = content
    }
}

/// Hands what has arrived to whoever opens it.
package protocol Delivering: Sendable {
    /// Whether anybody will be asked at all; decided without waiting.
    func takes(_ arrival: Arrival) -> Bool
    /// Asks, waits for the answer. Never throws: a handler that cannot be asked has `failed`.
    func deliver(_ arrival: Arrival) async -> HandlerAnswer
}
