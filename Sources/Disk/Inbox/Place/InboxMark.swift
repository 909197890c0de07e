import Glibc
import Sharing
import SystemCalls

/// The file in an Inbox that holds its id. It distinguishes the Inbox from the empty mount point of an unmounted disk.
enum InboxMark {
    static let name = ".waft-inbox"
    private static let digits = 32
    /// Bytes to read: more than a valid mark has, so that a longer file is refused.
    private static let maximumBytes = 64

    /// 128 random bits.
    static func newID() -> String {
        var numbers = SystemRandomNumberGenerator()
        return (0..<digits).map { _ in String(Int.random(in: 0..<16, using: &numbers), radix: 16) }.joined()
    }

    /// - Returns: nil if the mark is missing or invalid.
    static func read(in folder: OpenFolder) -> String? {
        let raw = openat(folder.raw, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard raw >= 0 else { return nil }
        let file = FileDescriptor(owning: raw)
        let text = withUnsafeTemporaryAllocation(byteCount: maximumBytes, alignment: 1) { buffer in
            let count = max(0, pread(file.raw, buffer.baseAddress, buffer.count, 0))
            return String(decoding: buffer[..<count], as: UTF8.self)
        }
        guard text.utf8.last == UInt8(ascii: "\n") else { return nil }
        let id = text.dropLast()
        return id.utf8.count == digits && id.utf8.allSatisfy { "0123456789abcdef".utf8.contains($0) } ? String(id) : nil
    }

    /// Replaces the mark; it is on the disk when this returns.
    static func write(_ id: String, in folder: OpenFolder) throws(SystemError) {
        // A folder of that name is not ours to remove.
        if unlinkat(folder.raw, name, 0) != 0, errno != ENOENT { throw .last }
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let file = FileDescriptor(owning: try systemCall { openat(folder.raw, name, flags, 0o444) })
        // The umask has reduced the mode given to `openat`.
        fchmod(file.raw, 0o444)
        try SmallFile.write(Array("\(id)\n".utf8), to: file.raw)
        try systemCall { fsync(file.raw) }
        // Fails on file systems that cannot sync folders; that is no error.
        fsync(folder.raw)
    }

    static func stamp(in folder: OpenFolder) -> FileStamp? {
        var status = stat()
        return fstatat(folder.raw, name, &status, AT_SYMLINK_NOFOLLOW) == 0 ? FileStamp(status) : nil
    }
}
