private import Glibc

/// One `mime.cache`: the shared MIME database as `update-mime-database` writes it, version 1.1 or 1.2, big-endian
/// (shared-mime-info, "The mime.cache files").
///
/// Held in memory, not mapped: a file that is overwritten in place would shrink under a mapping, and the next access
/// would end the program. The copy costs 0.15 MB and less time than one check. No offset in it is trusted: each is
/// checked when it is used, and one that points outside is ignored.
struct MIMECache: Sendable {
    enum Limits {
        /// Bytes of a file; a larger one is not read. The distributions' have 150 KB.
        static let byteCount = 16 << 20

        /// Bytes of a MIME type.
        static let nameByteCount = 255

        /// Matchlets below one another.
        static let depth = 16

        /// Positions tried and bytes compared in one search, so that a damaged file cannot block. The distributions'
        /// database needs less than 50,000 for most content, and 560,000 for the most expensive content.
        static let work = 2_000_000

        /// Rules that match with the same priority, and steps from a type to its parents.
        static let ambiguity = 16
    }

    /// Where the lists are that the header points to, by their place in it.
    enum List: Int {
        case aliases = 4
        case parents = 8
        case magic = 24
    }

    let bytes: [UInt8]

    /// nil if this is no cache of a known version.
    init?(bytes: [UInt8]) {
        guard bytes.count <= Limits.byteCount, bytes.count >= 40, bytes[0] == 0, bytes[1] == 1, bytes[2] == 0,
            (1...2).contains(bytes[3])
        else { return nil }
        self.bytes = bytes
    }

    /// nil if the file is missing, cannot be read, or is no cache of a known version.
    init?(path: String) {
        // Non-blocking: the file may be a pipe.
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

/// Borrowed access to the bytes of a cache. A read outside returns nil.
struct CacheView {
    let bytes: UnsafeRawBufferPointer

    func word(at offset: Int) -> Int? {
        guard offset >= 0, offset <= bytes.count - 4 else { return nil }
        return Int(UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
    }

    /// The start of a list that the header points to, and its first word: the number of its entries.
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
