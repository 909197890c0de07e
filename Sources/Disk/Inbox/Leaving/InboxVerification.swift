import Digests
import Glibc
package import Sharing
import SystemCalls

/// The state of an item since it arrived.
package struct ItemFinding: Hashable, Sendable {
    package enum State: String, Hashable, Sendable {
        /// The item is as it was received.
        case ok
        /// Something else is there than was received.
        case changed
        /// Nothing is there under its name.
        case missing
        /// The disk or the permissions refused.
        case unreadable
    }

    /// In which respect an item differs from the one that was received.
    package enum Difference: String, Hashable, Sendable, CaseIterable {
        /// It is another kind of thing: a folder, a link.
        case kind
        /// Bytes of contents.
        case size
        /// Files, folders and links in a tree.
        case entries
        /// Bytes, or in a tree also names, links and executable bits.
        case contents
        /// Only in addition to another difference: the item is writable now, which it was not when it arrived.
        case mode
    }

    package var state: State
    package var differences: [Difference] = []
    /// One line for people, not escaped; empty if there is no more to say.
    package var detail = ""
    /// Of a changed file: the time of its last change, if that is later than its arrival. If nil, no program has
    /// written to the file, and the disk has changed it.
    package var touched: Timestamp?
    /// Of a sealed item that was only compared as it is on the disk: its contents are locked.
    package var isLocked = false
    /// Of an item that is ok by a checksum: that finds faults of the disk, and no contents that were made to have the same
    /// one. So it is with an item of an older Waft, and with a sealed one that is locked.
    package var isOnlySummed = false

    package init(state: State, differences: [Difference] = [], detail: String = "", touched: Timestamp? = nil) {
        self.state = state
        self.differences = differences
        self.detail = detail
        self.touched = touched
    }
}

