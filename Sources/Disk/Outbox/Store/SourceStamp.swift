import CLinuxShims
import Glibc
import SystemCalls

/// The state of a file, or of a folder with its contents, as far as it is visible without reading files.
package struct SourceStamp: Codable, Sendable, Equatable {
    /// Bytes of all files.
    package var bytes: Int64
    /// Files, folders and links; 1 for a file.
    package var entries: Int
    /// The latest time of a change: nanoseconds since 1970-01-01 UTC. A folder's time is that of the last name in it
    /// that was added, removed or changed.
    package var modified: Int64

    /// The maximum depth; no path can be deeper.
    private static let deepest = 2_048

    /// Examines the file or folder at a path. A link there is followed, links in a folder are not.
    ///
    /// - Throws: the kernel's error; `ENOENT` if the path does not exist.
    init(of path: String) throws(SystemError) {
        self.init(bytes: 0, entries: 0, modified: .min)
        var status = stat()
        try systemCall { stat(path, &status) }
        count(status)
        guard status.st_mode & S_IFMT == S_IFDIR else { return }
        try add(FileDescriptor.opening(path, O_RDONLY | O_DIRECTORY), depth: 0)
    }

    private init(bytes: Int64, entries: Int, modified: Int64) {
        (self.bytes, self.entries, self.modified) = (bytes, entries, modified)
    }

    private mutating func count(_ status: stat) {
        entries += 1
        if status.st_mode & S_IFMT == S_IFREG { bytes &+= Int64(status.st_size) }
        let time = Int64(status.st_mtim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_mtim.tv_nsec)
        modified = max(modified, time)
    }

    private mutating func add(_ folder: consuming FileDescriptor, depth: Int) throws(SystemError) {
        guard depth < Self.deepest else { throw SystemError(ELOOP) }
        // The stream owns the copy.
        let copy = try systemCall { dup(folder.raw) }
        guard let stream = fdopendir(copy) else {
            let error = SystemError.last
            Glibc.close(copy)
            throw error
        }
        defer { closedir(stream) }
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                if errno != 0 { throw .last }
                return
            }
            guard let name = CLinuxShims_dirent_name(entry), !Self.isDots(name) else { continue }
            var status = stat()
            try systemCall { fstatat(folder.raw, name, &status, AT_SYMLINK_NOFOLLOW) }
            count(status)
            guard status.st_mode & S_IFMT == S_IFDIR else { continue }
            let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
            let inner = try systemCall { openat(folder.raw, name, flags) }
            try add(FileDescriptor(owning: inner), depth: depth + 1)
        }
    }

    private static func isDots(_ name: UnsafePointer<CChar>) -> Bool {
        let dot = CChar(UInt8(ascii: "."))
        return name[0] == dot && (name[1] == 0 || name[1] == dot && name[2] == 0)
    }
}
