package import ContentCheck
package import Digests

// The ports of the domain to the disk, to people and to handlers. Each comment is the contract; the same tests check
// the real implementations and the fakes of TestSupport.

/// The disk, as a receiver needs it.
///
/// All calls may block on the disk and are made from threads that may.
package protocol InboxStoring: Sendable {
    /// Bytes that may be stored now without touching the reserve. Kept parts of interrupted items count as free: they
    /// are removed when room is needed.
    /// - Throws: `TransferFault.storage` if the Inbox cannot be reached.
    func freeRoom() throws(TransferFault) -> UInt64

    /// Files, folders and links that may be made now without touching the reserve; `.max` if the file system does not
    /// count them. Kept items count as in `freeRoom`.
    /// - Throws: as `freeRoom`.
    func freeEntries() throws(TransferFault) -> UInt64

    /// A place for one item outside the Inbox, on its file system. Nothing of it can be seen in the Inbox.
    ///
    /// If something is kept under `partial` and no other transfer uses it, the place is that one: see `StagedItem`. The
    /// oldest kept parts of other items are removed to make room for the item.
    /// - Parameters:
    ///   - isTree: whether the item is a folder with contents, or one file.
    ///   - partial: the key for an interrupted item; nil if it is not kept.
    func stage(
        transfer: TransferID, item: Int, isTree: Bool, partial: PartialKey?
    ) throws(TransferFault) -> any StagedItem

    /// Whether something is kept under the key and no transfer uses it.
    func hasKept(_ key: PartialKey) -> Bool

    /// Limits a peer's kept items to so many bytes on the disk, with `Limits.entryBytes` for each file, folder and
    /// link. The oldest are removed first. Kept parts of `items`, which are about to come, do not count and stay,
    /// unless they are larger than the items.
    func boundKept(of peer: PeerID, to bytes: UInt64, besides items: [OfferedItem])

    /// Reads the kept files of a key and computes their digests: of every file that is not empty, as it is on the disk
    /// now. Unreadable files are left out.
    /// - Parameter found: called for each file, in any order; returns whether to continue.
    func readKept(_ key: PartialKey, _ algorithm: DigestAlgorithm, found: (KeptFile) -> Bool)

    /// Whether the stored item seems to be in the Inbox still: under that name, of that kind, a file also of that size.
    func seemsPresent(_ arrival: Arrival) -> Bool

    /// The digest of the file or folder in the Inbox that has an arrival's name; of a tree in byte order.
    /// - Throws: `notKept` if it is missing or cannot be read.
    func digest(of arrival: Arrival, _ algorithm: DigestAlgorithm) throws(TransferFault) -> Digest

    /// Moves whole items into the Inbox, in order: contents and names are on the disk when this returns.
    ///
    /// Nothing that exists is replaced: if a name is taken, `name-1.ext` and so on is used. An item that cannot be
    /// moved reports its own fault; the others are moved all the same. The call uses up the items.
    /// - Returns: for each item the name it has in the Inbox, or its fault.
    ///
    /// - Parameter announcing: called once, when all contents are on the disk and none can be seen in the Inbox yet,
    ///   with the identity of each item on its file system (nil for one that has been given up). An error that it
    ///   throws becomes the fault of all items.
    func commit(
        _ items: [ItemToCommit],
        announcing: ([FileIdentity?]) throws(TransferFault) -> Void
    ) -> [Result<StoredItem, TransferFault>]

    /// The places of the items with these identities, in the Inbox itself or in these folders below it; missing ones
    /// are left out.
    /// - Throws: `storage` if the Inbox cannot be read. Missing folders count as empty.
    func find(
        _ identities: Set<FileIdentity>, in folders: Set<SafeRelativePath>
    ) throws(TransferFault) -> [FileIdentity: StoredItem]
}

/// A whole item, and its intended name.
package struct ItemToCommit: Sendable {
    package var staged: any StagedItem
    package var name: SafeName
    /// Below the Inbox, made if it is missing; nil for the Inbox itself.
    package var folder: SafeRelativePath?

    package init(_ staged: any StagedItem, as name: SafeName, in folder: SafeRelativePath? = nil) {
        self.staged = staged
        self.name = name
        self.folder = folder
    }
}

extension InboxStoring {
    /// A place for an item that is not kept.
    package func stage(transfer: TransferID, item: Int, isTree: Bool) throws(TransferFault) -> any StagedItem {
        try stage(transfer: transfer, item: item, isTree: isTree, partial: nil)
    }

    /// Commits without an announcement.
    package func commit(_ items: [ItemToCommit]) -> [Result<StoredItem, TransferFault>] {
        commit(items) { _ in }
    }

    package func find(_ identities: Set<FileIdentity>) throws(TransferFault) -> [FileIdentity: StoredItem] {
        try find(identities, in: [])
    }
}