/// Compares the items in an Inbox with the received ones. It needs no receiver, takes no lock, and changes nothing.
package enum InboxVerification {
    /// Seconds after the announcement of an item in which the receiver may still move it.
    private static let settling: Int64 = 2

    /// Files of more bytes are not read ahead by `readAhead`: the kernel does it.
    private static let readAheadBytes: UInt64 = 256 << 10

    /// Lets the kernel read a small file from the disk that is verified soon. It reads many of them at once, and a
    /// verification alone waits for each. Only a hint.
    ///
    /// - Returns: whether the kernel was asked; then `verify` need not bypass its page cache any more.
    package static func readAhead(_ arrival: Arrival, inbox: String) -> Bool {
        guard arrival.item.kind != .tree, arrival.size <= readAheadBytes,
            let place = try? FolderEntry(arrival.stored.path, inbox: inbox)
        else { return false }
        let raw = openat(place.folder.raw, place.name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard raw >= 0 else { return false }
        defer { close(raw) }
        return posix_fadvise(raw, 0, 0, POSIX_FADV_DONTNEED) == 0
            && posix_fadvise(raw, 0, off_t(readAheadBytes), POSIX_FADV_WILLNEED) == 0
    }

    /// Reads one item from the disk, bypassing the kernel's page cache as far as the kernel allows.
    ///
    /// - Parameters:
    ///   - inbox: absolute path of the Inbox.
    ///   - arrived: the time at which the arrival was recorded.
    ///   - isReadAhead: whether `readAhead` has asked for it.
    ///   - keys: those of sealed items; nil while they are locked. Then a sealed item is compared as it is on the disk.
    ///   - progressed: as in `StoredDigest.read`.
    /// - Throws: the errors that `progressed` throws.
    package static func verify(
        _ arrival: Arrival,
        arrived: WallTime,
        inbox: String,
        isReadAhead: Bool = false,
        keys: FileKeys? = nil,
        progressed: (Int) throws(StoredDigestError) -> Void = { _ in }
    ) throws(StoredDigestError) -> ItemFinding {
        let place: FolderEntry
        let status: stat
        do {
            place = try FolderEntry(arrival.stored.path, inbox: inbox)
            status = try place.status()
        } catch {
            switch error.number {
            case ENOENT, ENOTDIR, ELOOP: return ItemFinding(state: .missing)
            default: return ItemFinding(state: .unreadable, detail: "\(error)")
            }
        }
        let isTree = arrival.item.kind == .tree
        guard status.st_mode & S_IFMT == (isTree ? S_IFDIR : S_IFREG) else {
            return ItemFinding(state: .changed, differences: [.kind], detail: "it is \(kind(status.st_mode)) now")
        }
        var finding: ItemFinding
        let isSealed = arrival.protection.isSealed
        let ignoringModes = isTree && !DiskAbilities.keepsModes(inInboxAt: inbox)
        if !isTree, !isSealed, UInt64(max(0, status.st_size)) != arrival.size {
            finding = ItemFinding(
                state: .changed, differences: [.size],
                detail: sizes(now: UInt64(max(0, status.st_size)), then: arrival.size))
        } else {
            finding = try read(place, arrival, isTree: isTree, ignoringModes, fromDisk: !isReadAhead, progressed)
        }
        if isSealed, finding.state == .ok {
            finding = try open(place, arrival, isTree: isTree, keys, ignoringModes, progressed)
        }
        guard finding.state == .changed, !isTree else { return finding }
        if status.st_mode & 0o222 != 0 { finding.differences.append(.mode) }
        let touched = Int64(status.st_ctim.tv_sec)
        if touched > arrived.milliseconds / 1_000 + settling {
            finding.touched = Timestamp(seconds: touched, nanoseconds: 0)
        }
        return finding
    }

    private static func read(
        _ place: FolderEntry, _ arrival: Arrival, isTree: Bool, _ ignoringModes: Bool, fromDisk: Bool,
        _ progressed: (Int) throws(StoredDigestError) -> Void
    ) throws(StoredDigestError) -> ItemFinding {
        let now: StoredDigest
        do throws(StoredDigestError) {
            now = try StoredDigest.read(
                place.name, in: place.folder.raw, isTree: isTree, algorithm: arrival.digest.algorithm,
                ignoringModes: ignoringModes, fromDisk: fromDisk, progressed: progressed)
        } catch {
            switch error.code {
            case .cancelled: throw error
            case .unreadable, .locked: return ItemFinding(state: .unreadable, detail: error.message)
            // The item itself was there a moment ago; an entry in it that is gone or different is a change.
            case .gone, .different:
                return ItemFinding(state: .changed, differences: [.contents], detail: error.message)
            }
        }
        if now.digest == arrival.digest {
            var finding = ItemFinding(state: .ok)
            finding.isOnlySummed = now.digest.algorithm != .lasting
            return finding
        }
        var finding = ItemFinding(state: .changed)
        if now.size != arrival.size, !arrival.protection.isSealed {
            finding.differences.append(.size)
            finding.detail = sizes(now: now.size, then: arrival.size)
        }
        if isTree, let entries = arrival.facts.entries ?? arrival.item.entries, now.entries != entries {
            finding.differences.append(.entries)
            finding.detail = "\(now.entries - 1) things are in it instead of \(entries - 1)"
        }
        if finding.differences.isEmpty { finding.differences.append(.contents) }
        return finding
    }

    /// Opens a sealed item that is as it was stored: every part of it must be authentic.
    private static func open(
        _ place: FolderEntry, _ arrival: Arrival, isTree: Bool, _ keys: FileKeys?,
        _ ignoringModes: Bool, _ progressed: (Int) throws(StoredDigestError) -> Void
    ) throws(StoredDigestError) -> ItemFinding {
        var finding = ItemFinding(state: .ok)
        finding.isOnlySummed = true
        guard let keys, let contents = keys.contentDigests(of: arrival) else {
            finding.isLocked = true
            return finding
        }
        do throws(StoredDigestError) {
            let now = try StoredDigest.read(
                place.name, in: place.folder.raw, isTree: isTree, algorithm: contents.lasting?.algorithm ?? .lasting,
                keys: keys, ignoringModes: ignoringModes, progressed: progressed)
            guard let lasting = contents.lasting else { return finding }
            finding.isOnlySummed = lasting.algorithm != .lasting
            if lasting == now.digest { return finding }
            return ItemFinding(state: .changed, differences: [.contents], detail: "it was sealed with other contents")
        } catch {
            switch error.code {
            case .cancelled: throw error
            case .locked:
                finding.isLocked = true
                return finding
            case .unreadable: return ItemFinding(state: .unreadable, detail: error.message)
            case .gone, .different:
                return ItemFinding(state: .changed, differences: [.contents], detail: error.message)
            }
        }
    }

    private static func sizes(now: UInt64, then: UInt64) -> String { "\(now) bytes instead of \(then)" }

    private static func kind(_ mode: mode_t) -> String {
        switch mode & S_IFMT {
        case S_IFREG: "a file"
        case S_IFDIR: "a folder"
        case S_IFLNK: "a link"
        default: "no file and no folder"
        }
    }
}
