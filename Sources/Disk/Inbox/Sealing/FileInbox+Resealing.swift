import Digests
import Glibc
package import Sharing
import SystemCalls

/// Changes how an item of the Inbox is sealed.
///
/// After a kill at any step the item is there whole, and the journal finds it. These steps ensure it, in this order:
///
/// 1. The new form is written to staging, from its first byte on (`ResealedCopy`). A start sweeps it away.
/// 2. It is synced, read back from the disk, and compared with the digest of the contents as they arrived.
/// 3. `recording`: the journal has the new form and the identity of the new file or folder, and still lists the old one.
/// 4. The new form is renamed into the Inbox, as arrivals are (`Commit`): a file beside the old one under its other name,
///    or over it if the name on the disk stays the same. A folder is exchanged with the old one, which is in staging then;
///    where the file system cannot exchange, it comes beside the old one, under a number. The name is synced.
/// 5. The old form is removed, and its folder synced.
/// 6. The caller settles the journal.
///
/// Killed before step 4, the journal's change finds nothing with the new identity, and is dropped. Killed later, it finds
/// the new form, and steps 5 and 6 are done at the next start (`finish`, and the sweep of staging).
extension FileInbox {
    /// - Throws: `LeavingError` `locked` if the old or the new form cannot be opened now.
    package func checkKeys(for arrival: Arrival, as protection: ProtectionClass) throws(LeavingError) {
        guard keys.canOpen(protection), keys.canOpen(arrival.protection) else {
            throw LeavingError(.locked, "cannot change the protection of \(arrival.stored.name): Waft is locked")
        }
    }

    /// - Parameter recording: see above.
    /// - Returns: the change, and the place of the new form.
    /// - Throws: `LeavingError`: `locked`; `different` if the item is not as it arrived; `nameTaken` for a name in a folder
    ///   that cannot be that of a sealed file; `gone`, `noRoom`, `mismatch`, `disk`. Unless the old form could not be
    ///   removed, the item is unchanged then.
    package func reseal(
        _ arrival: Arrival, as protection: ProtectionClass,
        recording: (Resealing) throws(TransferError) -> Void
    ) throws(LeavingError) -> (Resealing, StoredItem) {
        let what = "cannot change the protection of \(arrival.stored.name)"
        try checkKeys(for: arrival, as: protection)
        guard let arrived = contentDigests(of: arrival) else { throw LeavingError(.locked, "\(what): Waft is locked") }
        do {
            let old = try FolderEntry(arrival.stored.path, inbox: path)
            let copy = try copy(old, arrival, arrived, as: protection)
            let sealed = try copy.staged.sealedDigests(
                of: ContentDigests(lasting: copy.contents, sent: arrived.sent, own: arrived.own))
            let digest = sealed?.stored ?? copy.contents
            copy.staged.relabel(from: old.path, digest: digest, protection.isSealed ? protection : nil)
            let oldIdentity = try FileIdentity.of(old.name, in: old.folder.raw)
            var resealing: Resealing?
            var item = ItemToCommit(copy.staged, as: arrival.stored.name, in: arrival.destination.folder)
            item.replacing = old.name
            let stored = try commit([item]) { identities throws(TransferError) in
                try self.compare(copy.staged, copy.contents, protection)
                do throws(StoredDigestError) { try copy.check(old) } catch {
                    throw TransferError(.storage, error.message)
                }
                guard let identity = identities.first ?? nil else { return }
                let change = Resealing(
                    number: arrival.number, protection: protection, digest: digest,
                    sentDigest: sealed == nil && arrived.sent != copy.contents ? arrived.sent : nil,
                    sealedContents: sealed?.contents, identity: identity)
                try recording(change)
                resealing = change
            }[0].get()
            guard let resealing else { throw SystemError(EIO) }
            if stored.path != old.path {
                try Self.remove(old, oldIdentity)
            } else if copy.staged.isTree {
                copy.staged.staging.remove(copy.staged.name)
            }
            return (resealing, stored)
        } catch let error as LeavingError {
            throw error
        } catch let error as SealedFileError {
            throw LeavingError(what, error)
        } catch let error as StoredDigestError {
            throw LeavingError(what, error)
        } catch let error as TransferError {
            throw LeavingError(what, error)
        } catch {
            throw LeavingError(what, error as? SystemError ?? SystemError(EIO))
        }
    }

