import Age
import ContentCheck
import Digests
import Glibc
import Secrets
import Sharing
import Synchronization
import SystemCalls

/// One item in the staging folder: a file, or a folder with contents.
///
/// It keeps open only the file that is being written or checked, the folder of the last write and at most
/// `WriteBehindQueue.maximumFiles` small files. So thousands of small files in a few folders need no path lookup each, and
/// thousands of items no descriptor each.
final class StagedFiles: StagedItem {
    /// Maximum number of entries whose places are remembered. With more, the whole file system is synced if it can be.
    static let rememberedPlaces = 16
    /// Files of at least this size, in bytes, have their room reserved before they are written: less work for the file
    /// system than growing, and no surprise at the end. For smaller ones the call would cost more than it saves.
    static let preallocationThreshold: UInt64 = 1 << 20
    /// Bytes between two checks of the free room.
    static let lookStep = 1 << 20

    let staging: StagingFolder
    let isTree: Bool
    /// Checks received contents; nil for no check.
    let checker: ContentChecker?
    /// Nil for an item that is not sealed.
    let sealing: ItemSealing?
    /// Its name in the staging folder.
    let name: String
    /// Whether its name can be found again: `staging.partials` has it in use while this item is written.
    let isKeyed: Bool
    /// Whether contents of an earlier attempt exist.
    let isKept: Bool
    /// Taken before its first byte was written.
    let syncMark: Int
    let state: Mutex<State>
    /// Its small files that are not on the disk yet.
    let behind: WriteBehindQueue

    /// - Parameters:
    ///   - name: a fresh one, or with `isKeyed` one taken in `staging.partials`; this object gives it back.
    ///   - isKept: whether an entry of this name exists.
    /// - Throws: `noRoom`, `storage` if the folder of a tree cannot be created.
    init(
        in staging: StagingFolder,
        name: String,
        isTree: Bool,
        isKeyed: Bool = false,
        isKept: Bool = false,
        checker: ContentChecker? = nil,
        sealing: ItemSealing? = nil
    ) throws(TransferError) {
        self.staging = staging
        self.name = name
        self.isTree = isTree
        self.isKeyed = isKeyed
        self.checker = checker
        self.sealing = sealing
        self.syncMark = staging.wholeSync.mark
        self.behind = WriteBehindQueue { staging.partials.removeOldest() }
        let isKept = isKept && Self.isThere(name, isTree: isTree, in: staging)
        self.isKept = isKept
        self.state = Mutex(State(came: isTree && isKept ? [] : nil))
        if sealing != nil, isTree {
            state.withLock { state in
                // Its files have other names on the disk.
                state.places = nil
                if !isKept { state.sealedListing = SealedListing() }
            }
        }
        guard isTree, !isKept else { return }
        do {
            try systemCall { mkdirat(staging.folder.raw, name, 0o755) }
        } catch {
            // Done here: if an initializer throws, `deinit` may not run.
            state.withLock { $0.phase = .gone }
            if isKeyed { staging.partials.forget(name) }
            throw .disk("cannot make the staging folder", name, error, on: staging.folder.raw)
        }
    }

    /// Whether the existing entry can be resumed; removes an entry of another kind.
    private static func isThere(_ name: String, isTree: Bool, in staging: StagingFolder) -> Bool {
        var status = stat()
        guard fstatat(staging.folder.raw, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return false }
        if status.st_mode & S_IFMT == (isTree ? S_IFDIR : S_IFREG) { return true }
        staging.remove(name)
        return false
    }

    deinit {
        discard()
    }

    enum Phase {
        case writing
        /// The item is being moved into the Inbox.
        case taken
        case gone
    }

    struct State: ~Copyable {
        var phase = Phase.writing
        var file: WritingFile?
        /// The item's own file or folder: a file stays open from its end until it has its label.
        var item: FileDescriptor?
        var folder: (path: SafeRelativePath?, open: OpenFolder)?
        var entryCount = 0
        /// Bytes written since the last check of the free room.
        var unseenBytes = 0
        /// Places of the files and folders below the item itself; nil once there are too many, and for a sealed tree.
        var places: [SafeRelativePath]? = []
        /// Of a tree with kept parts: the path hashes of entries that have come again. The rest is not part of it.
        var came: Set<UInt64>?
        /// Of a sealed tree that is written from its first entry on: the listing of its sealed files.
        var sealedListing: SealedListing?
        /// Of a sealed file that was written from its first byte on.
        var sealedDigest: Digest?
        /// Of a sealed file that has ended: for the check of its contents.
        var chunkKey: SecretBytes?

        init(came: Set<UInt64>?) {
            self.came = came
        }

        mutating func add(_ place: SafeRelativePath?) {
            entryCount += 1
            if entryCount > StagedFiles.rememberedPlaces { places = nil }
            if let place {
                places?.append(place)
                came?.insert(KeptFile.pathHash(place))
            }
        }

