import Glibc

/// Makes a folder and those above it if they are missing, each open to its owner only.
package enum FolderMaking {
    /// - Parameter path: absolute; links in it are followed, because it is the user's own.
    /// - Throws: the kernel's error; `ENOTDIR` if a part of the path is no folder.
    package static func make(_ path: String) throws(SystemError) {
        var missing: [String] = []
        var current = path
        while mkdir(current, 0o700) != 0 {
            let error = SystemError.last
            if error.number == EEXIST {
                var status = stat()
                if stat(current, &status) == 0, status.st_mode & S_IFMT != S_IFDIR { throw SystemError(ENOTDIR) }
                break
            }
            guard error.number == ENOENT, let parent = parent(of: current) else { throw error }
            missing.append(current)
            current = parent
        }
        sync(parent(of: current))
        for path in missing.reversed() {
            guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw .last }
            sync(parent(of: path))
        }
    }

    /// `path` without its last name, nil at the root.
    private static func parent(of path: String) -> String? {
        var end = path.utf8.endIndex
        while end > path.utf8.startIndex, path.utf8[path.utf8.index(before: end)] == UInt8(ascii: "/") {
            end = path.utf8.index(before: end)
        }
        guard let slash = path.utf8[..<end].lastIndex(of: UInt8(ascii: "/")) else { return nil }
        return slash == path.utf8.startIndex ? "/" : String(path[..<slash])
    }

    /// A crash that removes a folder also removes the files stored in it. An error here shows up later, when a file is
    /// stored.
    private static func sync(_ path: String?) {
        guard let path else { return }
        let raw = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard raw >= 0 else { return }
        let folder = FileDescriptor(owning: raw)
        fsync(folder.raw)
    }
}