/// The place of a stored item.
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
/// An item that is neither committed, kept nor discarded when its last reference goes is discarded.
///
/// A place may have contents from an earlier attempt. They are not part of the item by themselves: `resumeFile` takes
/// over a file, a folder is taken over when it is made again, new entries replace old ones, and `removeLeftovers`
/// removes the rest.
package protocol StagedItem: AnyObject, Sendable {
    /// Begins the next file; the one before must have ended.
    ///
    /// Room for `entry.size` bytes is taken at once if the file system supports it.
    /// - Throws: `unsafeName` if that path is taken already or its folder is missing, `noRoom`, `storage`.
    func beginFile(_ entry: FileEntry) throws(TransferFault)
    /// Takes over a kept file, cut to its first `entry.offset` bytes, as the next file.
    /// - Parameter contents: called with these bytes as they are on the disk, piece by piece.
    /// - Throws: `notKept` if there is no such file or it is shorter; otherwise as `beginFile`.
    func resumeFile(
        _ entry: FileEntry, contents: (UnsafeRawBufferPointer) -> Void
    ) throws(TransferFault)
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
    /// Removes kept entries that were not sent again. Called after the last entry, before the commit.
    func removeLeftovers() throws(TransferFault)
    /// Closes its open files and folders after the last entry: many items may wait a long time for the commit.
    /// - Throws: `noRoom`, `storage` for bytes that were still to be written.
    func rest() throws(TransferFault)
    /// Reads a whole tree again and computes its digest in byte order. After `removeLeftovers`, before the commit.
    /// - Throws: `storage` if it cannot be read.
    func digest(_ algorithm: DigestAlgorithm) throws(TransferFault) -> Digest
    /// Checks the contents of an item that is one file, and has ended, against its claim.
    ///
    /// A liar loses its executable bit and is marked, so that users of the Inbox can see it.
    /// - Returns: nil if contents are not checked.
    func contentVerdict(on claim: ContentClaim) throws(TransferFault) -> ContentVerdict?
    /// Writes the origin of the whole item into its attributes, as far as the disk can keep them.
    func label(_ facts: ArrivalFacts)
    /// Ends the writing and keeps the contents under the key; discards them if there is no key or nothing was written.
    /// Can be called at any time before the commit.
    func keep()
    /// Removes all of it from the disk, as far as the disk allows. Can be called at any time, and twice.
    func discard()
}

extension StagedItem {
    /// For items without attributes.
    package func label(_ facts: ArrivalFacts) {}
    /// For items that hold nothing open.
    package func rest() throws(TransferFault) {}
}

/// Decides whether an offer is accepted: a person at a terminal, a rule, a desktop notification.
package protocol ConsentAsking: Sendable {
    /// Asks, and waits for the answer, but no longer than the offer stands.
    ///
    /// The task is cancelled when the sender leaves or time is up; the question is then withdrawn at once, and the
    /// result does not matter.
    /// - Parameter waits: called once the offer can be answered, before its answer; not if no one is asked.
    /// - Returns: one verdict per item.
    func consent(
        to offer: Offer, from peer: PeerID, freeRoom: UInt64, waits: @escaping @Sendable () -> Void
    ) async -> [ItemVerdict]
}

extension ConsentAsking {
    /// For callers that need not know when the offer can be answered.
    package func consent(to offer: Offer, from peer: PeerID, freeRoom: UInt64) async -> [ItemVerdict] {
        await consent(to: offer, from: peer, freeRoom: freeRoom, waits: {})
    }
}

/// The user's standing decisions on peers and their offers. Asked before an offer takes any of the common resources.
///
/// Decides without waiting for people; may block on the disk.
package protocol OfferGating: Sendable {
    /// The current rights of a peer, by its identity alone.
    func access(of peer: PeerID, by dialect: Dialect) -> PeerAccess
    /// Refuses an offer of which no item can be accepted, so that no question is needed.
    /// - Returns: one verdict per item; nil if an item may be accepted.
    func refusal(of offer: Offer, from peer: PeerID) -> [ItemVerdict]?
}

/// Delivers arrivals to handlers.
package protocol Delivering: Sendable {
    /// Whether any handler will be asked about such an item; decided without waiting.
    func takes(_ facts: ArrivalFacts) -> Bool
    /// Takes over arrivals that were recorded for delivery; returns at once.
    /// - Parameter answered: called for each when a handler has answered, from any thread: once, or with `later` any
    ///   number of times and then once. Never called for arrivals that still wait when the receiver stops.
    func deliver(_ arrivals: [Arrival], answered: @escaping @Sendable (Arrival, HandlerAnswer) -> Void)
    /// No more items of this transfer will come.
    func transferEnded(_ transfer: TransferID, from peer: PeerID)
}
