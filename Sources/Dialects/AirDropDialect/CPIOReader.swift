import CArchive
import CArchiveShims
import NIOCore
import Sharing

/// Reads the members of a cpio archive (odc and newc) as its bytes come, by libarchive.
///
/// Used on one thread, which waits in it for more bytes.
final class CPIOReader {
    /// One member's header.
    struct Member {
        enum Kind {
            case file
            case folder
            case link(target: String)
            /// A device, a socket, a pipe.
            case special
        }

        /// As it stands there.
        var path: String
        var kind: Kind
        var size: UInt64
        var executable: Bool
        var modified: Timestamp
    }

    private let libarchive: CArchiveShims_Functions
    /// `struct archive *`, owned.
    private let archive: OpaquePointer
    private let source: Source
    private var linkedMembers = 0

    /// - Parameters:
    ///   - inflater: makes the archive of the bytes.
    ///   - next: the next bytes, nil at their end. It may wait.
    /// - Throws: `unexpected` when there is no library or no memory.
    init(_ inflater: BodyInflater, next: @escaping () -> ByteBuffer?) throws(TransferFault) {
        libarchive = try ArchiveLibrary.functions()
        guard let archive = libarchive.archive_read_new() else {
            throw TransferFault(.unexpected, "there is no memory to read an archive")
        }
        self.archive = archive
        source = Source(inflater, next: next)
        _ = libarchive.archive_read_support_format_cpio(archive)
    }

    deinit { _ = libarchive.archive_read_free(archive) }

    /// Begins to read. Before anything else, and once.
    func open() throws(TransferFault) {
        source.allowance = AirDropLimits.headerBytes
        // The source outlives the archive: this object owns both.
        let data = Unmanaged.passUnretained(source).toOpaque()
        guard libarchive.archive_read_open(archive, data, nil, readCallback, nil) == ARCHIVE_OK else { throw fault() }
    }

    /// The next member; what was not read of the one before is passed over.
    /// - Returns: nil at the archive's own end (`TRAILER!!!`), whatever follows it.
    func next() throws(TransferFault) -> Member? {
        source.allowance = AirDropLimits.headerBytes
        // `struct archive_entry *`, borrowed until the next call.
        var entry: OpaquePointer?
        let result = libarchive.archive_read_next_header(archive, &entry)
        source.allowance = .max
        if result == ARCHIVE_EOF { return nil }
        // A warning is a header that had to be looked for, or a name that could not be read: no sender of good will.
        guard result == ARCHIVE_OK, let entry else { throw fault() }
        let format = libarchive.archive_format(archive)
        guard Self.formats.contains(format) else { throw .malformed("an archive of another kind") }
        if libarchive.archive_entry_nlink(entry) > 1 { linkedMembers += 1 }
        guard linkedMembers <= AirDropLimits.linkedMembers else { throw .malformed("too many members with many names") }
        guard let text = libarchive.archive_entry_pathname(entry) else {
            throw TransferFault(.unsafeName, "a member cannot be stored: \(NameRefusal.empty)")
        }
        guard let path = String(validatingCString: text) else {
            let refusal = NameRefusal.notUTF8.said(of: String(cString: text))
            throw TransferFault(.unsafeName, "a member cannot be stored: \(refusal)")
        }
        guard let size = UInt64(exactly: libarchive.archive_entry_size(entry)), size <= Limits.itemBytes else {
            throw .malformed("a member of no size that there is")
        }
        return Member(
            path: path, kind: try kind(of: entry, path), size: size,
            executable: libarchive.archive_entry_perm(entry) & 0o111 != 0,
            modified: Timestamp(seconds: Int64(libarchive.archive_entry_mtime(entry)), nanoseconds: 0))
    }

    /// The next bytes of the member's contents.
    /// - Returns: nil at their end. The bytes are valid until the next call.
    func data() throws(TransferFault) -> UnsafeRawBufferPointer? {
        var block: UnsafeRawPointer?
        var count = 0
        var offset: la_int64_t = 0
        switch libarchive.archive_read_data_block(archive, &block, &count, &offset) {
        case ARCHIVE_EOF: return nil
        case ARCHIVE_OK: return UnsafeRawBufferPointer(start: block, count: count)
        default: throw fault()
        }
    }

    private static let formats: Set<Int32> = [
        ARCHIVE_FORMAT_CPIO_POSIX, ARCHIVE_FORMAT_CPIO_SVR4_NOCRC, ARCHIVE_FORMAT_CPIO_SVR4_CRC,
    ]

    private func kind(of entry: OpaquePointer, _ path: String) throws(TransferFault) -> Member.Kind {
        switch UInt32(libarchive.archive_entry_filetype(entry)) {
        case 0o100000: return .file
        case 0o040000: return .folder
        case 0o120000:
            let target = libarchive.archive_entry_symlink(entry).flatMap { String(validatingCString: $0) }
            guard let target else {
                let link = PathText.printable(path, limit: 120)
                throw TransferFault(.unsafeName, "the link \(link) cannot be stored: where it leads is not UTF-8")
            }
            return .link(target: target)
        default: return .special
        }
    }

    /// Why reading has failed: what the bytes were, before what libarchive made of them.
    private func fault() -> TransferFault {
        source.fault ?? .malformed("contents that are no whole cpio archive")
    }

    /// Where libarchive has its bytes from.
    fileprivate final class Source {
        /// What was wrong with the bytes, if anything.
        private(set) var fault: TransferFault?
        /// Bytes that may still be asked for before the next member's contents: libarchive holds all of a header and its
        /// name, however long that says it is.
        var allowance = Int.max

        private let inflater: BodyInflater
        private let next: () -> ByteBuffer?
        private var input = ByteBuffer()
        /// Owned.
        private let output = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 16)

        init(_ inflater: BodyInflater, next: @escaping () -> ByteBuffer?) {
            self.inflater = inflater
            self.next = next
        }

        deinit { output.deallocate() }

        /// - Returns: bytes of the archive, valid until the next call; none at the end, nil after a fault.
        func read() -> UnsafeRawBufferPointer? {
            guard fault == nil else { return nil }
            do throws(TransferFault) {
                let bytes = try inflateSome()
                allowance -= allowance == .max ? 0 : bytes.count
                guard allowance > 0 else { throw .malformed("a name without end") }
                return bytes
            } catch {
                fault = error
                return nil
            }
        }

        private func inflateSome() throws(TransferFault) -> UnsafeRawBufferPointer {
            while true {
                let (consumed, produced) = try input.withUnsafeReadableBytes { (bytes) throws(TransferFault) in
                    try inflater.inflate(bytes, into: output)
                }
                input.moveReaderIndex(forwardBy: consumed)
                if produced > 0 { return UnsafeRawBufferPointer(rebasing: output[..<produced]) }
                guard let more = next() else {
                    let hasEnded = input.readableBytes == 0 && inflater.isBetweenBlocks
                    if hasEnded { return UnsafeRawBufferPointer(start: nil, count: 0) }
                    throw TransferFault(.sizeMismatch, "the contents ended before their end")
                }
                input = more
            }
        }
    }
}

/// Gives libarchive its next bytes; it is asked on the thread that reads.
private func readCallback(
    _: OpaquePointer?, data: UnsafeMutableRawPointer?, block: UnsafeMutablePointer<UnsafeRawPointer?>?
) -> la_ssize_t {
    guard let data, let bytes = Unmanaged<CPIOReader.Source>.fromOpaque(data).takeUnretainedValue().read() else {
        return la_ssize_t(ARCHIVE_FATAL)
    }
    block?.pointee = bytes.baseAddress
    return bytes.count
}
