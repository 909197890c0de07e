package import Glibc

/// One open file or folder, closed when the value ends.
package struct FileDescriptor: ~Copyable {
    /// Valid as long as this value is; a borrower never closes it.
    package let raw: Int32

    /// - Parameter raw: an open descriptor that no other code closes.
    package init(owning raw: Int32) {
        self.raw = raw
    }

    /// Opens a path, close-on-exec.
    ///
    /// - Throws: the error of open(2).
    package static func opening(
        _ path: String,
        _ flags: Int32,
        mode: mode_t = 0
    ) throws(SystemError) -> FileDescriptor {
        FileDescriptor(owning: try systemCall { Glibc.open(path, flags | O_CLOEXEC, mode) })
    }

    /// Another descriptor of the same opening, close-on-exec: for a descriptor that other code may close at any time,
    /// after which its number may be another file's.
    ///
    /// - Throws: if there are no descriptors left, or it is closed already.
    package static func copy(of raw: Int32) throws(SystemError) -> FileDescriptor {
        FileDescriptor(owning: try systemCall { fcntl(raw, F_DUPFD_CLOEXEC, 0) })
    }

    deinit {
        _ = Glibc.close(raw)
    }

    /// - Returns: the descriptor, which is now the caller's to close.
    package consuming func release() -> Int32 {
        let raw = raw
        discard self
        return raw
    }

    /// Closes it and reports errors: network file systems may report a full disk only here.
    package consuming func close() throws(SystemError) {
        let raw = raw
        discard self
        // Not tried again after EINTR: Linux has closed the descriptor by then, and its number may be in use again.
        guard Glibc.close(raw) == 0 || errno == EINTR else { throw SystemError.last }
    }
}

/// A folder that several users of it keep open together.
package final class OpenFolder: Sendable {
    private let descriptor: FileDescriptor

    package init(_ descriptor: consuming FileDescriptor) {
        self.descriptor = descriptor
    }

    /// Valid as long as this folder is referred to.
    package var raw: Int32 { descriptor.raw }

    /// After this the names in the folder are on the disk, as far as its file system can do that for folders.
    /// - Throws: the fault of the disk.
    package func syncNames() throws(SystemError) {
        do {
            try systemCall { fsync(raw) }
        } catch  where error.number == EINVAL || error.number == ENOTSUP {
            // Some file systems cannot sync folders.
        }
    }
}
