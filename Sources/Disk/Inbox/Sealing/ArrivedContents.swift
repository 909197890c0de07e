import Digests
import Sharing
import SystemCalls

/// Compares the contents of a sealed item with those that arrived.
///
/// An age file proves no sender: whoever knows the public keys can seal other contents to them, and put that file in the
/// place of the item. The digests of the contents are in the journal, sealed.
enum ArrivedContents {
    static let reason = "other contents were sealed in its place"

    /// The digest of an item that is one file.
    ///
    /// - Returns: nil if it cannot be opened: then nothing is known of the contents.
    static func digest(ofFile arrival: Arrival, _ keys: FileKeys) -> Digest? {
        keys.contentDigests(of: arrival).map { $0.lasting ?? $0.sent }
    }

    /// Whether an open copy of an item has the contents that arrived.
    ///
    /// - Parameters:
    ///   - name: that of the copy, in `folder`.
    ///   - place: that of the sealed item.
    ///   - keepsModes: whether the disk of the copy keeps executable bits.
    ///   - inbox: path of the Inbox.
    ///   - fromDisk: as in `StoredDigest.read`.
    static func areIn(
        _ name: String, in folder: Int32, _ arrival: Arrival, at place: FolderEntry, _ keys: FileKeys,
        inbox: String, keepsModes: Bool = true, fromDisk: Bool = false
    ) throws(StoredDigestError) -> Bool {
        guard let arrived = keys.contentDigests(of: arrival) else { return false }
        let isTree = arrival.item.kind == .tree
        let inboxKeepsModes = DiskAbilities.keepsModes(inInboxAt: inbox)
        if let known = arrived.lasting ?? (isTree ? nil : arrived.sent) {
            let copy = try StoredDigest.read(
                name, in: folder, isTree: isTree, algorithm: known.algorithm,
                ignoringModes: !keepsModes || !inboxKeepsModes, fromDisk: fromDisk)
            if copy.digest == known { return true }
            guard isTree, !keepsModes, inboxKeepsModes else { return false }
            // The copy cannot have the executable bits that the known digest has.
            func original(ignoringModes: Bool) throws(StoredDigestError) -> StoredDigest {
                try StoredDigest.read(
                    place.name, in: place.folder.raw, isTree: true, algorithm: known.algorithm, keys: keys,
                    ignoringModes: ignoringModes)
            }
            guard try original(ignoringModes: false).digest == known else { return false }
            return try original(ignoringModes: true) == copy
        }
        // A tree that did not come in byte order: nobody knows the digest of its contents in this order.
        let algorithm = arrival.digest.algorithm
        let sealed = try StoredDigest.read(
            place.name, in: place.folder.raw, isTree: true, algorithm: algorithm, ignoringModes: !inboxKeepsModes)
        let copy = try StoredDigest.read(
            name, in: folder, isTree: true, algorithm: algorithm, ignoringModes: !keepsModes, fromDisk: fromDisk)
        let original = try StoredDigest.read(
            place.name, in: place.folder.raw, isTree: true, algorithm: algorithm, keys: keys,
            ignoringModes: !keepsModes)
        return sealed.digest == arrival.digest && copy == original
    }
}
