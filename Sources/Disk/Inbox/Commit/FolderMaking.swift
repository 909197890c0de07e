import Glibc
import SystemCalls

extension FolderMaking {
    /// Syncs the real parent of a folder.
    static func syncParent(of folder: OpenFolder) {
        let raw = openat(folder.raw, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard raw >= 0 else { return }
        let parent = FileDescriptor(owning: raw)
        fsync(parent.raw)
    }
}
