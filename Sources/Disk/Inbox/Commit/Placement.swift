import CLinuxShims
import Glibc
package import SystemCalls

/// How something is moved to another folder of the same file system without replacing anything.
package enum Placement: Sendable {
    /// By a rename that refuses to replace.
    case byRename
    /// By a hard link: for file systems whose rename cannot refuse (some network and FUSE file systems).
    case byLink
    /// By a look and a plain rename: for file systems that have no hard links either, such as FAT and exFAT by FUSE.
    case byLooking

    /// - Throws: `EEXIST` if the new name is taken.
    package func move(
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
            } catch  where Self.meansUnsupported(error) {
                // If the flag was not the cause, the other way fails with the same error.
                try Self.byLink.move(name, isFolder: isFolder, from: folder, to: newName, in: newFolder)
            }
        case .byLink:
            do throws(SystemError) {
                if isFolder { throw SystemError(EPERM) }
                try systemCall { linkat(folder, name, newFolder, newName, 0) }
                // If this fails, the next sweep removes the name from the staging folder.
                _ = unlinkat(folder, name, 0)
            } catch  where Self.meansUnsupported(error) {
                try Self.byLooking.move(name, isFolder: isFolder, from: folder, to: newName, in: newFolder)
            }
        case .byLooking:
            try Self.moveIfFree(name, from: folder, to: newName, in: newFolder)
        }
    }

    /// Swaps two entries in one step.
    /// - Returns: false if the file system cannot.
    func exchange(
        _ name: String, in folder: Int32, with otherName: String, in otherFolder: Int32
    ) throws(SystemError) -> Bool {
        guard case .byRename = self else { return false }
        do {
            try systemCall { CLinuxShims_renameat2_exchange(folder, name, otherFolder, otherName) }
            return true
        } catch  where Self.meansUnsupported(error) {
            return false
        }
    }

    private static func meansUnsupported(_ error: SystemError) -> Bool {
        [EINVAL, ENOSYS, EPERM, EOPNOTSUPP, EMLINK].contains(error.number)
    }

    private static func moveIfFree(
        _ name: String,
        from folder: Int32,
        to newName: String,
        in newFolder: Int32
    ) throws(SystemError) {
        // Nothing is created to claim the name first: a crash would leave it in the Inbox. A folder that another program
        // creates between the two calls is not replaced either, unless it is empty. A file is.
        var status = stat()
        if fstatat(newFolder, newName, &status, AT_SYMLINK_NOFOLLOW) == 0 { throw SystemError(EEXIST) }
        do {
            try systemCall { renameat(folder, name, newFolder, newName) }
        } catch {
            throw [ENOTEMPTY, ENOTDIR, EISDIR, EEXIST].contains(error.number) ? SystemError(EEXIST) : error
        }
    }
}
