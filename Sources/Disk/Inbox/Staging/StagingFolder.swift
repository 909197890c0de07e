import CLinuxShims
import Glibc
import Sharing
import Synchronization
import SystemCalls

/// The folder in which items are written until they are whole. It is on the Inbox's file system, and one receiver has
/// it exclusively while this object is alive.
///
/// It is `.waft-staging/NAME` beside the Inbox `NAME`, so that people who look into the Inbox, and programs that watch
/// it, never meet anything unfinished. Inboxes that lie side by side have one each. It is `.waft-staging` in the Inbox
/// itself where beside it is another file system, another mount, or a folder in which we may not write: a rename, which
/// is what makes an item appear whole, works within one file system and one mount only.
final class StagingFolder: Sendable {
    static let name = ".waft-staging"
    private static let lockName = "lock"

    let folder: OpenFolder
    let opening: BeneathOpening
    /// The part of the disk that is not used.
    private let reserving: @Sendable () -> DiskReserve
    /// Whether it is on a tmpfs. Reserving room there creates every page, 0.3 s for a GiB, and blocks everything; plain
    /// writes create the pages one by one while the network continues.
    let isInMemory: Bool
    /// The abilities of the disk.
    let abilities: DiskAbilities
    /// The kept parts of interrupted items.
    let partials: Partials
    /// The sealers of files that were cut.
    let keptSealers = KeptSealers()
    /// For trees of small files; nil if the file system has no disk.
    let earlySync: BackgroundSync?
    let wholeSync: WholeSync
    private let made = Atomic<UInt64>(0)
    private let time: KeptTime
    private let lock: FileDescriptor
    private let numbers: Numbers

    private final class Numbers: Sendable {
        private let last = Atomic<UInt64>(0)

        var next: UInt64 { last.wrappingAdd(1, ordering: .relaxed).oldValue }
    }

    private init(
        _ folder: OpenFolder, lock: consuming FileDescriptor, opening: BeneathOpening,
        reserve: @escaping @Sendable () -> DiskReserve, bounds: @escaping @Sendable () -> PartialBounds, time: KeptTime
    ) {
        let numbers = Numbers()
        self.folder = folder
        self.abilities = DiskAbilities(of: folder.raw, trying: Self.name("trying", numbers.next))
        reserving = reserve
        self.isInMemory = CLinuxShims_is_tmpfs(folder.raw) != 0
        self.earlySync = isInMemory ? nil : BackgroundSync(folder)
        self.wholeSync = WholeSync(folder)
        self.lock = lock
        self.opening = opening
        self.numbers = numbers
        self.time = time
        self.partials = Partials(in: folder, bounds: bounds(), time: time) { name in
            FolderRemoval(base: folder.raw) { Self.name("removed", numbers.next) }.remove(name)
        }
    }

    var reserve: DiskReserve { reserving() }

    /// Finds or creates the staging folder of an Inbox, locks it, and removes the remains of an earlier receiver,
    /// except kept parts that can be resumed.
    ///
    /// - Parameters:
    ///   - path: absolute path of the Inbox.
    ///   - opening: how paths in it will be opened.
    ///   - reserve: the part of the disk that stays free; asked for at each use.
    ///   - bounds: the bounds for kept parts; asked for at each use.
    ///   - time: the clocks for their age.
    ///   - mayMake: whether a missing folder is created.
    static func open(
        ofInbox inbox: OpenFolder,
        at path: String,
        opening: BeneathOpening,
        reserve: @escaping @autoclosure @Sendable () -> DiskReserve,
        bounds: @escaping @autoclosure @Sendable () -> PartialBounds = .standard,
        time: KeptTime = .system,
        mayMake: Bool = true
    ) throws(InboxError) -> StagingFolder {
        let folder: OpenFolder
        do {
            folder = try beside(inbox, at: path, mayMake) ?? inside(inbox, mayMake)
        } catch {
            throw .unusable(
                "cannot make a staging folder beside or in",
                path,
                "\(error)",
                advice: "let this user write there, or use another Inbox"
            )
        }
        let lock = try takeLock(in: folder, path: path)
        let staging = StagingFolder(
            folder, lock: lock, opening: opening, reserve: reserve, bounds: bounds, time: time)
        staging.sweep()
        return staging
    }

    func isOnFileSystem(of inbox: OpenFolder) throws(SystemError) -> Bool {
        var statuses = (stat(), stat())
        try systemCall { fstat(inbox.raw, &statuses.1) }
        // One whose disk has been torn out is nowhere.
        return fstat(folder.raw, &statuses.0) == 0 && statuses.0.st_dev == statuses.1.st_dev
    }

    /// Whether a rename moves its items into the Inbox.
    func serves(_ inbox: OpenFolder) throws(SystemError) -> Bool {
        var status = stat()
        guard fstat(folder.raw, &status) == 0, status.st_nlink > 0 else { return false }
        return try Self.canRename(between: folder.raw, and: inbox.raw)
    }

