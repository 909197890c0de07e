import Glibc
import Sharing
import SystemCalls

/// The amounts in a folder: counted before the offer, and again during sending.
struct TreeTotals: Equatable {
    /// Files, folders and links, the folder itself included.
    var entries: UInt64 = 1
    /// Bytes of all files.
    var bytes: UInt64 = 0
    /// Bytes of the largest file.
    var largestFile: UInt64 = 0

    /// - Returns: false if the item would exceed the limits of one item.
    mutating func addEntry() -> Bool {
        entries += 1
        return entries <= Limits.entriesPerItem
    }

    /// - Returns: false if the item would exceed the limits of one item.
    mutating func addFile(bytes count: UInt64) -> Bool {
        let (sum, overflow) = bytes.addingReportingOverflow(count)
        bytes = overflow ? .max : sum
        largestFile = max(largestFile, count)
        return addEntry() && bytes <= Limits.itemBytes
    }

    /// Counts the entry that a walk has reached.
    /// - Returns: false if the item would exceed the limits of one item.
    /// - Throws: if the entry cannot be sent.
    mutating func count(_ step: FolderWalk.Step, of walk: FolderWalk, for user: uid_t) throws(SourceError) -> Bool {
        switch step {
        case .folder, .link: addEntry()
        case .file(let path): addFile(bytes: try Self.size(of: path, in: walk, for: user))
        case .folderClosed: true
        }
    }

    static func tooMuch(_ origin: String) -> SourceError {
        .at(
            origin,
            .unreadable,
            "is more than can be sent as one item (\(Limits.entriesPerItem) entries, "
                + "\(ByteCount.text(Limits.itemBytes))); send it in parts"
        )
    }

    /// - Parameter user: the reading user.
    private static func size(
        of path: SafeRelativePath, in walk: FolderWalk, for user: uid_t
    ) throws(SourceError) -> UInt64 {
        var status = stat()
        do {
            try walk.withFile { folder, name throws(SystemError) in
                try systemCall { fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) }
                // The mode alone gives the owner's rights, also beside access control lists.
                if status.st_uid == user, status.st_mode & S_IRUSR != 0 { return }
                // faccessat is called because opening some 10,000 files takes longer. Only EACCES counts as an answer:
                // some containers forbid the call. In other cases the reading decides.
                if faccessat(folder, name, R_OK, AT_EACCESS | AT_SYMLINK_NOFOLLOW) != 0, errno == EACCES { throw .last }
            }
        } catch {
            throw walk.fault(walk.display(path), error)
        }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .special(walk.display(path), mode: status.st_mode) }
        return UInt64(max(0, status.st_size))
    }
}
