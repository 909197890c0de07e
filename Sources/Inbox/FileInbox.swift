package import ContentCheck
import Glibc
package import Sharing
import Synchronization
import SystemCalls

/// The Inbox on the disk: a folder into which whole items are moved, and nothing else is ever written.
///
/// One receiver has an Inbox for itself, as long as this object or an item that it staged lives.
package final class FileInbox: InboxStoring {
    /// Where it lies: absolute.
    package let path: String

    private let reserve: DiskReserve
    private let conflict: ConflictRule
    private let placement: Placement
    private let state: Mutex<State>

    /// The staging folder of what comes now. What was begun in an earlier one stays there.
    var staging: StagingFolder { state.withLock { $0.staging } }

    private struct State {
        var inbox: OpenFolder
        var staging: StagingFolder
        var numbers = LastNumbers()
        var checker: ContentChecker?
    }

    /// Opens an Inbox, and makes it and the folders above it (for this user only) where they are missing. What an
    /// earlier receiver left half-written is kept within bounds, or removed.
    ///
    /// - Parameters:
    ///   - path: the Inbox folder; relative to the working directory where it is not absolute.
    ///   - reserve: what of the disk is never offered to senders, nor used up by what they did not announce.
    ///   - conflict: what becomes of an item whose name is taken.
    ///   - checker: looks into files before they are moved in; nil where that is not wanted.
    ///   - partials: bounds of what is kept of items that do not come whole.
    /// - Throws: `InboxError`, also when another receiver has this Inbox.
    package convenience init(
        path: String,
        reserve: DiskReserve = .standard,
        conflict: ConflictRule = .keepBoth,
        checker: ContentChecker? = nil,
        partials: PartialBounds = .standard
    ) throws(InboxError) {
        try self.init(
            path: path, reserve: reserve, conflict: conflict, checker: checker, partials: partials, opening: .inOneCall,
            placement: .byRename)
    }

    init(
        path: String,
        reserve: DiskReserve,
        conflict: ConflictRule = .keepBoth,
        checker: ContentChecker? = nil,
        partials: PartialBounds = .standard,
        time: KeptTime = .system,
        opening: BeneathOpening,
        placement: Placement
    ) throws(InboxError) {
        let path = try Self.absolute(path)
        let inbox: OpenFolder
        do {
            inbox = try Self.openFolder(path)
        } catch {
            throw .unusable(
                "cannot use the Inbox",
                path,
                "\(error)",
                advice: "set another Inbox, or make it a folder in which this user may write"
            )
        }
        self.path = path
        self.reserve = reserve
        self.conflict = conflict
        self.placement = placement
        // Whoever made it may have died before its name was on the disk.
        FolderMaking.syncParent(of: inbox)
        let staging = try StagingFolder.open(
            ofInbox: inbox, at: path, opening: opening, reserve: reserve, bounds: partials, time: time)
        self.state = Mutex(State(inbox: inbox, staging: staging, checker: checker))
    }

    /// Looks into files that come from now on with another checker: the types that handlers declare have changed.
    package func use(_ checker: ContentChecker) {
        state.withLock { $0.checker = checker }
    }

    package func freeRoom() throws(TransferFault) -> UInt64 {
        let inbox = try currentInbox()
        do throws(SystemError) {
            if faccessat(inbox.raw, ".", W_OK | X_OK, AT_EACCESS) != 0, errno == EACCES || errno == EROFS {
                throw .last
            }
            let staging = try currentStaging(of: inbox)
            return try DiskRoom.free(
                onFileSystemOf: inbox.raw, keeping: reserve, removable: staging.partials.removableBytes)
        } catch {
            throw .unreachable(error)
        }
    }

    /// Whether something of that name lies in a folder below the Inbox, or in the Inbox itself.
    package func holds(_ name: SafeName, in folder: SafeRelativePath?) -> Bool {
        guard let inbox = try? currentInbox() else { return false }
        var status = stat()
        guard let folder else { return fstatat(inbox.raw, name.text, &status, AT_SYMLINK_NOFOLLOW) == 0 }
        let flags = O_RDONLY | O_DIRECTORY
        guard let open = try? staging.opening.open(folder.text, below: inbox.raw, flags: flags) else { return false }
        return fstatat(open.raw, name.text, &status, AT_SYMLINK_NOFOLLOW) == 0
    }

    package func stage(
        transfer: TransferID, item: Int, isTree: Bool, partial: PartialKey?
    ) throws(TransferFault) -> any StagedItem {
        let checker = state.withLock { $0.checker }
        if let partial {
            let name = Partials.name(of: partial)
            let isThere = staging.partials.take(name)
            let held = isThere == nil ? 0 : staging.partials.bytes(of: name)
            staging.makeRoom(for: partial.size - min(partial.size, held))
            if let isThere {
                return try StagedFiles(
                    in: staging, name: name, isTree: isTree, isKeyed: true, isKept: isThere, checker: checker)
            }
        }
        // Numbered besides: the transfer's number is the sender's word, and two senders may say the same.
        return try StagedFiles(
            in: staging, name: staging.freshName("\(transfer).\(item)"), isTree: isTree, checker: checker)
    }

    package func commit(
        _ items: [ItemToCommit],
        announcing: ([FileIdentity?]) throws(TransferFault) -> Void
    ) -> [Result<StoredItem, TransferFault>] {
        let staging = staging
        var batch = Commit(
            staging: staging,
            placement: placement,
            conflict: conflict,
            items: items.map { item in
                guard let staged = item.staged as? StagedFiles, staged.staging === staging else {
                    return .failure(TransferFault(.unexpected, "cannot store \(item.name): it was staged elsewhere"))
                }
                return .success(Commit.Item(staged: staged, name: item.name, folder: item.folder))
            }
        )
        return batch.run(
            into: { () throws(TransferFault) in try self.currentInbox() },
            at: path,
            lastNumber: { place in self.state.withLock { $0.numbers[place] } },
            remember: { number, place in self.state.withLock { $0.numbers.remember(number, for: place) } },
            announcing: announcing
        )
    }

    /// The Inbox as it lies at its path now: people move and remove folders while we run.
    func currentInbox() throws(TransferFault) -> OpenFolder {
        let known = state.withLock { $0.inbox }
        var statuses = (stat(), stat())
        if fstat(known.raw, &statuses.0) == 0, stat(path, &statuses.1) == 0,
            statuses.0.st_dev == statuses.1.st_dev, statuses.0.st_ino == statuses.1.st_ino
        {
            return known
        }
        do {
            let inbox = try Self.openFolder(path)
            state.withLock { $0.inbox = inbox }
            return inbox
        } catch {
            throw .unreachable(error)
        }
    }

    /// The staging folder from which what is written comes into the Inbox by a rename: another one than before where the
    /// Inbox's disk has been mounted anew, or the folder removed.
    ///
    /// On another disk nothing is made: where the Inbox's is not mounted now, the folder on which it would be is no Inbox.
    /// - Throws: `EXDEV` where there is none; `EBUSY` where an item that was begun before keeps another from being opened.
    private func currentStaging(of inbox: OpenFolder) throws(SystemError) -> StagingFolder {
        try state.withLock { state throws(SystemError) in
            let mayMake = try state.staging.isOnFileSystem(of: inbox)
            if mayMake, try state.staging.serves(inbox) { return state.staging }
            do throws(InboxError) {
                state.staging = try state.staging.again(ofInbox: inbox, at: path, mayMake: mayMake)
            } catch {
                throw SystemError(error.isInUse ? EBUSY : EXDEV)
            }
            return state.staging
        }
    }

    /// Opens a folder of the user's, following links, and makes it where it is missing.
    private static func openFolder(_ path: String) throws(SystemError) -> OpenFolder {
        let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC
        let raw: Int32
        do {
            raw = try systemCall { Glibc.open(path, flags) }
        } catch  where error.number == ENOENT {
            try FolderMaking.make(path)
            raw = try systemCall { Glibc.open(path, flags) }
        }
        let folder = OpenFolder(FileDescriptor(owning: raw))
        // Anything but a no is no answer (some containers forbid the call), and is found out when something arrives.
        if faccessat(folder.raw, ".", W_OK | X_OK, AT_EACCESS) != 0, errno == EACCES || errno == EROFS { throw .last }
        return folder
    }

    private static func absolute(_ path: String) throws(InboxError) -> String {
        if path.utf8.isEmpty {
            throw .unusable("cannot use the Inbox", "\"\"", "its path is empty", advice: "set a path")
        }
        if path.utf8.first == UInt8(ascii: "/") { return path }
        guard let folder = getcwd(nil, 0) else {
            let error = SystemError.last
            throw .unusable("cannot use the Inbox", path, "\(error)", advice: "start again from a folder that is there")
        }
        defer { free(folder) }
        return String(cString: folder) + "/" + path
    }
}
