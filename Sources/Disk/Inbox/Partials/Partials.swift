import Glibc
import Sharing
import Synchronization
import SystemCalls

/// What lies in a staging folder to be found again: items that did not come whole, each under a name that its key gives
/// (`p-…`), and consents (`o-…`, small files). What it is, and how old, the folder itself says; there is no list on the disk.
///
/// Ages are told by the time of the last change of the inode, which is the kernel's own: other times are the sender's word.
final class Partials: Sendable {
    /// Consents that are kept.
    static let consentLimit = 4_096

    private struct Entry {
        /// Disk use without the bytes that are being written now.
        var use: DiskUse
        var used: Timestamp
        /// The same by the steady clock; nil for what an earlier process has left.
        var usedHere: Duration?
        var isInUse = false

        /// Bytes that count against the bounds.
        var weight: UInt64 { Footprint(bytes: use.bytes, entries: use.entries).bytes }

        /// What an earlier process has left is older, whatever the wall clock said then.
        static func isOlder(_ left: Entry, _ right: Entry) -> Bool {
            (left.usedHere ?? .zero, left.used) < (right.usedHere ?? .zero, right.used)
        }
    }

    private struct State {
        var entries: [String: Entry] = [:]
    }

    let folder: OpenFolder
    private let bounds: PartialBounds
    let time: KeptTime
    private let remove: @Sendable (String) -> Void
    private let state = Mutex(State())

    /// - Parameter remove: removes what lies under a name in the folder.
    init(
        in folder: OpenFolder, bounds: PartialBounds, time: KeptTime,
        remove: @escaping @Sendable (String) -> Void
    ) {
        self.folder = folder
        self.bounds = bounds
        self.time = time
        self.remove = remove
    }

    static func name(of key: PartialKey) -> String { "p-" + key.text }

    static func name(of key: ConsentKey) -> String { "o-" + key.text }

    /// Whether a name in the folder is of the form that is kept.
    static func isKept(_ name: String) -> Bool { isForm("p-", name) || isForm("o-", name) }

    static func isForm(_ prefix: String, _ name: String) -> Bool {
        name.hasPrefix(prefix) && TransferID(String(name.dropFirst(2))) != nil
    }

    /// Looks at what an earlier receiver has left, and removes what is too old or too much.
    /// - Parameter names: of the form that is kept.
    func takeOver(_ names: [String]) {
        var consents: [(name: String, used: Timestamp)] = []
        for name in names {
            guard let used = used(name) else { continue }
            if hasSecondName(name) {
                remove(name)
                continue
            }
            if Self.isForm("o-", name) {
                // Who is asked once more than needed loses nothing: the wall clock is good enough.
                if isExpired(used, at: time.now()) { remove(name) } else { consents.append((name, used)) }
            } else {
                let use = DiskUse(of: name, in: folder.raw)
                state.withLock { $0.entries[name] = Entry(use: use, used: used) }
            }
        }
        consents.sort { $0.used > $1.used }
        for consent in consents.dropFirst(Self.consentLimit) { remove(consent.name) }
        trim()
    }

    /// Whether a file is there under another name too: then it is in the Inbox, and a crash came between `Placement`'s two
    /// steps. Who went on with it would write to what is in the Inbox.
    private func hasSecondName(_ name: String) -> Bool {
        var status = stat()
        guard fstatat(folder.raw, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return false }
        return status.st_mode & S_IFMT == S_IFREG && status.st_nlink > 1
    }

    // MARK: Use

    /// Takes a name for one item that is being written.
    /// - Returns: whether something lies there already; nil where another one is at it.
    func take(_ name: String) -> Bool? {
        state.withLock { state in
            if state.entries[name]?.isInUse ?? false { return nil }
            let isThere = state.entries[name] != nil
            state.entries[name] = Entry(
                use: state.entries[name]?.use ?? DiskUse(), used: time.now(), usedHere: time.steady(), isInUse: true)
            return isThere
        }
    }

    /// It has been moved away, or removed.
    func forget(_ name: String) {
        state.withLock { $0.entries[name] = nil }
    }

    /// It stays, to be found again.
    func put(_ name: String) {
        // Sets its time, too.
        utimensat(folder.raw, name, nil, AT_SYMLINK_NOFOLLOW)
        let use = DiskUse(of: name, in: folder.raw)
        state.withLock { $0.entries[name] = Entry(use: use, used: time.now(), usedHere: time.steady()) }
        trim()
    }

    /// It was only looked at.
    func giveBack(_ name: String) {
        state.withLock { state in
            state.entries[name]?.isInUse = false
            state.entries[name]?.used = time.now()
            state.entries[name]?.usedHere = time.steady()
        }
    }

    func isThere(_ name: String) -> Bool {
        state.withLock { state in state.entries[name].map { !$0.isInUse } ?? false }
    }

    /// Bytes of a name's that lie on the disk.
    func bytes(of name: String) -> UInt64 { state.withLock { $0.entries[name]?.use.bytes ?? 0 } }

    /// Disk use that removing every partial item not in use would free.
    var removable: DiskUse {
        state.withLock { state in
            state.entries.values.reduce(into: DiskUse()) { sum, entry in
                if entry.isInUse { return }
                sum.bytes &+= entry.use.bytes
                sum.entries &+= entry.use.entries
            }
        }
    }

    var summary: PartialsSummary {
        state.withLock { state in
            let kept = state.entries.values.filter { !$0.isInUse }
            return PartialsSummary(
                count: kept.count, bytes: kept.reduce(0) { $0 &+ $1.use.bytes }, oldest: kept.map(\.used).min())
        }
    }

    // MARK: Bounds

    /// Removes what is too old, and the oldest of what is too much.
    func trim() {
        for name in state.withLock({ overdue(&$0) }) { remove(name) }
    }