    /// A name that nothing in the staging folder has.
    func freshName(_ beginning: String) -> String {
        Self.name(beginning, numbers.next)
    }

    private static func name(_ beginning: String, _ number: UInt64) -> String { "\(beginning).\(number)" }

    /// Makes room for `bytes` beside the reserve, as far as removing kept parts of other items allows.
    func makeRoom(for bytes: UInt64) {
        while let free = try? DiskRoom.free(onFileSystemOf: folder.raw, keeping: reserve), free < bytes,
            partials.removeOldest()
        {}
    }

    /// Created files and folders between two checks of the free room: a check can be a request to a file server.
    private static let lookStep: UInt64 = 64

    /// Call before each file, folder or link is created. Checks at intervals whether small entries use up the reserve,
    /// and removes partial items to make room.
    /// - Throws: `noRoom`.
    func aboutToMake(_ display: String) throws(TransferError) {
        guard reserve != .bytes(0), made.wrappingAdd(1, ordering: .relaxed).oldValue % Self.lookStep == 0 else {
            return
        }
        makeRoom(for: 1)
        func free() -> UInt64? { try? DiskRoom.freeEntries(onFileSystemOf: folder.raw, keeping: reserve) }
        while let free = free(), free < Self.lookStep, partials.removeOldest() {}
        let what: String
        if free() == 0 {
            what = "there are no free inodes: the rest"
        } else if (try? DiskRoom.free(onFileSystemOf: folder.raw, keeping: reserve)) == 0 {
            what = "the rest of the disk"
        } else {
            return
        }
        throw TransferError(
            .noRoom, "cannot create \(display): \(what) is kept free; make room and send it again")
    }

    /// Removes the entry `name`, as far as the disk allows.
    func remove(_ name: String) {
        FolderRemoval(base: folder.raw) { self.freshName("removed") }.remove(name)
    }

    private func sweep() {
        var kept: [String] = []
        // All names first: removing moves things into the folder that would be read.
        var names: [String] = []
        guard var contents = try? FolderContents.make(of: folder.raw) else { return }
        while let name = try? contents.next() {
            let text = String(cString: name)
            if text == Self.lockName || text == CacheTag.name { continue }
            if Partials.isKept(text) { kept.append(text) } else { names.append(text) }
        }
        // An earlier sweep that was cut short may have left names of the very form that this one gives.
        let left = Set(names)
        let removal = FolderRemoval(base: folder.raw) {
            while true {
                let name = self.freshName("removed")
                if !left.contains(name) { return name }
            }
        }
        for name in names { removal.remove(name) }
        partials.takeOver(kept)
    }
}

// MARK: - Where it lies

extension StagingFolder {
    /// - Returns: nil if it must be in the Inbox.
    private static func beside(
        _ inbox: OpenFolder, at path: String, _ mayMake: Bool
    ) throws(SystemError) -> OpenFolder? {
        // The folder that really holds it: the path may lead there by a link.
        let parent = OpenFolder(
            FileDescriptor(owning: try systemCall { openat(inbox.raw, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC) })
        )
        guard try canRename(between: parent.raw, and: inbox.raw), let name = realName(of: path) else { return nil }
        do {
            let shared = try ownFolder(Self.name, in: parent.raw, mayMake)
            if mayMake { CacheTag.write(in: shared) }
            return try ownFolder(name, in: shared.raw, mayMake)
        } catch  where [EACCES, EPERM, EROFS, ENOTDIR, ELOOP].contains(error.number) {
            return nil
        }
    }

    private static func inside(_ inbox: OpenFolder, _ mayMake: Bool) throws(SystemError) -> OpenFolder {
        let folder = try ownFolder(name, in: inbox.raw, mayMake)
        if mayMake { CacheTag.write(in: folder) }
        return folder
    }

    /// Opens a folder that belongs to this user and is closed to others; creates it if `mayMake` is true.
    private static func ownFolder(
        _ name: String, in base: Int32, _ mayMake: Bool
    ) throws(SystemError) -> OpenFolder {
        if mayMake, mkdirat(base, name, 0o700) != 0, errno != EEXIST { throw .last }
        let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
        let folder = OpenFolder(FileDescriptor(owning: try systemCall { openat(base, name, flags) }))
        var status = stat()
        try systemCall { fstat(folder.raw, &status) }
        // In a folder where others may write, such as /tmp, another user may have laid a trap.
        guard status.st_uid == geteuid() else { throw SystemError(EPERM) }
        // Not on file systems without modes, where who mounted it has said who may enter.
        if status.st_mode & 0o7777 != 0o700 { fchmod(folder.raw, 0o700) }
        return folder
    }

