import CLinuxShims
import Glibc

/// The file or folder of a rule, opened with O_PATH and closed on deinit.
struct OpenPath: ~Copyable {
    /// Owned.
    let file: Int32
    /// Path without links. It is that of the open file, so that nothing can change between the check and the rule.
    let path: String

    private init(owning file: Int32, path: String) {
        self.file = file
        self.path = path
    }

    deinit { close(file) }

    static func make(_ path: String) throws(SandboxError) -> OpenPath {
        let file = CLinuxShims_open_place(path)
        guard file >= 0 else { throw .notRestricted("\(path): \(SandboxError.lastCause)") }
        guard let real = realpath("/proc/self/fd/\(file)", nil) else {
            let cause = SandboxError.lastCause
            close(file)
            throw .notRestricted("\(path): \(cause)")
        }
        defer { free(real) }
        return OpenPath(owning: file, path: String(cString: real))
    }

    /// Whether the other is this place or inside it.
    func contains(_ other: borrowing OpenPath) -> Bool { contains(other.path) }

    /// - Parameter other: a path without links.
    func contains(_ other: String) -> Bool {
        other == path || path == "/" || other.utf8.starts(with: (path + "/").utf8)
    }

    func isIn(_ folder: String) -> Bool {
        path == folder || folder == "/" || path.utf8.starts(with: (folder + "/").utf8)
    }

    var isFolder: Bool {
        var status = stat()
        return fstat(file, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }
}
