import CLinuxShims
import Glibc
import SystemCalls

/// The names in a folder, one by one, in the order of the file system.
struct FolderContents: ~Copyable {
    private let stream: OpaquePointer

    private init(owning stream: OpaquePointer) {
        self.stream = stream
    }

    deinit {
        closedir(stream)
    }

    /// - Parameter folder: stays open; its own position does not move.
    static func make(of folder: Int32) throws(SystemError) -> FolderContents {
        let raw = try systemCall { openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        guard let stream = fdopendir(raw) else {
            let error = SystemError.last
            close(raw)
            throw error
        }
        return FolderContents(owning: stream)
    }

    /// The next name, without `.` and `..`; nil after the last. Valid until the next call.
    mutating func next() throws(SystemError) -> UnsafePointer<CChar>? {
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                if errno != 0 { throw .last }
                return nil
            }
            guard let name = CLinuxShims_dirent_name(entry) else { continue }
            if strcmp(name, ".") != 0, strcmp(name, "..") != 0 { return name }
        }
    }
}
