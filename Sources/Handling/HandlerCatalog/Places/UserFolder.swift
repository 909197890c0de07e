import CLinuxShims
import Foundation
import SystemCalls

/// The folder with the user's own bundles, while one is made or removed in it.
struct UserFolder {
    /// Absolute.
    let path: String

    /// A hidden name, so that nobody takes it for a bundle; in this folder, so that it can be renamed.
    private static let workName = ".work."

    /// Makes the folder where it is missing, and keeps others from making or removing bundles as long as the result is
    /// open. What lies about under a working name then was left behind by a crash, and goes.
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

    /// An empty folder, 0700, under a working name.
    ///
    /// - Throws: what the kernel said.
    /// - Returns: its absolute path.
    func makeWorkFolder() throws(SystemError) -> String {
        var template = Array((path + "/" + Self.workName + "XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else { throw .last }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Gives a finished folder its name, which nobody may have yet, for good.
    ///
    /// - Throws: what the kernel said; `EEXIST` where the name is taken.
    func place(_ work: String, at target: String) throws(SystemError) {
        if CLinuxShims_renameat2_noreplace(AT_FDCWD, work, AT_FDCWD, target) != 0 {
            // EINVAL: a file system that cannot refuse to replace. Nobody else does it at this time.
            guard errno == EINVAL else { throw .last }
            var status = stat()
            guard lstat(target, &status) != 0 else { throw SystemError(EEXIST) }
            try systemCall { rename(work, target) }
        }
        try SmallFile.syncFolder(path)
    }
}