    private func overdue(_ state: inout State) -> [String] {
        var removed: [String] = []
        var total: UInt64 = 0
        // The latest first.
        let kept = state.entries.filter { !$0.value.isInUse }.sorted { Entry.isOlder($1.value, $0.value) }
        for (place, (name, entry)) in kept.enumerated() {
            total &+= entry.weight
            let isTooMuch = total > bounds.quota && (place > 0 || bounds.quota == 0)
            guard isTooMuch || isExpired(entry) else { continue }
            removed.append(name)
            state.entries[name] = nil
        }
        return removed
    }

    /// Removes the one that was used longest ago.
    /// - Returns: whether there was one.
    func removeOldest() -> Bool {
        let name: String? = state.withLock { state in
            let oldest = state.entries.filter { !$0.value.isInUse }.min { Entry.isOlder($0.value, $1.value) }?.key
            if let oldest { state.entries[oldest] = nil }
            return oldest
        }
        guard let name else { return false }
        remove(name)
        return true
    }

    /// By the steady clock where that has been running since its last use.
    private func isExpired(_ entry: Entry) -> Bool {
        if let usedHere = entry.usedHere { return time.steady() - usedHere >= bounds.lifetime }
        guard let now = time.believed() else { return false }
        return isExpired(entry.used, at: now)
    }

    func isExpired(_ used: Timestamp, at now: Timestamp) -> Bool {
        let (age, overflow) = now.seconds.subtractingReportingOverflow(used.seconds)
        return !overflow && age >= bounds.lifetime.components.seconds
    }

    // MARK: Bounds of one peer

    func isAnythingThere(of owner: String) -> Bool {
        state.withLock { $0.entries.contains { !$0.value.isInUse && $0.key.hasPrefix(Self.prefix(of: owner)) } }
    }

    /// Removes the oldest of a peer's until the rest takes no more than so many bytes.
    /// - Parameter spared: names that stay and do not count, unless they take more than so many bytes.
    func bound(_ owner: String, to bytes: UInt64, besides spared: [String: UInt64]) {
        let removed = state.withLock { state in
            var removed: [String] = []
            var total: UInt64 = 0
            let kept = state.entries.filter { !$0.value.isInUse && $0.key.hasPrefix(Self.prefix(of: owner)) }
            for (name, entry) in kept.sorted(by: { Entry.isOlder($1.value, $0.value) }) {
                if let most = spared[name] {
                    if entry.weight <= most { continue }
                } else {
                    total &+= entry.weight
                    if total <= bytes { continue }
                }
                removed.append(name)
                state.entries[name] = nil
            }
            return removed
        }
        for name in removed { remove(name) }
    }

    private static func prefix(of owner: String) -> String { "p-" + owner }

    /// When something was changed last; nil where it is not there.
    func used(_ name: String) -> Timestamp? {
        var status = stat()
        guard fstatat(folder.raw, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
        return Timestamp(
            seconds: Int64(status.st_ctim.tv_sec), nanoseconds: UInt32(clamping: status.st_ctim.tv_nsec))
    }
}

/// The clocks by which things are kept.
struct KeptTime: Sendable {
    /// The wall clock's time.
    let now: @Sendable () -> Timestamp
    /// Time that has passed since some moment; it goes on while the machine sleeps.
    let steady: @Sendable () -> Duration
    private let calendar: CautiousClock

    init(
        now: @escaping @Sendable () -> Timestamp, steady: @escaping @Sendable () -> Duration, settling: Duration
    ) {
        (self.now, self.steady) = (now, steady)
        calendar = CautiousClock(
            wall: {
                let (milliseconds, overflow) = now().seconds.multipliedReportingOverflow(by: 1_000)
                return WallTime(milliseconds: overflow ? .max : milliseconds)
            }, steady: steady, settling: settling)
    }

    /// How late it is for what an earlier process has left; nil as long as nobody knows.
    func believed() -> Timestamp? {
        calendar.now().map { Timestamp(seconds: $0.milliseconds / 1_000, nanoseconds: 0) }
    }

    static var system: KeptTime {
        let start = ContinuousClock.now
        return KeptTime(now: { .now }, steady: { ContinuousClock.now - start }, settling: CautiousClock.settling)
    }
}

extension Timestamp {
    /// The system's time.
    static var now: Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(seconds: Int64(time.tv_sec), nanoseconds: UInt32(clamping: time.tv_nsec))
    }
}

/// Space that files and folders take on the disk.
struct DiskUse {
    var bytes: UInt64 = 0
    /// Files, folders and links.
    var entries: UInt64 = 0
}

extension DiskUse {
    /// The use of a file, or of a folder with its contents. Entries that cannot be read count as nothing.
    init(of name: String, in folder: Int32) {
        var pending = [name]
        while let path = pending.popLast() {
            var status = stat()
            guard fstatat(folder, path, &status, AT_SYMLINK_NOFOLLOW) == 0 else { continue }
            add(status)
            guard status.st_mode & S_IFMT == S_IFDIR else { continue }
            let raw = openat(folder, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard raw >= 0 else { continue }
            let inner = FileDescriptor(owning: raw)
            guard var contents = try? FolderContents.make(of: inner.raw) else { continue }
            while let entry = try? contents.next() {
                var status = stat()
                guard fstatat(inner.raw, entry, &status, AT_SYMLINK_NOFOLLOW) == 0 else { continue }
                if status.st_mode & S_IFMT == S_IFDIR {
                    pending.append(path + "/" + String(cString: entry))
                } else {
                    add(status)
                }
            }
        }
    }

    private mutating func add(_ status: stat) {
        bytes &+= UInt64(max(0, status.st_blocks)) &* 512
        entries &+= 1
    }
}
