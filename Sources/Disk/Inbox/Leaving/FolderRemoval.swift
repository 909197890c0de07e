import Glibc
import SystemCalls

/// Removes an entry of a folder of ours, however deep it is. Links are not followed; an entry that cannot be removed
/// stays.
///
/// Walking down a foreign tree takes a descriptor or a longer path for each level. Instead, a folder that is not empty
/// is moved up into the base under a fresh name and removed there: only one folder is open at any time.
struct FolderRemoval {
    /// The folder in which entries are removed.
    let base: Int32
    /// Makes a name that is not taken in the base.
    let freshName: () -> String

    private enum Step {
        case gone
        case stuck
        /// A folder in it was moved into the base under this name and must be removed first.
        case movedOut(String)
    }

    func remove(_ name: String) {
        // Each entry is in the base and was found in the entry before it, so the count never exceeds the tree's levels.
        var pending = [name]
        while let current = pending.last {
            switch clear(current) {
            case .gone, .stuck: pending.removeLast()
            case .movedOut(let inner): pending.append(inner)
            }
        }
    }

    private func clear(_ name: String) -> Step {
        switch Self.unlink(name, in: base) {
        case .gone: return .gone
        case .stuck: return .stuck
        case .folder: break
        }
        let raw = openat(base, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard raw >= 0 else { return .stuck }
        let folder = FileDescriptor(owning: raw)
        while true {
            var removed = 0
            guard var contents = try? FolderContents.make(of: folder.raw) else { return .stuck }
            while let inner = try? contents.next() {
                switch Self.unlink(inner, in: folder.raw) {
                case .gone:
                    removed += 1
                case .stuck:
                    continue
                case .folder:
                    let fresh = freshName()
                    if renameat(folder.raw, inner, base, fresh) == 0 { return .movedOut(fresh) }
                }
            }
            if unlinkat(base, name, AT_REMOVEDIR) == 0 { return .gone }
            // A file system may skip names while others are being removed: read again while that helps.
            if removed == 0 { return .stuck }
        }
    }

    private enum Unlinked {
        case gone
        case stuck
        /// It is a folder that is not empty.
        case folder
    }

    private static func unlink(_ name: UnsafePointer<CChar>, in folder: Int32) -> Unlinked {
        if unlinkat(folder, name, 0) == 0 || errno == ENOENT { return .gone }
        // POSIX specifies EPERM for folders; Linux returns EISDIR.
        guard errno == EISDIR || errno == EPERM else { return .stuck }
        if unlinkat(folder, name, AT_REMOVEDIR) == 0 { return .gone }
        return errno == ENOTEMPTY || errno == EEXIST ? .folder : .stuck
    }
}