    /// Ends a change that was recorded, and of which it is not known how far it came.
    ///
    /// - Parameter old: the identity of the old form.
    /// - Returns: the place of the new form; nil if it never came into the Inbox, and the old one is as it was.
    package func finish(
        _ resealing: Resealing, of arrival: Arrival, old: FileIdentity?
    ) throws(TransferError) -> StoredItem? {
        let folders = Set([arrival.destination.folder].compactMap(\.self))
        let isSealedFile = resealing.protection.isSealed && arrival.item.kind != .tree
        guard
            let found = try find([resealing.identity], in: folders)[resealing.identity]?.named(asSealed: isSealedFile),
            found.name.isNumbered(arrival.stored.name)
        else { return nil }
        try syncNames(in: folders)
        guard found.path != arrival.stored.path, let old else { return found }
        // A number of a file that has gone is given to another in time.
        guard try holds(found, resealing.digest, isTree: arrival.item.kind == .tree) else { return nil }
        do throws(SystemError) {
            let place = try FolderEntry(arrival.stored.path, inbox: path)
            try Self.remove(place, old)
        } catch  where error.number == ENOENT {
            // It is gone already.
        } catch {
            throw TransferError(.storage, "cannot remove the old form of \(arrival.stored.name): \(error)")
        }
        return found
    }

    /// Whether the item at a place is the one of a digest, which is that of its form on the disk.
    /// - Throws: `storage` if it cannot be read now.
    private func holds(_ stored: StoredItem, _ digest: Digest, isTree: Bool) throws(TransferError) -> Bool {
        do {
            let place = try FolderEntry(stored.path, inbox: path)
            return try StoredDigest.read(
                place.name, in: place.folder.raw, isTree: isTree, algorithm: digest.algorithm,
                ignoringModes: staging?.abilities.keepsModes == false
            ).digest == digest
        } catch let error as StoredDigestError where error.code == .gone || error.code == .different {
            return false
        } catch {
            throw TransferError(.storage, "the new form \(stored.name) cannot be read: \(error)")
        }
    }

    /// Writes the contents of an item into staging.
    /// - Throws: `LeavingError` `different` if they are not as they arrived; else as `ResealedCopy`.
    private func copy(
        _ place: FolderEntry, _ arrival: Arrival, _ arrived: ContentDigests, as protection: ProtectionClass
    ) throws -> ResealedCopy {
        let isTree = arrival.item.kind == .tree
        let oldKeys = keys.admitted(arrival.protection)
        // The known Inbox, and the staging folder on its disk.
        _ = try freeRoom()
        guard let staging else { throw TransferError.anotherInbox }
        let staged = try StagedFiles(
            in: staging, name: staging.freshName("resealing"), isTree: isTree,
            sealing: try keys.sealing(protection, staging.keptSealers))
        let known = arrived.lasting
        let copy = try ResealedCopy(of: place, keys: oldKeys, in: staged, known?.algorithm ?? .lasting)
        var isAsArrived = known == copy.contents
        if known == nil {
            // A sealed tree that did not come in byte order: nobody knows the digest of its contents in this order.
            let now = try StoredDigest.read(
                place.name, in: place.folder.raw, isTree: true, algorithm: arrival.digest.algorithm,
                ignoringModes: !staging.abilities.keepsModes)
            isAsArrived = now.digest == arrival.digest
        }
        guard isAsArrived else {
            throw LeavingError(.different, "\(arrival.stored.name) was changed since it arrived; take it out instead")
        }
        return copy
    }

    /// Reads a staged item back from the disk.
    private func compare(_ staged: StagedFiles, _ digest: Digest, _ protection: ProtectionClass) throws(TransferError) {
        do {
            let read = try StoredDigest.read(
                staged.name, in: staged.staging.folder.raw, isTree: staged.isTree, algorithm: digest.algorithm,
                keys: keys.admitted(protection), ignoringModes: !staged.keepsModes,
                fromDisk: true)
            if read.digest == digest { return }
        } catch {
            throw TransferError(.storage, "the new form cannot be read back: \(error.message)")
        }
        throw TransferError(.storage, "the new form differs from the item; check the disk")
    }

    /// Removes an entry with its contents, unless something else is in its place by now.
    private static func remove(_ place: FolderEntry, _ identity: FileIdentity) throws(SystemError) {
        // A disk can have another number after a reboot.
        guard try FileIdentity.of(place.name, in: place.folder.raw).inode == identity.inode else { return }
        try OwnTree.remove(place.name, in: place.folder.raw)
        fsync(place.folder.raw)
    }
}

extension StagedFiles {
    /// Copies the attributes of an item, with another digest and protection.
    func relabel(from path: String, digest: Digest, _ protection: ProtectionClass?) {
        let flags = O_RDONLY | O_NONBLOCK
        guard let file = try? staging.opening.open(name, below: staging.folder.raw, flags: flags) else { return }
        var attributes = Provenance.all.filter { $0 != Provenance.digest && $0 != Provenance.protection }
            .compactMap { name in ExtendedAttributes.read(name, of: path).map { (name: name, value: $0) } }
        attributes.append((name: Provenance.digest, value: Array(digest.description.utf8)))
        if let protection {
            attributes.append((name: Provenance.protection, value: Array(protection.rawValue.utf8)))
        }
        ExtendedAttributes.set(attributes, on: file.raw)
    }
}
