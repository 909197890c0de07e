import CLinuxShims
import Glibc
import Sharing
import SystemCalls

/// The names in one folder, sorted by their bytes.
///
/// They are stored in a single buffer: a folder of a million files costs some 30 bytes a name.
struct FolderNames {
    /// The kind of an entry according to its folder. The entry may have been replaced since.
    enum Kind: UInt8 {
        case file
        case folder
        case link
        /// A device, a named pipe, a socket.
        case special
        /// The file system does not report the kind.
        case unknown
    }

    private struct Entry {
        /// The offset of the name in `bytes`.
        var start: UInt32
        var kind: Kind
    }

    /// The names, each followed by a NUL.
    private var bytes: [UInt8] = []
    private var entries: [Entry] = []

    var count: Int { entries.count }

    /// Reads all names except `.` and `..`.
    ///
    /// - Parameter folder: open for reading; stays open.
    /// - Throws: `EFBIG` if there are more names than one item may have.
    init(of folder: Int32) throws(SystemError) {
        let raw = try systemCall { openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        guard let stream = fdopendir(raw) else {
            let error = SystemError.last
            close(raw)
            throw error
        }
        defer { closedir(stream) }
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                if errno != 0 { throw .last }
                break
            }
            guard let name = CLinuxShims_dirent_name(entry) else { continue }
            if strcmp(name, ".") == 0 || strcmp(name, "..") == 0 { continue }
            guard let start = UInt32(exactly: bytes.count), UInt64(entries.count) < Limits.entriesPerItem else {
                throw SystemError(EFBIG)
            }
            entries.append(Entry(start: start, kind: Kind(type: entry.pointee.d_type)))
            bytes.append(contentsOf: UnsafeRawBufferPointer(start: name, count: strlen(name) + 1))
        }
        sort()
    }

    private mutating func sort() {
        bytes.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress?.assumingMemoryBound(to: CChar.self) else { return }
            entries.sort { strcmp(base + Int($0.start), base + Int($1.start)) < 0 }
        }
    }

    func kind(at index: Int) -> Kind { entries[index].kind }

    /// Calls `body` with the name, which ends with a NUL and is valid only during the call.
    func withName<Result, Failure: Error>(
        at index: Int,
        _ body: (UnsafePointer<CChar>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try bytes.withUnsafeBufferPointer { bytes throws(Failure) in
            // Each index has a name, so the buffer is not empty.
            let name = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[Int(entries[index].start)...])
            return try body(name.assumingMemoryBound(to: CChar.self).baseAddress.unsafelyUnwrapped)
        }
    }

    /// The name as text; nil if it is not UTF-8.
    func text(at index: Int) -> String? {
        withName(at: index) { String(validatingCString: $0) }
    }

    /// The name for messages: invalid UTF-8 becomes U+FFFD.
    func displayText(at index: Int) -> String {
        withName(at: index) { String(cString: $0) }
    }
}

extension FolderNames.Kind {
    /// - Parameter type: `d_type` of readdir(3).
    fileprivate init(type: UInt8) {
        switch Int(type) {
        case Int(DT_REG): self = .file
        case Int(DT_DIR): self = .folder
        case Int(DT_LNK): self = .link
        case Int(DT_UNKNOWN): self = .unknown
        default: self = .special
        }
    }

    /// - Parameter mode: `st_mode` of stat(2).
    init(mode: mode_t) {
        switch mode & S_IFMT {
        case S_IFREG: self = .file
        case S_IFDIR: self = .folder
        case S_IFLNK: self = .link
        default: self = .special
        }
    }
}
