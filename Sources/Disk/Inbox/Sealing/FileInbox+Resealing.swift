import Digests
import Glibc
import Protection
package import Sharing
import SystemCalls

/// Changes how an item of the Inbox that is one file is sealed.
///
/// After a kill at any step the item is there whole, and the journal finds it. These steps ensure it, in this order:
///
/// 1. The new file is written to staging, from its first byte on in its new form. A start sweeps it away.
/// 2. It is synced, read back from the disk, and compared with the digest of the contents as they arrived.
/// 3. `recording`: the journal has the new form and the identity of the new file, and still lists the old one.
/// 4. The new file is renamed into the Inbox, as arrivals are (`Commit`): beside the old one under its other name, or over
///    it if the name on the disk stays the same. The name is synced.
/// 5. The old file is unlinked, and its folder synced.
/// 6. The caller settles the journal.
///
/// Killed before step 4, the journal's change finds no file with the new identity, and is dropped. Killed later, it finds
/// the new file, and steps 5 and 6 are done at the next start (`finish`).
extension FileInbox {
    /// - Parameter recording: see above.
    /// - Returns: the change, and the place of the new file.
    /// - Throws: `LeavingError`: `locked`; `different` if the item is not as it arrived; `gone`, `noRoom`, `mismatch`,
    ///   `disk`. Unless the old file could not be unlinked, the item is unchanged then.
    package func reseal(
        _ arrival: Arrival, as protection: ProtectionClass,
        recording: (Resealing) throws(TransferError) -> Void
    ) throws(LeavingError) -> (Resealing, StoredItem) {
        let what = "cannot change the protection of \(arrival.stored.name)"
        guard let vault, vault.canOpen(protection), vault.canOpen(arrival.protection),
            let contents = contentDigests(of: arrival)
        else { throw LeavingError(.locked, "\(what): Waft is locked") }
        do {
            let old = try InboxPlace(arrival.stored.path, inbox: path)
            let staged = try copy(old, arrival, contents, as: protection)
            let sealed = try staged.sealedDigests(of: contents)
            staged.relabel(
                from: old.path, digest: sealed?.stored ?? contents.sent, protection.isSealed ? protection : nil)
            let oldIdentity = try FileIdentity.of(old.name, in: old.folder.raw)
            var resealing: Resealing?
            var item = ItemToCommit(staged, as: arrival.stored.name, in: arrival.destination.folder)
            item.replacing = old.name
            let stored = try commit([item]) { identities throws(TransferError) in
                try self.compare(staged, contents.sent, isSealed: protection.isSealed)
                guard let identity = identities.first ?? nil else { return }
                let change = Resealing(
                    number: arrival.number, protection: protection, digest: sealed?.stored ?? contents.sent,
                    sentDigest: nil, sealedContents: sealed?.contents, identity: identity)
                try recording(change)
                resealing = change
            }[0].get()
            guard let resealing else { throw SystemError(EIO) }
            if stored.path != old.path { try Self.unlink(old, oldIdentity) }
            return (resealing, stored)
        } catch let error as LeavingError {
            throw error
        } catch let error as SealedFileError {
            throw LeavingError(what, error)
        } catch let error as TransferError {
            throw LeavingError(error.code == .noRoom ? .noRoom : .disk, "\(what): \(error.message)")
        } catch {
            throw LeavingError(what, error as? SystemError ?? SystemError(EIO))
        }
    }

    /// Ends a change that was recorded, and of which it is not known how far it came.
    ///
    /// - Parameter old: the identity of the old file.
    /// - Returns: the place of the new file; nil if it never came into the Inbox, and the old one is as it was.
    package func finish(
        _ resealing: Resealing, of arrival: Arrival, old: FileIdentity?
    ) throws(TransferError) -> StoredItem? {
        let folders = Set([arrival.destination.folder].compactMap(\.self))
        guard
            let found = try find([resealing.identity], in: folders)[resealing.identity]?
                .named(asSealed: resealing.protection.isSealed), found.name.isNumbered(arrival.stored.name)
        else { return nil }
        try syncNames(in: folders)
        guard found.path != arrival.stored.path, let old else { return found }
        do throws(SystemError) {
            let place = try InboxPlace(arrival.stored.path, inbox: path)
            try Self.unlink(place, old)
        } catch  where error.number == ENOENT {
            // It is gone already.
        } catch {
            throw TransferError(.storage, "cannot remove the old form of \(arrival.stored.name): \(error)")
        }
        return found
    }

    /// Writes the contents of an item into a new file in staging.
    private func copy(
        _ place: InboxPlace, _ arrival: Arrival, _ contents: ContentDigests, as protection: ProtectionClass
    ) throws -> StagedFiles {
        let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC
        let file = FileDescriptor(owning: try systemCall { openat(place.folder.raw, place.name, flags) })
        var status = stat()
        try systemCall { fstat(file.raw, &status) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw SystemError(ENXIO) }
        // The known Inbox, and the staging folder on its disk.
        _ = try freeRoom()
        guard let staging, let vault else { throw TransferError.anotherInbox }
        let staged = try StagedFiles(
            in: staging, name: staging.freshName("resealing"), isTree: false,
            sealing: try sealing(protection, in: staging))
        let modified = Timestamp(
            seconds: Int64(status.st_mtim.tv_sec), nanoseconds: UInt32(clamping: status.st_mtim.tv_nsec))
        try staged.beginFile(
            FileEntry(path: nil, executable: status.st_mode & 0o111 != 0, modified: modified, size: arrival.size))
        var digest = DigestState(contents.sent.algorithm)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 4_096)
        defer { buffer.deallocate() }
        if arrival.protection.isSealed {
            let source = try SealedFile.open(file, FileKeys(vault))
            try source.read(upTo: source.size) { (bytes) throws(SealedFileError) in
                digest.update(bytes)
                do throws(TransferError) { try staged.write(bytes) } catch {
                    throw error.code == .noRoom ? .system(SystemError(ENOSPC)) : .system(SystemError(EIO))
                }
            }
        } else {
            while true {
                let count = try systemCall { read(file.raw, buffer.baseAddress, buffer.count) }
                if count == 0 { break }
                let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<count])
                digest.update(bytes)
                try staged.write(bytes)
            }
        }
        try staged.endFile()
        guard digest.finalize() == contents.sent else {
            throw LeavingError(.different, "\(arrival.stored.name) was changed since it arrived; take it out instead")
        }
        return staged
    }

    /// Reads a staged file back from the disk.
    private func compare(_ staged: StagedFiles, _ digest: Digest, isSealed: Bool) throws(TransferError) {
        do {
            let read = try StoredDigest.read(
                staged.name, in: staged.staging.folder.raw, isTree: false, algorithm: digest.algorithm,
                keys: isSealed ? vault.map { FileKeys($0) } : nil, fromDisk: true)
            if read.digest == digest { return }
        } catch {
            throw TransferError(.storage, "the new file cannot be read back: \(error.message)")
        }
        throw TransferError(.storage, "the new file differs from the item; check the disk")
    }

    /// Unlinks an entry, unless something else is in its place by now.
    private static func unlink(_ place: InboxPlace, _ identity: FileIdentity) throws(SystemError) {
        // A disk can have another number after a reboot.
        guard try FileIdentity.of(place.name, in: place.folder.raw).inode == identity.inode else { return }
        try systemCall { unlinkat(place.folder.raw, place.name, 0) }
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
