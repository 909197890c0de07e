import Glibc
package import Sharing
package import SystemCalls

/// Looks at the folder of an Inbox and changes nothing: for programs that are not its receiver.
package enum InboxLook {
    /// Whether the folder at a path is another one than the Inbox that a receiver used there, by the rules of
    /// `InboxRecognition`. A missing folder is another one if it cannot be created where the Inbox was.
    package static func isAnother(at path: String, than known: KnownInbox) -> Bool {
        var status = stat()
        guard let folder = try? FileDescriptor.opening(path, O_RDONLY | O_DIRECTORY) else {
            return stat(SmallFile.folder(of: path), &status) == 0 && UInt64(status.st_dev) != known.folder.device
        }
        guard fstat(folder.raw, &status) == 0 else { return true }
        let identity = FileIdentity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
        let mark = InboxMark.read(in: OpenFolder(folder))
        return mark != known.id && !(mark == nil && identity == known.folder)
    }

    /// Why nothing can be written into a folder; nil if it can.
    ///
    /// A file system that became read-only after a fault still reports itself as writable: only a write shows that it
    /// is not. The file that is written has no name.
    package static func writeFault(at path: String) -> SystemError? {
        do throws(SystemError) {
            try systemCall { access(path, W_OK | X_OK) }
            // O_TMPFILE of the kernel's headers, which is a macro of several numbers.
            let unnamed: Int32 = 0o20_000_000 | O_DIRECTORY
            _ = try FileDescriptor.opening(path, unnamed | O_WRONLY, mode: 0o600)
        } catch {
            // File systems without unnamed files; and a full disk, which its figures show better.
            return [EOPNOTSUPP, EISDIR, EINVAL, ENOSPC, EDQUOT].contains(error.number) ? nil : error
        }
        return nil
    }
}
