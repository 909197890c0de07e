import CLinuxShims
import Glibc
import Sharing
import SystemCalls

/// How paths below a folder are opened so that no link and no `..` leads out of it.
enum BeneathOpening: Sendable {
    /// By one call of openat2(2), if the kernel has it (Linux 5.6).
    case inOneCall
    /// Name by name, each without following links.
    case nameByName

    /// Opens `path`, names joined by `/` with none of them `..`, below `folder`.
    ///
    /// - Throws: `ELOOP` or `ENOTDIR` if a link or a file is in the way, `EXDEV` if the path leads out.
    func open(
        _ path: String,
        below folder: Int32,
        flags: Int32,
        mode: mode_t = 0
    ) throws(SystemError) -> FileDescriptor {
        let flags = flags | O_NOFOLLOW | O_CLOEXEC
        switch self {
        case .inOneCall:
            do {
                return try Self.openInOneCall(path, below: folder, flags: flags, mode: mode)
            } catch  where error.number == ENOSYS || error.number == EPERM {
                // A container's filter of system calls answers EPERM to calls that it does not know. If the error has
                // another cause, the other way fails with it again.
                return try Self.openNameByName(path, below: folder, flags: flags, mode: mode)
            }
        case .nameByName:
            return try Self.openNameByName(path, below: folder, flags: flags, mode: mode)
        }
    }

    private static func openInOneCall(
        _ path: String,
        below folder: Int32,
        flags: Int32,
        mode: mode_t
    ) throws(SystemError) -> FileDescriptor {
        // EAGAIN: something was renamed meanwhile and the kernel could not be sure. The number of tries is bounded.
        var triesLeft = 32
        while true {
            do {
                let raw = try systemCall { CLinuxShims_openat2_beneath(folder, path, flags, mode) }
                return FileDescriptor(owning: raw)
            } catch  where error.number == EAGAIN && triesLeft > 0 {
                triesLeft -= 1
            }
        }
    }

    private static func openNameByName(
        _ path: String,
        below folder: Int32,
        flags: Int32,
        mode: mode_t
    ) throws(SystemError) -> FileDescriptor {
        var names = PathText.names(in: path, keepingEmpty: true).map(String.init)
        guard let last = names.popLast(), !last.isEmpty else { throw SystemError(ENOENT) }
        var holder: OpenFolder?
        for name in names {
            if name.isEmpty || name == ".." { throw SystemError(EXDEV) }
            let raw = try systemCall {
                openat(holder?.raw ?? folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            }
            holder = OpenFolder(FileDescriptor(owning: raw))
        }
        if last == ".." { throw SystemError(EXDEV) }
        return FileDescriptor(owning: try systemCall { openat(holder?.raw ?? folder, last, flags, mode) })
    }
}
