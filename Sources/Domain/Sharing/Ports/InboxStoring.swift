package import Digests

// The ports of the domain to the disk, to people and to handlers. Each comment is the contract; the same tests check
// the real implementations and the fakes of TestSupport.

/// The disk, as a receiver needs it.
///
/// All calls may block on the disk and are made from threads that may.
package protocol InboxStoring: Sendable {
    /// Bytes that may be stored now without touching the reserve. Kept parts of interrupted items count as free: they
    /// are removed when room is needed.
    /// - Throws: `TransferError.storage` if the Inbox cannot be reached.
    func freeRoom() throws(TransferError) -> UInt64

    /// Files, folders and links that may be made now without touching the reserve; `.max` if the file system does not
    /// count them. Kept items count as in `freeRoom`.
    /// - Throws: as `freeRoom`.
    func freeEntries() throws(TransferError) -> UInt64

    /// Why the disk cannot hold an item, known before its contents come; nil if nothing speaks against it.
    func refusal(of item: OfferedItem, isSealed: Bool) -> String?

    /// A place for one item outside the Inbox, on its file system. Nothing of it can be seen in the Inbox.
    ///
    /// If something is kept under `partial` and no other transfer uses it, the place is that one: see `StagedItem`. The
    /// oldest kept parts of other items are removed to make room for the item.
    /// - Parameters:
    ///   - isTree: whether the item is a folder with contents, or one file.
    ///   - partial: the key for an interrupted item, of the same protection; nil if it is not kept.
    ///   - protection: how it is sealed from its first byte on.
    /// - Throws: `storage` also if there are no keys to seal it with.
    func stage(
        transfer: TransferID, item: Int, isTree: Bool, partial: PartialKey?, protection: ProtectionClass
    ) throws(TransferError) -> any StagedItem

    /// Whether something that can be read now is kept under the key, and no transfer uses it.
    func hasKept(_ key: PartialKey) -> Bool
    /// Whether something of a peer may be kept: false if `hasKept` is false for each of its items.
    func hasKept(of peer: PeerID) -> Bool

    /// Limits a peer's kept items to so many bytes on the disk, with `Limits.entryBytes` for each file, folder and
    /// link. The oldest are removed first. Kept parts of `items`, which are about to come, do not count and stay,
    /// unless they are larger than the items.
    /// - Parameter protections: as many as there are items, in their order.
    func boundKept(
        of peer: PeerID, to bytes: UInt64, besides items: [OfferedItem], protections: [ProtectionClass])

    /// Reads the kept files of a key and computes their digests: of every file that is not empty, as it is on the disk
    /// now. Unreadable files are left out.
    /// - Parameter found: called for each file, in any order; returns whether to continue.
    func readKept(_ key: PartialKey, _ algorithm: DigestAlgorithm, found: (KeptFile) -> Bool)

    /// Whether the stored item seems to be in the Inbox still: under that name, of that kind, a file also of that size.
    func seemsPresent(_ arrival: Arrival) -> Bool

    /// The digest of the contents of the file or folder in the Inbox that has an arrival's name; of a tree in byte order.
    /// - Throws: `notKept` if it is missing or cannot be read, as while it is locked.
    func digest(of arrival: Arrival, _ algorithm: DigestAlgorithm) throws(TransferError) -> Digest

    /// The digests of an arrival's contents, as they were when it came; nil while it is locked.
    func contentDigests(of arrival: Arrival) -> ContentDigests?

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
        announcing: ([FileIdentity?]) throws(TransferError) -> Void
    ) -> [Result<StoredItem, TransferError>]

    /// The places of the items with these identities, in the Inbox itself or in these folders below it; missing ones
    /// are left out.
    /// - Throws: `storage` if the Inbox cannot be read. Missing folders count as empty.
    func find(
        _ identities: Set<FileIdentity>, in folders: Set<SafeRelativePath>
    ) throws(TransferError) -> [FileIdentity: StoredItem]
}

/// A whole item, and its intended name.
package struct ItemToCommit: Sendable {
    package var staged: any StagedItem
    package var name: SafeName
    /// Below the Inbox, made if it is missing; nil for the Inbox itself.
    package var folder: SafeRelativePath?
    /// The name on the disk, in the same folder, of an older form of the item: its name does not count as taken. A file
    /// of this name is replaced; a folder is exchanged with the staged one, if the file system can do that.
    package var replacing: String?

    package init(_ staged: any StagedItem, as name: SafeName, in folder: SafeRelativePath? = nil) {
        self.staged = staged
        self.name = name
        self.folder = folder
    }
}

extension InboxStoring {
    /// For disks that can hold everything.
    package func refusal(of item: OfferedItem, isSealed: Bool) -> String? { nil }

    /// For items that are not sealed.
    package func contentDigests(of arrival: Arrival) -> ContentDigests? {
        guard !arrival.protection.isSealed else { return nil }
        return ContentDigests(
            lasting: arrival.digest, sent: arrival.sentDigest ?? arrival.digest, own: arrival.ownDigest)
    }

    /// A place for an item that is not sealed.
    package func stage(
        transfer: TransferID, item: Int, isTree: Bool, partial: PartialKey?
    ) throws(TransferError) -> any StagedItem {
        try stage(transfer: transfer, item: item, isTree: isTree, partial: partial, protection: .none)
    }

    /// The limit for a peer whose items are not sealed.
    package func boundKept(of peer: PeerID, to bytes: UInt64, besides items: [OfferedItem]) {
        boundKept(of: peer, to: bytes, besides: items, protections: items.map { _ in .none })
    }

    /// A place for an item that is not kept.
    package func stage(transfer: TransferID, item: Int, isTree: Bool) throws(TransferError) -> any StagedItem {
        try stage(transfer: transfer, item: item, isTree: isTree, partial: nil)
    }

    /// Commits without an announcement.
    package func commit(_ items: [ItemToCommit]) -> [Result<StoredItem, TransferError>] {
        commit(items) { _ in }
    }

    package func find(_ identities: Set<FileIdentity>) throws(TransferError) -> [FileIdentity: StoredItem] {
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
