private import Glibc

/// One `mime.cache`: the shared MIME database as `update-mime-database` writes it, version 1.1 or 1.2, big-endian
/// (shared-mime-info, "The mime.cache files").
///
/// Held in memory, not mapped: a file that is written over in place would shrink under a mapping, and the next look at it
/// would end the program; the copy costs 0.15 MB and less time than one check. Nothing in it is believed: every offset is
/// checked where it is used, and what leads outside is as if it were not there.
struct MIMECache: Sendable {
    enum Limits {
        /// Bytes of a file; a larger one is not read. The distributions' have 150 KB.
        static let byteCount = 16 << 20

        /// Bytes of a MIME type.
        static let nameByteCount = 255

        /// Matchlets below one another.
        static let depth = 16

        /// Positions tried and bytes compared in one search, so that a damaged file cannot keep us. The distributions'
        /// needs less than 50,000 for most content, and 560,000 for content made to cost as much as it can.
        static let work = 2_000_000

        /// Rules that match with the same priority, and steps from a type to what it is a subclass of.
        static let ambiguity = 16
    }

    /// Where the lists are that the header points to, by their place in it.
    enum List: Int {
        case aliases = 4
        case parents = 8
        case magic = 24
    }

    let bytes: [UInt8]

    /// nil where this is no cache of a known version.
    init?(bytes: [UInt8]) {
        guard bytes.count <= Limits.byteCount, bytes.count >= 40, bytes[0] == 0, bytes[1] == 1, bytes[2] == 0,
            (1...2).contains(bytes[3])
        else { return nil }
        self.bytes = bytes
    }

    /// nil where there is no such file, it cannot be read, or it is no cache of a known version.
    init?(path: String) {
        // Without waiting, should somebody have put a pipe there.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            status.st_size > 0, status.st_size <= Limits.byteCount
        else { return nil }
        let source = DescriptorBytes(descriptor: descriptor, size: UInt64(status.st_size))
        guard let bytes = try? source.read(at: 0, count: Int(status.st_size)) else { return nil }
        self.init(bytes: bytes)
    }
}

/// The bytes of a cache, while they are lent. Reads nil where there is nothing.
struct CacheView {
    let bytes: UnsafeRawBufferPointer

    func word(at offset: Int) -> Int? {
        guard offset >= 0, offset <= bytes.count - 4 else { return nil }
        return Int(UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
    }

    /// Where a list starts that the header points to, and what its first word is: how many entries it has.
    func list(_ list: MIMECache.List) -> (entries: Int, count: Int)? {
        guard let offset = word(at: list.rawValue), let count = word(at: offset) else { return nil }
        return (offset + 4, count)
    }

    /// A MIME type: ended by a zero byte, printable ASCII, not longer than the limit.
    func name(at offset: Int) -> UnsafeRawBufferPointer? {
        guard offset >= 0, offset < bytes.count else { return nil }
        var end = offset
        while end < bytes.count, bytes[end] != 0 {
            guard bytes[end] > 0x20, bytes[end] < 0x7F, end - offset < MIMECache.Limits.nameByteCount else {
                return nil
            }
            end += 1
        }
        guard end < bytes.count, end > offset else { return nil }
        return UnsafeRawBufferPointer(rebasing: bytes[offset..<end])
    }

    func range(at offset: Int, count: Int) -> UnsafeRawBufferPointer? {
        guard offset >= 0, count >= 0, offset <= bytes.count, count <= bytes.count - offset else { return nil }
        return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count])
    }
}
