import CLinuxShims
import Glibc
import SystemCalls

/// How something is moved from one folder to another of the same file system without replacing anything.
enum Placement: Sendable {
    /// By a rename that refuses to replace.
    case byRename
    /// By what POSIX has: for file systems whose rename cannot refuse (some network and FUSE file systems).
    case byLink

    /// - Throws: `EEXIST` where the new name is taken.
    func move(
        _ name: String,
        isFolder: Bool,
        from folder: Int32,
        to newName: String,
        in newFolder: Int32
    ) throws(SystemError) {
        switch self {
        case .byRename:
            do {
                try systemCall { CLinuxShims_renameat2_noreplace(folder, name, newFolder, newName) }
            } catch  where [EINVAL, ENOSYS, EPERM, EOPNOTSUPP].contains(error.number) {
                // If that was not about the flag, the other way meets it again.
                try Self.byLink.move(name, isFolder: isFolder, from: folder, to: newName, in: newFolder)
            }
        case .byLink:
            if isFolder {
                try Self.moveFolder(name, from: folder, to: newName, in: newFolder)
            } else {
                try systemCall { linkat(folder, name, newFolder, newName, 0) }
                // The name in the staging folder goes with the next sweep at the latest.
                _ = unlinkat(folder, name, 0)
            }
        }
    }

    private static func moveFolder(
        _ name: String,
        from folder: Int32,
        to newName: String,
        in newFolder: Int32
    ) throws(SystemError) {
        // No folder is made to claim the name first: a crash would leave it in the Inbox. What may come there between the
        // two calls is never replaced either, unless it is a folder with nothing in it.
        var status = stat()
        if fstatat(newFolder, newName, &status, AT_SYMLINK_NOFOLLOW) == 0 { throw SystemError(EEXIST) }
        do {
            try systemCall { renameat(folder, name, newFolder, newName) }
        } catch {
            throw [ENOTEMPTY, ENOTDIR].contains(error.number) ? SystemError(EEXIST) : error
        }
    }
}
