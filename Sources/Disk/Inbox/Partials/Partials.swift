import Glibc
import Sharing
import Synchronization
import SystemCalls

/// The entries of a staging folder that are kept: interrupted items, each under a name derived from its key (`p-…`),
/// and consents (`o-…`, small files). The folder itself shows their kind and age; there is no list on the disk.
///
/// The age is the time since the last change of the inode, which the kernel sets. The sender chooses the other times.
final class Partials: Sendable {
    /// Maximum number of consents.
    static let consentLimit = 4_096
    /// New consents after which all are looked through.
    static let consentsBetweenLooks = 256

    private struct Entry {
        /// Disk use without the bytes that are being written now.
        var use: DiskUse
        var used: Timestamp
        /// The same by the steady clock; nil for an entry of an earlier process.
        var usedHere: Duration?
        var isInUse = false

        /// Bytes that count against the bounds.
        var weight: UInt64 { Footprint(bytes: use.bytes, entries: use.entries).bytes }

        /// An entry of an earlier process is older, even if the wall clock was ahead then.
        static func isOlder(_ left: Entry, _ right: Entry) -> Bool {
            (left.usedHere ?? .zero, left.used) < (right.usedHere ?? .zero, right.used)
        }
    }

    private struct State {
        var entries: [String: Entry] = [:]
        var newConsents = 0
    }

    let folder: OpenFolder
    private let bounding: @Sendable () -> PartialBounds
    let time: KeptTime
    private let remove: @Sendable (String) -> Void
    private let state = Mutex(State())

    /// - Parameter remove: removes the entry of this name in the folder.
    init(
        in folder: OpenFolder, bounds: @escaping @autoclosure @Sendable () -> PartialBounds, time: KeptTime,
        remove: @escaping @Sendable (String) -> Void
    ) {
        self.folder = folder
        bounding = bounds
        self.time = time
        self.remove = remove
    }

    private var bounds: PartialBounds { bounding() }

    static func name(of key: PartialKey) -> String { "p-" + key.text }

    static func name(of key: ConsentKey) -> String { "o-" + key.text }

    /// Whether a name in the folder has the form of a kept entry.
    static func isKept(_ name: String) -> Bool { isForm("p-", name) || isForm("o-", name) }

    /// - Returns: false also for the shorter names of an older Waft, which are found under no key any more.
    static func isForm(_ prefix: String, _ name: String) -> Bool {
        let digits = name.utf8.dropFirst(2)
        return name.hasPrefix(prefix) && digits.count == (prefix == "p-" ? PartialKey.digits : ConsentKey.digits)
            && digits.allSatisfy { "0123456789abcdef".utf8.contains($0) }
    }

    /// Reads the entries of an earlier receiver, and removes those that are too old or exceed the bounds.
    /// - Parameter names: names of kept entries.
    func takeOver(_ names: [String]) {
        var consents: [String] = []
        for name in names {
            guard let used = used(name) else { continue }
            if hasSecondName(name) {
                remove(name)
                continue
            }
            if Self.isForm("o-", name) {
                consents.append(name)
            } else {
                let use = DiskUse(of: name, in: folder.raw)
                state.withLock { $0.entries[name] = Entry(use: use, used: used) }
            }
        }
        boundConsents(consents)
        trim()
    }

    /// Counts a new consent. A receiver may run for months: now and then it removes those that are too old, or too many.
    func addedConsent() {
        let isDue = state.withLock { state in
            state.newConsents = (state.newConsents + 1) % Self.consentsBetweenLooks
            return state.newConsents == 0
        }
        if isDue { boundConsents(consentNames) }
    }

    private func boundConsents(_ names: [String]) {
        var kept: [(name: String, used: Timestamp)] = []
        for name in names {
            guard let used = used(name) else { continue }
            // The wall clock is good enough: one question too many does no harm.
            if isExpired(used, at: time.now()) { remove(name) } else { kept.append((name, used)) }
        }
        kept.sort { $0.used > $1.used }
        for consent in kept.dropFirst(Self.consentLimit) { remove(consent.name) }
    }

    /// Whether a file has another name too: then it is in the Inbox, and a crash came between the two steps of
    /// `Placement`. Resuming it would write to the file in the Inbox.
    private func hasSecondName(_ name: String) -> Bool {
        var status = stat()
        guard fstatat(folder.raw, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return false }
        return status.st_mode & S_IFMT == S_IFREG && status.st_nlink > 1
    }

    // MARK: Use

    /// Takes a name for one item that is being written.
    /// - Returns: whether an entry of this name exists; nil if another item uses it.
    func take(_ name: String) -> Bool? {
        state.withLock { state in
            if state.entries[name]?.isInUse ?? false { return nil }
            let isThere = state.entries[name] != nil
            state.entries[name] = Entry(
                use: state.entries[name]?.use ?? DiskUse(), used: time.now(), usedHere: time.steady(), isInUse: true)
            return isThere
        }
    }

    /// The entry has been moved away or removed.
    func forget(_ name: String) {
        state.withLock { $0.entries[name] = nil }
    }

    /// The entry stays, to be found again.
    func put(_ name: String) {
        // This sets its inode time, too.
        utimensat(folder.raw, name, nil, AT_SYMLINK_NOFOLLOW)
        let use = DiskUse(of: name, in: folder.raw)
        state.withLock { $0.entries[name] = Entry(use: use, used: time.now(), usedHere: time.steady()) }
        trim()
    }

    /// The entry was only read.
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

    /// Bytes of an entry on the disk.
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

    /// Removes the entries that are too old, and the oldest ones beyond the quota.
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

    /// Removes the entry whose last use is the oldest.
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

    /// Uses the steady clock if it has been running since the last use.
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

    /// Removes the oldest entries of a peer until the rest takes at most `bytes`.
    /// - Parameter spared: names that stay and do not count, with the maximum bytes of each; a larger one is removed.
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

    /// The time of an entry's last change; nil if it does not exist.
    func used(_ name: String) -> Timestamp? {
        var status = stat()
        guard fstatat(folder.raw, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
        return Timestamp(status.st_ctim)
    }
}

/// The clocks for the age of kept entries.
struct KeptTime: Sendable {
    /// The wall clock's time.
    let now: @Sendable () -> Timestamp
    /// Time since some moment; it also counts while the machine sleeps.
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

    /// The current time, to judge entries of an earlier process; nil while it is uncertain.
    func believed() -> Timestamp? {
        calendar.now().map { Timestamp(seconds: $0.milliseconds / 1_000, nanoseconds: 0) }
    }

    static var system: KeptTime {
        let start = ContinuousClock.now
        return KeptTime(now: { .now }, steady: { ContinuousClock.now - start }, settling: CautiousClock.settling)
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
