import Glibc
import SystemCalls

/// The parts of absolute paths.
enum Paths {
    /// The path without its last name; `/` for `/`.
    static func folder(of path: String) -> String { SmallFile.folder(of: path) }

    /// The last name.
    static func name(of path: String) -> String { SmallFile.name(of: path) }

    /// The path without links, `.` and `..`.
    static func real(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(validatingCString: resolved)
    }

    /// Whether there is anything; links are not followed.
    static func isThere(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }

    static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }
}
