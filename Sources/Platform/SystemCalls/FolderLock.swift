import Glibc

/// The right to change the files of a folder, held by one process and one task of it at a time.
///
/// The lock is on the folder: a lock on a file would be lost when the file is replaced. The kernel releases it when
/// this process ends.
package struct FolderLock: ~Copyable {
    private let descriptor: FileDescriptor

    private init(_ descriptor: consuming FileDescriptor) {
        self.descriptor = descriptor
    }

    /// Makes the folder (0700, and those above it) if it is missing, and waits while another task holds the lock.
    ///
    /// - Throws: the kernel's error; `EBUSY` if the lock is not free within ten seconds. A holder needs some
    ///   milliseconds; a stopped holder must not block the others.
    package static func taking(_ folder: String) throws(SystemError) -> FolderLock {
        makeFolders(folder)
        let descriptor = try FileDescriptor.opening(folder, O_RDONLY | O_DIRECTORY)
        var nap = timespec(tv_sec: 0, tv_nsec: 1_000_000)
        for _ in 0..<(10_000 / Int(nap.tv_nsec / 1_000_000)) {
            if flock(descriptor.raw, LOCK_EX | LOCK_NB) == 0 { return FolderLock(descriptor) }
            guard errno == EWOULDBLOCK || errno == EINTR else { throw .last }
            nanosleep(&nap, nil)
        }
        throw SystemError(EBUSY)
    }

    /// Releases the lock. It is also released by itself; a call shows the place.
    package consuming func release() {}

    /// Errors are reported when the folder is opened.
    private static func makeFolders(_ folder: String) {
        if mkdir(folder, 0o700) == 0 || errno != ENOENT { return }
        let parent = SmallFile.folder(of: folder)
        guard parent != folder else { return }
        makeFolders(parent)
        mkdir(folder, 0o700)
    }
}
