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
        /// Bytes on the disk; what is written to it now is not in it.
        var bytes: UInt64
        var used: Timestamp
        var isInUse = false
    }

    private struct State {
        var entries: [String: Entry] = [:]
    }

    let folder: OpenFolder
    private let bounds: PartialBounds
    private let now: @Sendable () -> Timestamp
    private let remove: @Sendable (String) -> Void
    private let state = Mutex(State())

    /// - Parameter remove: removes what lies under a name in the folder.
    init(
        in folder: OpenFolder, bounds: PartialBounds, now: @escaping @Sendable () -> Timestamp,
        remove: @escaping @Sendable (String) -> Void
    ) {
        self.folder = folder
        self.bounds = bounds
        self.now = now
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
                if isExpired(used) { remove(name) } else { consents.append((name, used)) }
            } else {
                let bytes = DiskUse.bytes(of: name, in: folder.raw)
                state.withLock { $0.entries[name] = Entry(bytes: bytes, used: used) }
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
            state.entries[name] = Entry(bytes: state.entries[name]?.bytes ?? 0, used: now(), isInUse: true)
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
        let bytes = DiskUse.bytes(of: name, in: folder.raw)
        state.withLock { $0.entries[name] = Entry(bytes: bytes, used: now()) }
        trim()
    }

    /// It was only looked at.
    func giveBack(_ name: String) {
        state.withLock { state in
            state.entries[name]?.isInUse = false
            state.entries[name]?.used = now()
        }
    }

    func isThere(_ name: String) -> Bool {
        state.withLock { state in state.entries[name].map { !$0.isInUse } ?? false }
    }

    /// Bytes of a name's that lie on the disk.
    func bytes(of name: String) -> UInt64 { state.withLock { $0.entries[name]?.bytes ?? 0 } }

    /// Bytes that would be free if all that nobody is at were removed.
    var removableBytes: UInt64 {
        state.withLock { state in state.entries.values.reduce(0) { $0 &+ ($1.isInUse ? 0 : $1.bytes) } }
    }

    var summary: PartialsSummary {
        state.withLock { state in
            let kept = state.entries.values.filter { !$0.isInUse }
            return PartialsSummary(
                count: kept.count, bytes: kept.reduce(0) { $0 &+ $1.bytes }, oldest: kept.map(\.used).min())
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
        let kept = state.entries.filter { !$0.value.isInUse }.sorted { $0.value.used > $1.value.used }
        for (place, (name, entry)) in kept.enumerated() {
            total &+= entry.bytes
            let isTooMuch = total > bounds.quota && (place > 0 || bounds.quota == 0)
            guard isTooMuch || isExpired(entry.used) else { continue }
            removed.append(name)
            state.entries[name] = nil
        }
        return removed
    }

    /// Removes the one that was used longest ago.
    /// - Returns: whether there was one.
    func removeOldest() -> Bool {
        let name: String? = state.withLock { state in
            let oldest = state.entries.filter { !$0.value.isInUse }.min { $0.value.used < $1.value.used }?.key
            if let oldest { state.entries[oldest] = nil }
            return oldest
        }
        guard let name else { return false }
        remove(name)
        return true
    }

    func isExpired(_ used: Timestamp) -> Bool {
        let (age, overflow) = now().seconds.subtractingReportingOverflow(used.seconds)
        return !overflow && age >= bounds.lifetime.components.seconds
    }

    /// When something was changed last; nil where it is not there.
    func used(_ name: String) -> Timestamp? {
        var status = stat()
        guard fstatat(folder.raw, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
        return Timestamp(
            seconds: Int64(status.st_ctim.tv_sec), nanoseconds: UInt32(clamping: status.st_ctim.tv_nsec))
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

/// What things take of the disk.
enum DiskUse {
    /// Bytes of a file, or of a folder with everything in it; what cannot be looked at counts for nothing.
    static func bytes(of name: String, in folder: Int32) -> UInt64 {
        var total: UInt64 = 0
        var pending = [name]
        while let path = pending.popLast() {
            var status = stat()
            guard fstatat(folder, path, &status, AT_SYMLINK_NOFOLLOW) == 0 else { continue }
            total &+= UInt64(max(0, status.st_blocks)) &* 512
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
                    total &+= UInt64(max(0, status.st_blocks)) &* 512
                }
            }
        }
        return total
    }
}
