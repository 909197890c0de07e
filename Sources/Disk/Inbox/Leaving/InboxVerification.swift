import Digests
import Glibc
package import Sharing
import SystemCalls

/// What became of an item since it arrived.
package struct ItemFinding: Hashable, Sendable {
    package enum State: String, Hashable, Sendable {
        /// It is what was received.
        case ok
        /// Something else is there than was received.
        case changed
        /// Nothing is there under its name.
        case missing
        /// The disk, or the permissions, said no.
        case unreadable
    }

    /// In what it is not what was received.
    package enum Difference: String, Hashable, Sendable, CaseIterable {
        /// It is another kind of thing: a folder, a link.
        case kind
        /// Bytes of contents.
        case size
        /// Files, folders and links in a tree.
        case entries
        /// Bytes, or in a tree also names, links and executable bits.
        case contents
        /// Besides one of the others: it can be written to, which it could not when it arrived.
        case mode
    }

    package var state: State
    package var differences: [Difference] = []
    /// One line for people, not escaped; empty where there is nothing more to say.
    package var detail = ""
    /// Of a file that has changed: when something was last done to it, if that was after it arrived. Where it was not,
    /// nobody has written to it, and it is the disk that has changed it.
    package var touched: Timestamp?

    package init(state: State, differences: [Difference] = [], detail: String = "", touched: Timestamp? = nil) {
        self.state = state
        self.differences = differences
        self.detail = detail
        self.touched = touched
    }
}

/// Compares what lies in an Inbox with what was received: needs no receiver, takes no lock, and changes nothing.
package enum InboxVerification {
    /// How long after it was written down as about to be there an item may still be moved about by the receiver.
    private static let settling: Int64 = 2

    /// Reads one item from the disk, past what the kernel keeps of it in memory as far as it lets us.
    ///
    /// - Parameters:
    ///   - inbox: where the Inbox lies: absolute.
    ///   - arrived: when the arrival was written down.
    ///   - progressed: as in `StoredDigest.read`.
    /// - Throws: what `progressed` throws.
    package static func verify(
        _ arrival: Arrival,
        arrived: WallTime,
        inbox: String,
        progressed: (Int) throws(StoredDigestFault) -> Void = { _ in }
    ) throws(StoredDigestFault) -> ItemFinding {
        let place: InboxPlace
        let status: stat
        do {
            place = try InboxPlace(arrival.stored.path, inbox: inbox)
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
        if !isTree, UInt64(max(0, status.st_size)) != arrival.size {
            finding = ItemFinding(
                state: .changed, differences: [.size],
                detail: sizes(now: UInt64(max(0, status.st_size)), then: arrival.size))
        } else {
            finding = try read(place, arrival, isTree: isTree, progressed)
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
        _ place: InboxPlace, _ arrival: Arrival, isTree: Bool, _ progressed: (Int) throws(StoredDigestFault) -> Void
    ) throws(StoredDigestFault) -> ItemFinding {
        let now: StoredDigest
        do throws(StoredDigestFault) {
            now = try StoredDigest.read(
                place.name, in: place.folder.raw, isTree: isTree, algorithm: arrival.digest.algorithm, fromDisk: true,
                progressed: progressed)
        } catch {
            switch error.code {
            case .cancelled: throw error
            case .unreadable: return ItemFinding(state: .unreadable, detail: error.message)
            // Of the item itself it was known a moment ago; of what is in it, it is a change.
            case .gone, .different:
                return ItemFinding(state: .changed, differences: [.contents], detail: error.message)
            }
        }
        if now.digest == arrival.digest { return ItemFinding(state: .ok) }
        var finding = ItemFinding(state: .changed)
        if now.size != arrival.size {
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
