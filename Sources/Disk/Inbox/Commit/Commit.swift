import Glibc
import Sharing
import SystemCalls

/// Moves a batch of whole items into the Inbox. After a crash at any point each item is there whole or not at all. An
/// item that was reported as stored survives every crash.
///
/// The order of the steps guarantees this:
/// 1. *Take*: from here on the items are not written any more. Modes and times were set when their files ended.
/// 2. *Sync contents*: bytes, modes and times, and the names inside trees, are on the disk before anything can be seen.
///    A rename that came first could survive a crash that the bytes do not.
/// 3. *Announce*: the caller records in its journal the items and their identities on the file system. If the process
///    dies before the next step ends, it finds the items again by these identities.
/// 4. *Rename* into the Inbox, or into the folder below it that the user's rules name, never replacing anything: the
///    item appears, whole.
/// 5. *Sync the Inbox folder*, and those folders, once for the batch: now the names are on the disk too. Only after
///    this are items stored. If it fails, the items are taken back: an item that is not stored is not in the Inbox.
struct Commit {
    /// Maximum numbers tried for a taken name. Inboxes need far fewer: past trials of a name are remembered.
    static let maximumTries = 65_536

    let staging: StagingFolder
    let placement: Placement
    let conflict: ConflictRule
    /// Whether a name counts as taken by a sealed item as well, and the reverse.
    let knowsSealed: Bool
    /// The items of the batch, in order; for an item that was given up, its fault.
    var items: [Result<Item, TransferError>]

    struct Item {
        var staged: StagedFiles
        var name: SafeName
        /// Below the Inbox; nil for the Inbox itself.
        var folder: SafeRelativePath?
        /// See `ItemToCommit`.
        var replacing: String?
    }

    /// - Parameters:
    ///   - inbox: opens the Inbox folder.
    ///   - path: absolute path of the Inbox.
    ///   - lastNumber: the last number tried for a name in this process.
    ///   - remember: keeps such a number; after 0 the numbers start at 1 again.
    ///   - announcing: as in `InboxStoring.commit`.
    /// - Returns: the result for each item, in order. All items are used up.
    mutating func run(
        into inbox: () throws(TransferError) -> OpenFolder,
        at path: String,
        lastNumber: (LastNumbers.EntryName) -> Int,
        remember: (Int, LastNumbers.EntryName) -> Void,
        announcing: ([FileIdentity?]) throws(TransferError) -> Void
    ) -> [Result<StoredItem, TransferError>] {
        let contents = take()
        syncContents(contents)
        var folders: InboxFolders
        do {
            folders = InboxFolders(of: try inbox(), at: path, opening: staging.opening)
            openFolders(&folders)
            try announcing(identities())
        } catch {
            return items.map { item in
                if case .success(let item) = item { item.staged.keep() }
                return item.flatMap { _ in .failure(error) }
            }
        }
        var stored: [Result<StoredItem, TransferError>] = []
        stored.reserveCapacity(items.count)
        for item in items {
            stored.append(
                item.flatMap { item in
                    Result { () throws(TransferError) in
                        let folder = try folders.open(item.folder)
                        let name = try place(item, in: folder, lastNumber, remember)
                        let onDisk = try nameOnDisk(name, item.staged)
                        return StoredItem(name: name, path: folders.path(of: item.folder) + "/" + onDisk)
                    }
                })
        }
        return zip(items, stored).map { item, stored in
            guard case .success(let item) = item, case .success(let place) = stored else { return stored }
            let synced = folders.sync(item.folder)
            if case .failure = synced, let folder = try? folders.open(item.folder), takeBack(item, place, from: folder)
            {
                item.staged.keep()
            } else {
                item.staged.moved()
            }
            return synced.map { place }
        }
    }