    /// Whether a rename works between two folders: on one file system, by one mount.
    static func canRename(between first: Int32, and second: Int32) throws(SystemError) -> Bool {
        var statuses = (stat(), stat())
        try systemCall { fstat(first, &statuses.0) }
        try systemCall { fstat(second, &statuses.1) }
        // The device alone misses bind mounts, the mount alone misses the subvolumes of btrfs.
        guard statuses.0.st_dev == statuses.1.st_dev else { return false }
        var mounts = (UInt64(0), UInt64(0))
        guard CLinuxShims_mount_id(first, &mounts.0) == 0, CLinuxShims_mount_id(second, &mounts.1) == 0 else {
            return true
        }
        return mounts.0 == mounts.1
    }

    private static func realName(of path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        guard let text = String(validatingCString: resolved) else { return nil }
        let name = PathText.lastName(of: text)
        return name.isEmpty ? nil : name
    }
}

// MARK: - The lock

extension StagingFolder {
    /// flock(2) and not a file that is there or not: the kernel lets go of it however this process ends.
    private static func takeLock(in folder: OpenFolder, path: String) throws(InboxError) -> FileDescriptor {
        do {
            // Not for writing: that would keep the disk from being made read-only as long as the receiver runs.
            let flags = O_RDONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC
            let lock = FileDescriptor(owning: try systemCall { openat(folder.raw, lockName, flags, 0o600) })
            try systemCall { flock(lock.raw, LOCK_EX | LOCK_NB) }
            writeHolder(in: folder)
            return lock
        } catch  where error.number == EWOULDBLOCK {
            throw .inUse(path, process: holder(in: folder))
        } catch {
            throw .unusable("cannot lock the Inbox", path, "\(error)", advice: "put it on a file system with locks")
        }
    }

    /// The process that has the lock, for the message of a second receiver.
    private static func writeHolder(in folder: OpenFolder) {
        let raw = openat(folder.raw, lockName, O_WRONLY | O_TRUNC | O_NOFOLLOW | O_CLOEXEC)
        guard raw >= 0 else { return }
        let file = FileDescriptor(owning: raw)
        _ = "\(getpid())\n".withCString { write(file.raw, $0, strlen($0)) }
    }

    private static func holder(in folder: OpenFolder) -> Int32? {
        let raw = openat(folder.raw, lockName, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        guard raw >= 0 else { return nil }
        let lock = FileDescriptor(owning: raw)
        let text = withUnsafeTemporaryAllocation(byteCount: 16, alignment: 1) { buffer in
            let count = max(0, pread(lock.raw, buffer.baseAddress, buffer.count, 0))
            return String(decoding: buffer[..<count].prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        }
        return Int32(text)
    }
}

/// Syncs the file system of the staging folder as a whole.
///
/// The kernel reports a fault of the disk once for each opening, and all commits use the same one. So a fault that one
/// commit meets counts for all items that were being written then.
final class WholeSync: Sendable {
    private let folder: OpenFolder
    private let sync: @Sendable (Int32) -> Bool
    /// Held while a sync runs.
    private let turn = Mutex(())
    private let faults = Atomic(0)

    /// - Parameters:
    ///   - folder: a folder on the file system that is written to.
    ///   - sync: whether the file system of a descriptor was synced.
    init(_ folder: OpenFolder, sync: @escaping @Sendable (Int32) -> Bool = { CLinuxShims_syncfs($0) == 0 }) {
        self.folder = folder
        self.sync = sync
    }

    /// A mark of the present moment; an item takes it before its first byte is written.
    var mark: Int { faults.load(ordering: .acquiring) }

    /// Syncs the file system.
    /// - Returns: whether all that was written since the marks is on the disk. If false, another program's file may have
    ///   caused the fault.
    func syncs(since marks: some Sequence<Int>) -> Bool {
        turn.withLock { _ in
            if !sync(folder.raw) { faults.add(1, ordering: .releasing) }
            let now = mark
            return marks.allSatisfy { $0 == now }
        }
    }
}

/// `CACHEDIR.TAG`, which makes backup programs skip a folder: nothing in the staging folder is complete.
/// https://bford.info/cachedir/
enum CacheTag {
    static let name = "CACHEDIR.TAG"

    private static let text = """
        Signature: 8a477f597d28d172789f06886806bc55
        # Waft stages incomplete items here. If they are missing, they are sent again.

        """

    /// Writes the tag unless it exists. Nothing depends on it, so a failure is ignored.
    static func write(in folder: OpenFolder) {
        let flags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC
        let raw = openat(folder.raw, name, flags, 0o644)
        guard raw >= 0 else { return }
        let file = FileDescriptor(owning: raw)
        var status = stat()
        // An empty file was cut off by a crash.
        guard fstat(file.raw, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size == 0 else { return }
        _ = text.withCString { Glibc.write(file.raw, $0, strlen($0)) }
    }
}
