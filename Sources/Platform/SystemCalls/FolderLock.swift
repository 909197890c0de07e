import Glibc

/// The right to change the files of a folder, held by one process and one task of it at a time.
///
/// On the folder: a lock on a file itself would be lost with it when it is replaced. The kernel lets go of it however
/// this process ends.
package struct FolderLock: ~Copyable {
    private let descriptor: FileDescriptor

    private init(_ descriptor: consuming FileDescriptor) {
        self.descriptor = descriptor
    }

    /// Makes the folder (0700, and those above it) where it is missing, and waits while another one has the right.
    ///
    /// - Throws: what the kernel said; `EBUSY` when it was not to be had in ten seconds. Whoever has it needs some
    ///   milliseconds, and one that has been stopped is not to stop the others.
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

    /// Gives the right back. It goes back by itself too; a call says where.
    package consuming func release() {}

    /// What cannot be made is told when the folder is opened.
    private static func makeFolders(_ folder: String) {
        if mkdir(folder, 0o700) == 0 || errno != ENOENT { return }
        let parent = SmallFile.folder(of: folder)
        guard parent != folder else { return }
        makeFolders(parent)
        mkdir(folder, 0o700)
    }
}