    /// - Returns: whether the item is in staging again. One that has replaced another stays.
    private func takeBack(_ item: Item, _ place: StoredItem, from folder: OpenFolder) -> Bool {
        // By bytes: a name may begin with a sign that combines with the slash.
        guard item.replacing == nil, let name = place.path.utf8.split(separator: UInt8(ascii: "/")).last else {
            return false
        }
        return renameat(folder.raw, String(decoding: name, as: UTF8.self), staging.folder.raw, item.staged.name) == 0
    }

    /// Runs before the announcement: an item that cannot be stored in its folder is not announced.
    private mutating func openFolders(_ folders: inout InboxFolders) {
        for (index, item) in items.enumerated() {
            guard case .success(let item) = item, item.folder != nil else { continue }
            do {
                _ = try folders.open(item.folder)
            } catch {
                giveUp(index, error)
            }
        }
    }

    // MARK: 1. Take

    private mutating func take() -> [StagedFiles.Contents?] {
        var contents: [StagedFiles.Contents?] = []
        for (index, item) in items.enumerated() {
            guard case .success(let item) = item else {
                contents.append(nil)
                continue
            }
            do {
                contents.append(try item.staged.take())
            } catch {
                contents.append(nil)
                // The batch has the same item twice: the first one is good.
                if item.staged.isTaken { items[index] = .failure(error) } else { giveUp(index, error) }
            }
        }
        return contents
    }

    /// Ends one item; the others go on.
    private mutating func giveUp(_ index: Int, _ fault: TransferError) {
        if case .success(let item) = items[index] { item.staged.discard() }
        items[index] = .failure(fault)
    }

    // MARK: 2. Sync contents

    private mutating func syncContents(_ contents: [StagedFiles.Contents?]) {
        let count = contents.reduce(0) { $0 + ($1?.entryCount ?? 0) }
        if count == 0 { return }
        // A few files are synced one by one: this does not sync the data of other programs. For many files each sync
        // would wait for the disk, and one sync of the whole file system is far cheaper.
        if count > StagedFiles.rememberedPlaces {
            if staging.wholeSync.syncs(since: items.compactMap { try? $0.get().staged.syncMark }) { return }
            // Another program's file may have caused the fault: check which of our items are whole.
        }
        for (index, contents) in contents.enumerated() {
            guard let contents, case .success(let item) = items[index] else { continue }
            do {
                try sync(item.staged, contents)
            } catch {
                giveUp(index, .disk("cannot sync", item.name.text, error, on: staging.folder.raw))
            }
        }
    }

    private func sync(_ staged: StagedFiles, _ contents: StagedFiles.Contents) throws(SystemError) {
        guard let places = contents.places else { return try syncTree(staged.name) }
        for place in places { try syncOne("\(staged.name)/\(place)") }
        try syncOne(staged.name)
    }

    private func syncOne(_ path: String) throws(SystemError) {
        let file = try staging.opening.open(path, below: staging.folder.raw, flags: O_RDONLY | O_NONBLOCK)
        try Self.sync(file.raw)
    }

    private static func sync(_ file: Int32) throws(SystemError) {
        do {
            try systemCall { fsync(file) }
        } catch  where error.number == EINVAL {
            // Some file systems cannot sync folders.
        }
    }