        mutating func remove(_ place: SafeRelativePath?) {
            entryCount -= 1
            guard let place else { return }
            places?.removeAll { $0 == place }
            came?.remove(KeptFile.pathHash(place))
        }
    }

    /// For messages: these names were checked, so they can be shown.
    func display(_ path: SafeRelativePath?) -> String { path?.text ?? "the file" }
}

// MARK: - The end

extension StagedFiles {
    static var goneFault: TransferError { TransferError(.cancelled, "the item was discarded") }

    func check(_ state: borrowing State) throws(TransferError) {
        guard state.phase == .writing else { throw Self.goneFault }
        guard state.file == nil else { throw TransferError(.unexpected, "the file before this one was not ended") }
    }

    /// The contents that must be synced before the item may be moved into the Inbox.
    struct Contents {
        /// Number of files, folders and links, with the item itself.
        var entryCount: Int
        /// Files and folders below the item; nil if there are more than `rememberedPlaces` entries.
        var places: [SafeRelativePath]?
    }

    /// Ends the writing for good.
    ///
    /// - Throws: `unexpected` if the item is not whole, `cancelled` if it was discarded or taken before.
    func take() throws(TransferError) -> Contents {
        try state.withLock { state throws(TransferError) in
            try check(state)
            guard isTree || state.entryCount == 1 else {
                throw TransferError(.unexpected, "the item has no contents yet")
            }
            try close(&state)
            state.phase = .taken
            return Contents(entryCount: state.entryCount + (isTree ? 1 : 0), places: state.places)
        }
    }

    func rest() throws(TransferError) {
        try state.withLock { state throws(TransferError) in
            try check(state)
            try close(&state)
        }
    }

    private func close(_ state: inout State) throws(TransferError) {
        do throws(WriteBehindQueue.WriteError) {
            try behind.finish()
        } catch {
            throw fault(error)
        }
        try closeItem(&state)
        state.folder = nil
    }

    /// Opens the item's own file or folder for reading, unless it is open.
    /// - Returns: its descriptor, which `closeItem` closes.
    func open(_ state: inout State) throws(SystemError) -> Int32 {
        if let item = state.item?.raw { return item }
        let item = try staging.opening.open(name, below: staging.folder.raw, flags: O_RDONLY | O_NONBLOCK)
        let raw = item.raw
        state.item = consume item
        return raw
    }

    func closeItem(_ state: inout State) throws(TransferError) {
        guard let item = state.item.take() else { return }
        do throws(SystemError) {
            try item.close()
        } catch {
            throw .disk("cannot write", display(nil), error, on: staging.folder.raw)
        }
    }

    var keepsModes: Bool { staging.abilities.keepsModes }

    func digest(_ algorithm: DigestAlgorithm) throws(TransferError) -> Digest {
        try rest()
        do throws(StoredDigestError) {
            return try StoredDigest.read(
                name, in: staging.folder.raw, isTree: isTree, algorithm: algorithm, ignoringModes: !keepsModes
            ).digest
        } catch {
            throw TransferError(.storage, "the received contents cannot be read again: \(error)")
        }
    }

    /// Whether the item is being moved into the Inbox: then only the commit decides about it.
    var isTaken: Bool { state.withLock { $0.phase == .taken } }

    /// The item is in the Inbox now: no part of it is removed any more.
    func moved() {
        state.withLock { $0.phase = .gone }
        if isKeyed { staging.partials.forget(name) }
    }

    func keep() {
        let hasContents: Bool? = state.withLock { state in
            guard state.phase != .gone else { return nil }
            if let file = state.file.take() { breakOff(file) }
            // Parts that were not written are fetched again.
            try? behind.finish()
            state.item = nil
            state.folder = nil
            state.phase = .gone
            return isKept || state.entryCount > 0
        }
        guard let hasContents else { return }
        if isKeyed, hasContents, isTree || !isEmpty {
            staging.partials.put(name)
        } else {
            remove()
        }
    }

    private var isEmpty: Bool {
        var status = stat()
        guard fstatat(staging.folder.raw, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return true }
        // A part of a sealed file is of no use before its first whole chunk.
        return sealing == nil ? status.st_size == 0 : status.st_size <= AgeLayout.sealedChunkBytes
    }

    func discard() {
        let wasThere = state.withLock { state in
            defer { state.phase = .gone }
            state.file = nil
            behind.abandon()
            state.item = nil
            state.folder = nil
            return state.phase != .gone
        }
        if wasThere { remove() }
    }

    private func remove() {
        staging.remove(name)
        // Only after the removal, so that no other item takes the name meanwhile.
        if isKeyed { staging.partials.forget(name) }
    }
}
