import CLinuxShims
import Digests
import Glibc
package import Sharing
import SystemCalls

/// Moves items out of an Inbox, and deletes them. It needs no receiver, takes no lock, and never replaces anything. The
/// caller updates the journal.
package enum InboxLeaving {
    /// Maximum numbers tried for a name that is taken.
    private static let maximumTries = 65_536

    /// The new place of an item.
    package struct Taken: Hashable, Sendable {
        /// Absolute path.
        package var path: String
        /// One line if the item is there whole, but part of it is still in the Inbox or it kept the modes of the Inbox;
        /// nil if everything succeeded.
        package var remark: String?
        /// Whether the item has left the Inbox.
        package var hasLeft = true
    }

    /// Moves an item out: by a rename if possible. To another file system it copies, syncs, reads the copy back and
    /// compares it, and only then deletes the item. The item gets the modes of this user's own files.
    ///
    /// - Parameters:
    ///   - directory: an existing folder outside the Inbox, chosen by the user: links are followed.
    ///   - name: the new name; nil for the name in the Inbox, with a number if that is taken.
    ///   - keys: those of sealed items, which are opened on their way out; nil while they are locked.
    ///   - copied: called during a copy with the bytes copied since the last call.
    /// - Throws: `LeavingError`; then the item is unchanged in the Inbox, and no part of it is elsewhere.
    package static func take(
        _ arrival: Arrival,
        inbox: String,
        to directory: String,
        name: SafeName? = nil,
        keys: FileKeys? = nil,
        copied: (Int) -> Void = { _ in }
    ) throws(LeavingError) -> Taken {
        let what = "cannot take \(arrival.stored.name)"
        let place = try self.place(arrival, inbox: inbox, what)
        let target = try open(directory, outside: inbox, what)
        let isSealed = arrival.protection.isSealed
        if isSealed, keys == nil { throw LeavingError(.locked, "\(what): it is sealed, and Waft is locked") }
        let taking = Taking(
            arrival: arrival, place: place, inbox: inbox, folder: target.folder, path: target.path, what: what,
            keys: isSealed ? keys : nil)
        let names = Names(name ?? arrival.stored.name, isFixed: name != nil)
        if isSealed { return try taking.copyOver(names, copied: copied) }
        do throws(SystemError) {
            if let free = try taking.move(place.name, in: place.folder.raw, names) {
                return taking.finishMove(as: free)
            }
        } catch {
            guard error.number == EXDEV else { throw LeavingError(what, error) }
            return try taking.copyOver(names, copied: copied)
        }
        throw taking.taken(names)
    }

    /// Deletes an item.
    ///
    /// - Returns: false if the item was gone already.
    package static func remove(_ arrival: Arrival, inbox: String) throws(LeavingError) -> Bool {
        let what = "cannot remove \(arrival.stored.name)"
        let place: FolderEntry
        do throws(LeavingError) {
            place = try self.place(arrival, inbox: inbox, what)
        } catch {
            if error.code == .gone { return false }
            throw error
        }
        do {
            try OwnTree.remove(place.name, in: place.folder.raw)
            fsync(place.folder.raw)
            return true
        } catch {
            throw LeavingError(.disk, "\(what): \(error)")
        }
    }

    private static func place(
        _ arrival: Arrival, inbox: String, _ what: String
    ) throws(LeavingError) -> FolderEntry {
        do throws(SystemError) {
            let place = try FolderEntry(arrival.stored.path, inbox: inbox)
            let kind = try place.status().st_mode & S_IFMT
            guard kind == (arrival.item.kind == .tree ? S_IFDIR : S_IFREG) else { throw SystemError(ENXIO) }
            return place
        } catch {
            throw LeavingError(what, error)
        }
    }

    private static func open(
        _ directory: String, outside inbox: String, _ what: String
    ) throws(LeavingError) -> (folder: OpenFolder, path: String) {
        do throws(SystemError) {
            let folder = OpenFolder(try FileDescriptor.opening(directory, O_RDONLY | O_DIRECTORY))
            let resolved = try resolve(directory)
            if let inbox = try? resolve(inbox), resolved == inbox || PathText.part(of: resolved, below: inbox) != nil {
                throw SystemError(ELOOP)
            }
            return (folder, resolved)
        } catch {
            let why =
                switch error.number {
                case ENOENT: "there is no such folder"
                case ELOOP: "that is in the Inbox; name another folder"
                default: "\(error)"
                }
            throw LeavingError(
                error.number == ENOENT ? .noDestination : .destination, "\(what) to \(directory): \(why)")
        }
    }

    private static func resolve(_ path: String) throws(SystemError) -> String {
        guard let resolved = realpath(path, nil) else { throw .last }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// The names that are tried, in order.
    fileprivate struct Names {
        let first: SafeName
        let isFixed: Bool

        init(_ first: SafeName, isFixed: Bool) {
            self.first = first
            self.isFixed = isFixed
        }

        /// - Returns: the first name that `isFree` takes; nil if all are taken.
        func find(_ isFree: (SafeName) throws(SystemError) -> Bool) throws(SystemError) -> SafeName? {
            if try isFree(first) { return first }
            if isFixed { return nil }
            for number in 1...maximumTries {
                let numbered = first.numbered(number)
                if try isFree(numbered) { return numbered }
            }
            return nil
        }
    }
}

/// One item that leaves the Inbox.
private struct Taking {
    let arrival: Arrival
    let place: FolderEntry
    /// Path of the Inbox.
    let inbox: String
    /// The target folder.
    let folder: OpenFolder
    let path: String
    let what: String
    /// Of a sealed item.
    let keys: FileKeys?

    private var isTree: Bool { arrival.item.kind == .tree }

    func taken(_ names: InboxLeaving.Names) -> LeavingError {
        LeavingError(.nameTaken, "\(what) to \(path): \(names.first) exists there already")
    }

    /// - Parameter name: the current name, in `holder`.
    func move(_ name: String, in holder: Int32, _ names: InboxLeaving.Names) throws(SystemError) -> SafeName? {
        try names.find { newName throws(SystemError) in
            do throws(SystemError) {
                try Placement.byRename.move(name, isFolder: isTree, from: holder, to: newName.text, in: folder.raw)
                return true
            } catch  where error.number == EEXIST {
                return false
            }
        }
    }

    func finishMove(as name: SafeName) -> InboxLeaving.Taken {
        var taken = InboxLeaving.Taken(path: path + (path == "/" ? "" : "/") + name.text)
        do {
            try OwnTree.normalizeModes(name.text, in: folder.raw, mask: OwnTree.umask())
        } catch {
            taken.remark = "it is still read-only: \(error)"
        }
        fsync(folder.raw)
        fsync(place.folder.raw)
        return taken
    }

    // MARK: To another file system

    func copyOver(
        _ names: InboxLeaving.Names, copied: (Int) -> Void
    ) throws(LeavingError) -> InboxLeaving.Taken {
        // A user should not wait for a copy that cannot get its name in the end.
        if names.isFixed, faccessat(folder.raw, names.first.text, F_OK, AT_SYMLINK_NOFOLLOW) == 0 {
            throw taken(names)
        }
        // Hidden, and unique to this process.
        let temporary = ".waft-taking-\(getpid())-\(arrival.number)"
        let abilities = DiskAbilities(of: folder.raw, trying: "\(temporary)-trying")
        try check(abilities, names.first)
        do throws(LeavingError) {
            try makeCopy(temporary, abilities, copied)
            let name: SafeName?
            do {
                name = try move(temporary, in: folder.raw, names)
            } catch {
                throw LeavingError("\(what) to \(path)", error)
            }
            guard let name else { throw taken(names) }
            return removeOriginal(name)
        } catch {
            try? OwnTree.remove(temporary, in: folder.raw)
            throw error
        }
    }

    /// Refuses, before the copy, what the other disk cannot hold.
    private func check(_ abilities: DiskAbilities, _ name: SafeName) throws(LeavingError) {
        if abilities.refusing.isEmpty { return }
        var needs = DiskNeeds()
        do throws(SystemError) {
            if isTree { needs = try OwnTree.needs(place.name, in: place.folder.raw, isSealed: keys != nil) }
        } catch {
            throw LeavingError(what, error)
        }
        if let refusal = abilities.refusal(of: name, needs, by: "the disk of \(path)") {
            let advice =
                abilities.refusal(ofName: name.text, by: "") == nil
                ? "take it to another disk" : "choose another --name"
            throw LeavingError(.destination, "\(what): \(refusal); \(advice)")
        }
    }

    private func makeCopy(
        _ temporary: String, _ abilities: DiskAbilities, _ copied: (Int) -> Void
    ) throws(LeavingError) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 4_096)
        defer { buffer.deallocate() }
        let inboxKeepsModes = DiskAbilities.keepsModes(inInboxAt: inbox)
        do {
            // Remove the remains of a dead process that had the same number.
            try? OwnTree.remove(temporary, in: folder.raw)
            try OwnTree.copy(
                place.name, in: place.folder.raw, as: temporary, in: folder.raw, through: buffer, keys: keys,
                keepsModes: inboxKeepsModes, copied: copied)
            let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
            let copy = FileDescriptor(owning: try systemCall { openat(folder.raw, temporary, flags) })
            copyAttributes(to: copy.raw)
            try systemCall { isTree ? CLinuxShims_syncfs(copy.raw) : fsync(copy.raw) }
        } catch let error as SealedFileError {
            throw LeavingError("cannot open \(arrival.stored.name)", error)
        } catch {
            let error = error as? SystemError ?? SystemError(EIO)
            let what = "cannot copy \(arrival.stored.name) to \(path)"
            // The same error number means that the item has gone, or that the folder refuses new files.
            if error.number == ENOENT, let refusal = refusal(of: temporary) {
                throw LeavingError(.destination, "\(what): nothing can be put there (\(refusal))")
            }
            throw LeavingError(what, error)
        }
        try compare(temporary, keepsModes: !isTree || abilities.keepsModes && inboxKeepsModes)
    }

    /// - Returns: the reason why this name cannot be created in the folder; nil if it can.
    private func refusal(of name: String) -> SystemError? {
        try? OwnTree.remove(name, in: folder.raw)
        do throws(SystemError) {
            try systemCall { mkdirat(folder.raw, name, 0o700) }
            return nil
        } catch {
            return error
        }
    }

    private func copyAttributes(to copy: Int32) {
        let attributes = Provenance.all.compactMap { name in
            ExtendedAttributes.read(name, of: place.path).map { (name: name, value: $0) }
        }
        ExtendedAttributes.set(attributes, on: copy)
    }

    /// Reads the copy back from the disk and compares it with the arrival. If they differ because an open item in the Inbox
    /// was edited, compares it with that item.
    private func compare(_ temporary: String, keepsModes: Bool) throws(LeavingError) {
        do {
            if let keys {
                let isThis = try ArrivedContents.areIn(
                    temporary, in: folder.raw, arrival, at: place, keys, inbox: inbox, keepsModes: keepsModes,
                    fromDisk: true)
                if isThis { return }
                throw SealedFileError.damaged("\(ArrivedContents.reason), or the target disk is bad")
            }
            let algorithm = arrival.digest.algorithm
            let copy = try StoredDigest.read(
                temporary, in: folder.raw, isTree: isTree, algorithm: algorithm, ignoringModes: !keepsModes,
                fromDisk: true)
            if copy.digest == arrival.digest { return }
            let original = try StoredDigest.read(
                place.name, in: place.folder.raw, isTree: isTree, algorithm: algorithm, ignoringModes: !keepsModes)
            if copy == original { return }
        } catch let error as SealedFileError {
            throw LeavingError("\(what) to \(path)", error)
        } catch {
            throw LeavingError(.mismatch, "\(what) to \(path): the copy cannot be compared: \(error)")
        }
        throw LeavingError(
            .mismatch, "\(what) to \(path): the copy differs from the item in the Inbox; check the target disk")
    }

    private func removeOriginal(_ name: SafeName) -> InboxLeaving.Taken {
        var taken = InboxLeaving.Taken(path: path + (path == "/" ? "" : "/") + name.text)
        do throws(SystemError) {
            try folder.syncNames()
        } catch {
            taken.remark = "it was copied, and stays in the Inbox: the target disk may not keep the copy: \(error)"
            taken.hasLeft = false
            return taken
        }
        do {
            try OwnTree.remove(place.name, in: place.folder.raw)
            fsync(place.folder.raw)
        } catch {
            taken.remark = "it was copied, and cannot be removed from the Inbox: \(error)"
            taken.hasLeft = false
        }
        return taken
    }
}
