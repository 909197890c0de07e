package import ContentCheck
import Glibc
package import Sharing
import Synchronization
import SystemCalls

/// The Inbox on the disk: a folder into which whole items are moved. Nothing else is ever written there.
///
/// A receiver has its Inbox exclusively while this object or an item that it staged is alive.
package final class FileInbox: InboxStoring {
    /// Absolute path of the Inbox.
    package let path: String

    private let rules: CurrentRules
    private let placement: Placement
    private let state: Mutex<State>

    let opening: BeneathOpening
    private let time: KeptTime
    /// The keys of sealed items.
    package let keys: ItemKeys
    /// Nil accepts any folder at the path as the Inbox.
    private let recognition: InboxRecognition?

    /// The current staging folder; nil while another Inbox is at the path. Items begun in an earlier staging folder
    /// stay in it.
    var staging: StagingFolder? { state.withLock { $0.staging } }

    private struct State {
        var inbox: OpenFolder?
        var staging: StagingFolder?
        var numbers = LastNumbers()
        var checker: ContentChecker?
    }

    /// Opens an Inbox. Creates it and the folders above it, for this user only, if they are missing. Items that an
    /// earlier receiver left half-written are kept within bounds, or removed.
    ///
    /// - Parameters:
    ///   - path: the Inbox folder; absolute, or relative to the working directory.
    ///   - reserve: the part of the disk that is neither offered to senders nor used by unannounced contents.
    ///   - conflict: the rule for an item whose name is taken.
    ///   - checker: checks the contents of files before they are moved in; nil for no check.
    ///   - partials: bounds for the kept parts of interrupted items.
    ///   - memory: remembers the Inbox, to recognise it (`InboxRecognition`). While another folder is at the path,
    ///     nothing is created or stored there and every call fails, until the Inbox is back or `adopt` is called. Nil
    ///     accepts any folder as the Inbox.
    ///   - keys: those of sealed items.
    /// - Throws: `InboxError`, also when another receiver has this Inbox.
    package convenience init(
        path: String,
        reserve: DiskReserve = .standard,
        conflict: ConflictRule = .keepBoth,
        checker: ContentChecker? = nil,
        partials: PartialBounds = .standard,
        memory: (any InboxMemory)? = nil,
        keys: ItemKeys = ItemKeys(nil)
    ) throws(InboxError) {
        try self.init(
            path: path, reserve: reserve, conflict: conflict, checker: checker, partials: partials, memory: memory,
            keys: keys, opening: .inOneCall, placement: .byRename)
    }

    init(
        path: String,
        reserve: DiskReserve,
        conflict: ConflictRule = .keepBoth,
        checker: ContentChecker? = nil,
        partials: PartialBounds = .standard,
        memory: (any InboxMemory)? = nil,
        keys: ItemKeys = ItemKeys(nil),
        time: KeptTime = .system,
        opening: BeneathOpening,
        placement: Placement
    ) throws(InboxError) {
        let path = try Self.absolute(path)
        self.path = path
        self.keys = keys
        let rules = CurrentRules(InboxRules(reserve: reserve, conflict: conflict, partials: partials))
        self.rules = rules
        self.placement = placement
        self.opening = opening
        self.time = time
        let found: OpenFolder?
        do {
            recognition = try memory.map { memory throws(JournalError) in try InboxRecognition(at: path, memory) }
            found = try Self.recognized(path, recognition)
        } catch {
            throw .unusable(
                "cannot use the Inbox", path, "\(error)",
                advice: "set another Inbox, or make it a folder in which this user may write")
        }
        guard let inbox = found else {
            state = Mutex(State(inbox: nil, staging: nil, checker: checker))
            return
        }
        // The process that created the folder may have died before its name was on the disk.
        FolderMaking.syncParent(of: inbox)
        let staging = try StagingFolder.open(
            ofInbox: inbox, at: path, opening: opening, reserve: rules.now.reserve, bounds: rules.now.partials,
            time: time)
        self.state = Mutex(State(inbox: inbox, staging: staging, checker: checker))
    }

    /// Makes the folder at the path the Inbox; creates it if it does not exist.
    ///
    /// - Throws: `storage` if the mark cannot be written or the memory cannot be updated.
    package func adopt() throws(TransferError) { try recognition?.adopt(try Self.opened(path)) }

    /// Does the same while no receiver runs.
    package static func adopt(_ path: String, memory: any InboxMemory) throws(TransferError) {
        let recognition: InboxRecognition
        do {
            recognition = try InboxRecognition(at: path, memory)
        } catch {
            throw TransferError(.storage, error.description)
        }
        try recognition.adopt(try opened(path))
    }

    private static func opened(_ path: String) throws(TransferError) -> OpenFolder {
        do {
            return try openFolder(path, mayMake: true).folder
        } catch {
            throw .unreachable(error)
        }
    }

    /// Uses other rules for all that comes.
    package func use(_ rules: InboxRules) { self.rules.now = rules }

    /// Checks later files with another checker: the types that handlers declare have changed.
    package func use(_ checker: ContentChecker) {
        state.withLock { $0.checker = checker }
    }

    package func freeRoom() throws(TransferError) -> UInt64 {
        let inbox = try currentInbox()
        do throws(SystemError) {
            if faccessat(inbox.raw, ".", W_OK | X_OK, AT_EACCESS) != 0, errno == EACCES || errno == EROFS {
                throw .last
            }
            let staging = try currentStaging(of: inbox)
            try DiskRoom.probe(in: staging.folder.raw, name: staging.freshName("probe"))
            return try DiskRoom.free(
                onFileSystemOf: inbox.raw, keeping: rules.now.reserve, removable: staging.partials.removable.bytes)
        } catch {
            throw .unreachable(error)
        }
    }

    package func freeEntries() throws(TransferError) -> UInt64 {
        let inbox = try currentInbox()
        do throws(SystemError) {
            return try DiskRoom.freeEntries(
                onFileSystemOf: inbox.raw, keeping: rules.now.reserve,
                removable: staging?.partials.removable.entries ?? 0)
        } catch {
            throw .unreachable(error)
        }
    }

    package func refusal(of item: OfferedItem, isSealed: Bool) -> String? {
        let abilities = staging?.abilities ?? DiskAbilities()
        let refusal = abilities.refusal(
            of: item.name, item.needs ?? DiskNeeds(), isSealed: isSealed, by: DiskAbilities.inboxDisk)
        let isNamed = abilities.refusal(ofName: item.name.text, by: DiskAbilities.inboxDisk) != nil
        return refusal.map { reason in
            reason + (isNamed ? "; rename it" : "; send it as an archive (zip, tar), or leave such entries out")
        }
    }

    /// Whether a folder below the Inbox, or the Inbox itself, holds an entry of that name, sealed or not.
    package func holds(_ name: SafeName, in folder: SafeRelativePath?) -> Bool {
        guard let inbox = try? currentInbox() else { return false }
        let knowsSealed = keys.areThere
        func isThere(_ folder: Int32) -> Bool {
            var status = stat()
            let names = knowsSealed ? [name.text, name.text + SealedName.ending] : [name.text]
            return names.contains { name in fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 }
        }
        guard let folder else { return isThere(inbox.raw) }
        let flags = O_RDONLY | O_DIRECTORY
        guard let open = try? opening.open(folder.text, below: inbox.raw, flags: flags) else { return false }
        return isThere(open.raw)
    }

    package func stage(
        transfer: TransferID, item: Int, isTree: Bool, partial: PartialKey?, protection: ProtectionClass
    ) throws(TransferError) -> any StagedItem {
        let checker = state.withLock { $0.checker }
        guard let staging else { throw .anotherInbox }
        let sealing = try keys.sealing(protection, staging.keptSealers)
        try sealing?.check()
        if let partial {
            let name = Partials.name(of: partial)
            let isThere = staging.partials.take(name)
            let held = isThere == nil ? 0 : staging.partials.bytes(of: name)
            staging.makeRoom(for: partial.size - min(partial.size, held))
            if let isThere {
                return try StagedFiles(
                    in: staging, name: name, isTree: isTree, isKeyed: true, isKept: isThere, checker: checker,
                    sealing: sealing)
            }
        }
        // A number is added: the sender chooses the transfer's id, and two senders may choose the same one.
        return try StagedFiles(
            in: staging, name: staging.freshName("\(transfer).\(item)"), isTree: isTree, checker: checker,
            sealing: sealing)
    }

    package func commit(
        _ items: [ItemToCommit],
        announcing: ([FileIdentity?]) throws(TransferError) -> Void
    ) -> [Result<StoredItem, TransferError>] {
        guard let staging else { return items.map { _ in .failure(.anotherInbox) } }
        var batch = Commit(
            staging: staging,
            placement: placement,
            conflict: rules.now.conflict,
            knowsSealed: keys.areThere,
            items: items.map { item in
                guard let staged = item.staged as? StagedFiles, staged.staging === staging else {
                    return .failure(TransferError(.unexpected, "cannot store \(item.name): it was staged elsewhere"))
                }
                return .success(
                    Commit.Item(staged: staged, name: item.name, folder: item.folder, replacing: item.replacing))
            }
        )
        return batch.run(
            into: { () throws(TransferError) in try self.currentInbox() },
            at: path,
            lastNumber: { place in self.state.withLock { $0.numbers[place] } },
            remember: { number, place in self.state.withLock { $0.numbers.remember(number, for: place) } },
            announcing: announcing
        )
    }

    /// Whether the known Inbox is at the path. Only then does a missing item mean that it was removed from the Inbox.
    package var isThere: Bool { (try? currentInbox()) != nil }

    /// The Inbox at its path now: users move and remove folders at any time, and disks are mounted and unmounted.
    func currentInbox() throws(TransferError) -> OpenFolder {
        var statuses = (stat(), stat())
        if let known = state.withLock({ $0.inbox }), fstat(known.raw, &statuses.0) == 0, stat(path, &statuses.1) == 0,
            statuses.0.st_dev == statuses.1.st_dev, statuses.0.st_ino == statuses.1.st_ino
        {
            try recognition?.check(known, isNew: false)
            return known
        }
        let found: OpenFolder?
        do {
            found = try Self.recognized(path, recognition)
        } catch let fault as TransferError {
            throw fault
        } catch {
            throw .unreachable(error as? SystemError ?? SystemError(EIO))
        }
        guard let found else { throw .anotherInbox }
        state.withLock { $0.inbox = found }
        return found
    }

    /// Opens the folder at the path; creates it if `InboxRecognition` allows it.
    ///
    /// - Returns: nil if the folder is not the known Inbox.
    /// - Throws: `SystemError`, or a `TransferError` if the folder cannot be marked.
    private static func recognized(_ path: String, _ recognition: InboxRecognition?) throws -> OpenFolder? {
        let mayMake = recognition?.mayMake ?? true
        do {
            let opened = try openFolder(path, mayMake: mayMake)
            try recognition?.check(opened.folder, isNew: opened.isNew)
            return opened.folder
        } catch let error as SystemError where error.number == ENOENT && !mayMake {
            return nil
        } catch let fault as TransferError where fault == .anotherInbox {
            return nil
        }
    }

    /// The staging folder from which items are renamed into the Inbox. It is a new one if the Inbox's disk has been
    /// mounted again or the folder was removed.
    ///
    /// On another disk a staging folder is created only if the Inbox there was recognized. Otherwise the folder may be
    /// the empty mount point of the Inbox's disk.
    /// - Throws: `EXDEV` if there is none; `EBUSY` if an item that was begun earlier prevents opening another.
    private func currentStaging(of inbox: OpenFolder) throws(SystemError) -> StagingFolder {
        try state.withLock { state throws(SystemError) in
            var mayMake = true
            if let staging = state.staging {
                let isSameDisk = try staging.isOnFileSystem(of: inbox)
                if isSameDisk, try staging.serves(inbox) { return staging }
                mayMake = isSameDisk || recognition != nil
            }
            do throws(InboxError) {
                let rules = rules
                let staging = try StagingFolder.open(
                    ofInbox: inbox, at: path, opening: opening, reserve: rules.now.reserve,
                    bounds: rules.now.partials, time: time, mayMake: mayMake)
                state.staging = staging
                return staging
            } catch {
                throw SystemError(error.isInUse ? EBUSY : EXDEV)
            }
        }
    }

    /// Opens a folder of the user, following links. Creates a missing folder if `mayMake` is true.
    private static func openFolder(
        _ path: String, mayMake: Bool
    ) throws(SystemError) -> (folder: OpenFolder, isNew: Bool) {
        let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC
        let raw: Int32
        var isNew = false
        do {
            raw = try systemCall { Glibc.open(path, flags) }
        } catch  where error.number == ENOENT && mayMake {
            try FolderMaking.make(path)
            isNew = true
            raw = try systemCall { Glibc.open(path, flags) }
        }
        let folder = OpenFolder(FileDescriptor(owning: raw))
        // Only these two errors count (some containers forbid the call); other problems show when something arrives.
        if faccessat(folder.raw, ".", W_OK | X_OK, AT_EACCESS) != 0, errno == EACCES || errno == EROFS { throw .last }
        return (folder, isNew)
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
