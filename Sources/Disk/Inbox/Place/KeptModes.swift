import Glibc
import SystemCalls

/// Whether a disk keeps the executable bits of files. On NTFS, FAT, exFAT and many shares every file has one mode, which
/// the mount decides, and chmod(2) changes nothing.
enum KeptModes {
    /// Tries it with a file, which is removed again.
    ///
    /// - Parameters:
    ///   - name: of the file; nothing in the folder has it.
    /// - Returns: true also if nothing can be tried there: then nothing can be stored either.
    static func areKept(in folder: Int32, trying name: String) -> Bool {
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let raw = openat(folder, name, flags, 0o600)
        guard raw >= 0 else { return true }
        let file = FileDescriptor(owning: raw)
        defer { unlinkat(folder, name, 0) }
        return isExecutable(file.raw) == false && fchmod(file.raw, 0o700) == 0 && isExecutable(file.raw) == true
    }

    /// Looks at the mark of an Inbox, which nobody makes executable: for programs that write nothing there. It does not
    /// find a disk on which no file is executable, but there the bits are of no effect anyway.
    ///
    /// - Parameter inbox: path of the Inbox.
    static func areKept(inInboxAt inbox: String) -> Bool {
        var status = stat()
        return lstat("\(inbox)/\(InboxMark.name)", &status) != 0 || status.st_mode & 0o111 == 0
    }

    private static func isExecutable(_ file: Int32) -> Bool? {
        var status = stat()
        return fstat(file, &status) == 0 ? status.st_mode & 0o111 != 0 : nil
    }
}
