package import ContentCheck
package import Digests

/// One item while it is being written. Used by one thread at a time; a call after a fault is a programming error. In a tree
/// two faults are none of the tree: after one of `beginFile` or `makeFolder` it is as it was before the call, and after one
/// of `write` it is so once the file was dropped.
///
/// An item that is neither committed, kept nor discarded when its last reference goes is discarded.
///
/// A place may have contents from an earlier attempt. They are not part of the item by themselves: `resumeFile` takes
/// over a file, a folder is taken over when it is made again, new entries replace old ones, and `removeLeftovers`
/// removes the rest.
package protocol StagedItem: AnyObject, Sendable {
    /// Whether its disk keeps the executable bits of files. Where it does not, no digest that is read from the disk has
    /// them, and the lasting digest of a tree has none either.
    var keepsModes: Bool { get }
    /// Begins the next file; the one before must have ended.
    ///
    /// Room for `entry.size` bytes is taken at once if the file system supports it.
    /// - Throws: `unsafeName` if that path is taken already or its folder is missing, `noRoom`, `storage`.
    func beginFile(_ entry: FileEntry) throws(TransferError)
    /// Takes over a kept file, cut to its first `entry.offset` bytes, as the next file.
    /// - Parameter contents: called with these bytes as they are on the disk, piece by piece.
    /// - Throws: `notKept` if there is no such file or it is shorter; otherwise as `beginFile`.
    func resumeFile(
        _ entry: FileEntry, contents: (UnsafeRawBufferPointer) -> Void
    ) throws(TransferError)
    /// Appends to the file that was begun.
    /// - Throws: `noRoom`, `storage`.
    func write(_ bytes: UnsafeRawBufferPointer) throws(TransferError)
    /// Ends the file: mode and time are set.
    func endFile() throws(TransferError)
    /// Removes the file of a tree that was begun, as if it had not been: it may be begun again.
    /// - Throws: `storage`.
    func dropFile() throws(TransferError)
    /// - Throws: as `beginFile`.
    func makeFolder(_ path: SafeRelativePath) throws(TransferError)
    /// - Throws: as `beginFile`.
    func makeLink(_ path: SafeRelativePath, target: SafeLinkTarget) throws(TransferError)
    /// Sets the time of a folder (nil: the item itself).
    func closeFolder(_ path: SafeRelativePath?, modified: Timestamp?) throws(TransferError)
    /// Removes kept entries that were not sent again. Called after the last entry, before the commit.
    func removeLeftovers() throws(TransferError)
    /// Closes its open files and folders after the last entry: many items may wait a long time for the commit.
    /// - Throws: `noRoom`, `storage` for bytes that were still to be written.
    func rest() throws(TransferError)
    /// Reads a whole tree again and computes its digest in byte order. After `removeLeftovers`, before the commit.
    /// - Throws: `storage` if it cannot be read.
    func digest(_ algorithm: DigestAlgorithm) throws(TransferError) -> Digest
    /// Checks the contents of an item that is one file, and has ended, against its claim.
    ///
    /// A liar loses its executable bit and is marked, so that users of the Inbox can see it.
    /// - Returns: nil if contents are not checked.
    func contentVerdict(on claim: ContentClaim) throws(TransferError) -> ContentVerdict?
    /// The digests that the journal keeps of a sealed item; nil for one that is not sealed. After the last entry, before
    /// the commit.
    /// - Throws: `storage` if it cannot be sealed or read.
    func sealedDigests(of contents: ContentDigests) throws(TransferError) -> SealedDigests?
    /// Writes the origin of the whole item into its attributes, as far as the disk can keep them, and closes its file.
    /// - Throws: `noRoom`, `storage` for bytes that were still to be written.
    func label(_ facts: ArrivalFacts) throws(TransferError)
    /// Ends the writing and keeps the contents under the key; discards them if there is no key or nothing was written.
    /// Can be called at any time before the commit.
    func keep()
    /// Removes all of it from the disk, as far as the disk allows. Can be called at any time, and twice.
    func discard()
}

extension StagedItem {
    /// For items on disks of this system.
    package var keepsModes: Bool { true }
    /// For items that are never sealed.
    package func sealedDigests(of contents: ContentDigests) throws(TransferError) -> SealedDigests? { nil }
    /// For items without attributes.
    package func label(_ facts: ArrivalFacts) throws(TransferError) {}
    /// For items that hold nothing open.
    package func rest() throws(TransferError) {}
}
