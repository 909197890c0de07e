import Glibc
import Sharing
import SystemCalls

/// How much there is in a folder: counted before it is offered, and again while it is sent.
struct TreeTotals: Equatable {
    /// Files, folders and links, the folder itself included.
    var entries: UInt64 = 1
    /// Bytes of all files.
    var bytes: UInt64 = 0
    /// Bytes of the largest.
    var largestFile: UInt64 = 0

    /// - Returns: false where it would be more than one item may have.
    mutating func addEntry() -> Bool {
        entries += 1
        return entries <= Limits.entriesPerItem
    }

    /// - Returns: false where it would be more than one item may have.
    mutating func addFile(bytes count: UInt64) -> Bool {
        let (sum, overflow) = bytes.addingReportingOverflow(count)
        bytes = overflow ? .max : sum
        largestFile = max(largestFile, count)
        return addEntry() && bytes <= Limits.itemBytes
    }

    /// Goes through a folder once: counts, and finds what cannot be sent.
    ///
    /// - Throws: for the first thing that cannot be sent, with its path, the reason and what to do.
    static func counting(_ root: consuming FileDescriptor, origin: String) throws(SourceFault) -> TreeTotals {
        let walk = try FolderWalk(root, origin: origin, isOffered: false)
        let user = geteuid()
        var totals = TreeTotals()
        while let step = try walk.next() {
            let fits: Bool
            switch step {
            case .folder, .link: fits = totals.addEntry()
            case .file(let path): fits = totals.addFile(bytes: try size(of: path, in: walk, for: user))
            case .folderClosed: continue
            }
            if !fits {
                throw .at(
                    origin,
                    .unreadable,
                    "is more than can be sent as one item (\(Limits.entriesPerItem) entries, "
                        + "\(ByteCount.text(Limits.itemBytes))); send it in parts"
                )
            }
        }
        return totals
    }

    /// - Parameter user: who reads it.
    private static func size(
        of path: SafeRelativePath, in walk: FolderWalk, for user: uid_t
    ) throws(SourceFault) -> UInt64 {
        var status = stat()
        do {
            try walk.withFile { folder, name throws(SystemError) in
                try systemCall { fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) }
                // Who owns it has what its mode says, whatever lists of rights there are besides.
                if status.st_uid == user, status.st_mode & S_IRUSR != 0 { return }
                // Asked, not tried: opening some 10,000 files to close them again takes longer. Anything but a no is no
                // answer (some containers forbid the call), and is left to the reading.
                if faccessat(folder, name, R_OK, AT_EACCESS | AT_SYMLINK_NOFOLLOW) != 0, errno == EACCES { throw .last }
            }
        } catch {
            throw walk.fault(walk.display(path), error)
        }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .special(walk.display(path), mode: status.st_mode) }
        return UInt64(max(0, status.st_size))
    }
}
