package import ContentCheck
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
    ///
    /// - Parameter announcing: called once, when all contents are on the disk and nothing of them can be seen in the
    ///   Inbox yet, with what each item is on its file system (nil for one that has been given up). What it throws
    ///   becomes the fault of all items.
    func commit(
        _ items: [ItemToCommit],
        announcing: ([FileIdentity?]) throws(TransferFault) -> Void
    ) -> [Result<StoredItem, TransferFault>]

    /// Where things lie, in the Inbox itself or in these folders below it, that are of these identities; those that are
    /// not there are left out.
    /// - Throws: `storage` when the Inbox cannot be read. Folders that are not there have nothing in them.
    func find(
        _ identities: Set<FileIdentity>, in folders: Set<SafeRelativePath>
    ) throws(TransferFault) -> [FileIdentity: StoredItem]
}

/// A whole item, and the name that it should get.
package struct ItemToCommit: Sendable {
    package var staged: any StagedItem
    package var name: SafeName
    /// Below the Inbox, made where it is missing; nil for the Inbox itself.
    package var folder: SafeRelativePath?

    package init(_ staged: any StagedItem, as name: SafeName, in folder: SafeRelativePath? = nil) {
        self.staged = staged
        self.name = name
        self.folder = folder
    }
}

extension InboxStoring {
    /// Commits without telling anybody before.
    package func commit(_ items: [ItemToCommit]) -> [Result<StoredItem, TransferFault>] {
        commit(items) { _ in }
    }

    package func find(_ identities: Set<FileIdentity>) throws(TransferFault) -> [FileIdentity: StoredItem] {
        try find(identities, in: [])
    }
}

/// Where an item came to lie.
package struct StoredItem: Hashable, Sendable {
    /// Its name in the Inbox, or in the folder below it.
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
    /// Writes on the item, which is whole, where it comes from, as far as the disk can keep that.
    func label(_ facts: ArrivalFacts)
    /// Removes all of it from the disk, as far as the disk allows. Can be called at any time, and twice.
    func discard()
}

extension StagedItem {
    /// For those with nothing to write on.
    package func label(_ facts: ArrivalFacts) {}
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

/// Hands what has arrived to whoever opens it.
package protocol Delivering: Sendable {
    /// Whether anybody will be asked about such an item; decided without waiting.
    func takes(_ facts: ArrivalFacts) -> Bool
    /// Takes over arrivals that were written down as to be delivered; returns at once.
    /// - Parameter answered: called for each when a handler has answered, from any thread: once, or with `later` any
    ///   number of times and then once. Never called for what is still waiting when the receiver stops.
    func deliver(_ arrivals: [Arrival], answered: @escaping @Sendable (Arrival, HandlerAnswer) -> Void)
    /// No more items of this transfer will come.
    func transferEnded(_ transfer: TransferID, from peer: PeerID)
}