    /// Syncs a tree of any size, one entry at a time; used only after a sync of the whole file system has failed.
    private func syncTree(_ root: String) throws(SystemError) {
        var folders = [root]
        while let folder = folders.popLast() {
            let open = try staging.opening.open(folder, below: staging.folder.raw, flags: O_RDONLY | O_DIRECTORY)
            var contents = try FolderContents.make(of: open.raw)
            while let name = try contents.next() {
                let raw = openat(open.raw, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
                // A link is synced with its folder.
                if raw < 0, errno == ELOOP { continue }
                guard raw >= 0 else { throw .last }
                let entry = FileDescriptor(owning: raw)
                var status = stat()
                try systemCall { fstat(entry.raw, &status) }
                if status.st_mode & S_IFMT == S_IFDIR {
                    folders.append(folder + "/" + String(cString: name))
                } else {
                    try Self.sync(entry.raw)
                }
            }
            try Self.sync(open.raw)
        }
    }

    // MARK: 3. Announce

    private mutating func identities() -> [FileIdentity?] {
        var identities: [FileIdentity?] = []
        for (index, item) in items.enumerated() {
            guard case .success(let item) = item else {
                identities.append(nil)
                continue
            }
            do {
                identities.append(try FileIdentity.of(item.staged.name, in: staging.folder.raw))
            } catch {
                giveUp(index, .disk("cannot look at", item.name.text, error, on: staging.folder.raw))
                identities.append(nil)
            }
        }
        return identities
    }

    // MARK: 4. Rename

    private func place(
        _ item: Item,
        in folder: OpenFolder,
        _ lastNumber: (LastNumbers.EntryName) -> Int,
        _ remember: (Int, LastNumbers.EntryName) -> Void
    ) throws(TransferError) -> SafeName {
        let staged = item.staged
        let isSealedFile = staged.sealing != nil && !staged.isTree
        let room = isSealedFile ? SealedName.maximumBytes : SafeName.maximumBytes
        // The ending of a sealed file needs room. An item that is sealed later keeps its name.
        let name = item.replacing == nil ? item.name.shortened(to: room) : item.name
        let place = LastNumbers.EntryName(folder: item.folder, name: name)
        do throws(SystemError) {
            // A handler may have just removed the mark. A received file must not take its place.
            let isMark = item.folder == nil && name.text == InboxMark.name
            if !isMark, try move(item, to: name, in: folder) {
                remember(0, place)
                return name
            }
            if conflict == .skip { throw SystemError(EEXIST) }
            let last = lastNumber(place)
            for number in (last + 1)...(last + Self.maximumTries) {
                let numbered = name.numbered(number, within: room)
                guard try move(item, to: numbered, in: folder) else { continue }
                remember(number, place)
                return numbered
            }
        } catch {
            if error.number == EEXIST {
                staged.discard()
                throw TransferError(.unsafeName, "cannot store \(name): \(ConflictRule.taken)")
            }
            let fault = TransferError.placing(name.text, error, in: staging)
            if fault.isResumable { staged.keep() } else { staged.discard() }
            throw fault
        }
        staged.discard()
        throw TransferError(.storage, "cannot store \(name): the Inbox holds too many of that name; move some out")
    }

    /// The name of a sealed file shows that it is sealed.
    private func nameOnDisk(_ name: SafeName, _ staged: StagedFiles) throws(TransferError) -> String {
        staged.sealing != nil && !staged.isTree ? try SealedName.onDisk(name.text) : name.text
    }

    /// - Returns: whether the item was moved; false if the name is taken, by a sealed item or by one that is not.
    private func move(_ item: Item, to name: SafeName, in folder: OpenFolder) throws(SystemError) -> Bool {
        let staged = item.staged
        guard let onDisk = try? nameOnDisk(name, staged) else { throw SystemError(ENAMETOOLONG) }
        if onDisk == item.replacing {
            if staged.isTree {
                // A folder does not replace another one: the older form is in staging then, and the caller removes it.
                guard try placement.exchange(staged.name, in: staging.folder.raw, with: onDisk, in: folder.raw) else {
                    return false
                }
            } else {
                try systemCall { renameat(staging.folder.raw, staged.name, folder.raw, onDisk) }
            }
            return true
        }
        if knowsSealed {
            var status = stat()
            let other = onDisk == name.text ? name.text + SealedName.ending : name.text
            if other != item.replacing, fstatat(folder.raw, other, &status, AT_SYMLINK_NOFOLLOW) == 0 { return false }
        }
        do {
            try placement.move(
                staged.name,
                isFolder: staged.isTree,
                from: staging.folder.raw,
                to: onDisk,
                in: folder.raw
            )
            return true
        } catch  where error.number == EEXIST {
            return false
        }
    }
}
