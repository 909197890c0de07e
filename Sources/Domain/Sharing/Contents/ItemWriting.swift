import Digests

/// An item that is being written: its place on the disk, and the digests of its contents so far.
struct ItemWriting: ~Copyable {
    let staged: any StagedItem
    /// Nil for an item that is one file.
    private var listing: ListingSums?
    private var soleFile: ContentSums.Pair?

    init(_ staged: any StagedItem, isTree: Bool, _ algorithm: DigestAlgorithm) {
        self.staged = staged
        listing = isTree ? ListingSums(algorithm, keepsModes: staged.keepsModes) : nil
    }

    mutating func file(_ file: ItemAssembly.OpenFile, digests: ContentSums.Pair) {
        if let path = file.path {
            listing?.file(path, executable: file.executable, digests: digests)
        } else {
            soleFile = digests
        }
    }

    mutating func folder(_ path: SafeRelativePath) { listing?.folder(path) }

    mutating func link(_ path: SafeRelativePath, target: SafeLinkTarget) { listing?.link(path, target: target) }

    /// The item after its last entry, with its digests on the disk.
    /// - Parameters:
    ///   - end: as checked by `ItemAssembly`.
    ///   - sent: the sender's digest; nil if its protocol has none.
    ///   - lack: why a part of it is missing.
    /// - Returns: nil if it has no contents, or others than were sent.
    mutating func whole(
        _ end: (number: Int, bytes: UInt64, entries: UInt64), sent: Digest?, lack: TransferError?
    ) throws(TransferError) -> WholeItem? {
        let isTree = listing != nil
        let isInByteOrder = listing?.isInByteOrder ?? true
        guard let ours = isTree ? listing?.finalize() : soleFile, sent == nil || ours.sent == sent else { return nil }
        if isTree { try staged.removeLeftovers() }
        let sealed = try staged.sealedDigests(
            of: ContentDigests(
                lasting: isInByteOrder ? ours.onDisk : nil, sent: sent ?? ours.onDisk,
                own: isInByteOrder ? ours.lasting : nil))
        // Later readers of the tree compute its digest in byte order.
        let lasting = isInByteOrder || sealed != nil ? ours.onDisk : try staged.digest(.lasting)
        return WholeItem(
            number: end.number, staged: staged, bytes: end.bytes, entries: end.entries, digest: lasting,
            sentDigest: sent ?? lasting, ownDigest: isInByteOrder && ours.bare != nil ? ours.lasting : nil,
            sealed: sealed, lack: lack)
    }

    /// Ends it without a commit: keeps the contents for another attempt, or discards them.
    func end(keeping: Bool) { if keeping { staged.keep() } else { staged.discard() } }
}

/// A tree that waits for its next file.
final class AsideItem {
    var writing: ItemWriting?

    init(_ writing: consuming ItemWriting?) { self.writing = writing }
}
