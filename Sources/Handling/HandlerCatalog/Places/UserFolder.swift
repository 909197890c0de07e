import CLinuxShims
import Foundation
import SystemCalls

/// The folder with the user's own bundles, used while a bundle is made or removed in it.
struct UserFolder {
    /// Absolute.
    let path: String

    /// Hidden, so that no reader takes the folder for a bundle. In the same folder, so that it can be renamed.
    private static let workName = ".work."

    /// Makes the folder if it is missing. No other process makes or removes bundles while the result is open. Removes
    /// working folders that a crash left behind.
    ///
    /// - Throws: `CatalogError` `storage`.
    func locked() throws(CatalogError) -> FileDescriptor {
        do {
            return try lockedAndSwept()
        } catch {
            throw .storage(path, error)
        }
    }

    private func lockedAndSwept() throws(SystemError) -> FileDescriptor {
        try? FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let lock = try FileDescriptor.opening(path, O_RDONLY | O_DIRECTORY)
        try systemCall { flock(lock.raw, LOCK_EX) }
        for name in (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        where name.hasPrefix(Self.workName) {
            try? FileManager.default.removeItem(atPath: path + "/" + name)
        }
        return lock
    }

    /// Makes an empty folder, 0700, under a working name.
    ///
    /// - Throws: the kernel's error.
    /// - Returns: its absolute path.
    func makeWorkFolder() throws(SystemError) -> String {
        var template = Array((path + "/" + Self.workName + "XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else { throw .last }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Gives a finished folder its final name, if the name is free.
    ///
    /// - Throws: the kernel's error; `EEXIST` if the name is taken.
    func place(_ work: String, at target: String) throws(SystemError) {
        if CLinuxShims_renameat2_noreplace(AT_FDCWD, work, AT_FDCWD, target) != 0 {
            // EINVAL: the file system cannot refuse to replace. The lock keeps other processes from using the name now.
            guard errno == EINVAL else { throw .last }
            var status = stat()
            guard lstat(target, &status) != 0 else { throw SystemError(EEXIST) }
            try systemCall { rename(work, target) }
        }
        try SmallFile.syncFolder(path)
    }
}
