import CArchive
import CArchiveShims
import NIOCore
import Sharing

/// Reads the members of a cpio archive (odc and newc) by libarchive, while the bytes arrive.
///
/// Runs on one thread, which it blocks while it waits for bytes.
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

        /// The unchanged path from the archive.
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
    ///   - inflater: turns the bytes into the archive.
    ///   - next: returns the next bytes, nil at their end. It may block.
    /// - Throws: `unexpected` if there is no library or no memory.
    init(_ inflater: BodyInflater, next: @escaping () -> ByteBuffer?) throws(TransferError) {
        libarchive = try ArchiveLibrary.functions()
        guard let archive = libarchive.archive_read_new() else {
            throw TransferError(.unexpected, "there is no memory to read an archive")
        }
        self.archive = archive
        source = Source(inflater, next: next)
        _ = libarchive.archive_read_support_format_cpio(archive)
    }

    deinit { _ = libarchive.archive_read_free(archive) }

    /// Begins to read. The caller calls it once, before all other functions.
    func open() throws(TransferError) {
        source.allowance = AirDropLimits.headerBytes
        // The source outlives the archive: this object owns both.
        let data = Unmanaged.passUnretained(source).toOpaque()
        guard libarchive.archive_read_open(archive, data, nil, readCallback, nil) == ARCHIVE_OK else { throw fault() }
    }

    /// The next member; skips the unread rest of the last one.
    /// - Returns: nil at the archive's own end (`TRAILER!!!`); bytes after it do not matter.
    func next() throws(TransferError) -> Member? {
        source.allowance = AirDropLimits.headerBytes
        // `struct archive_entry *`, borrowed until the next call.
        var entry: OpaquePointer?
        let result = libarchive.archive_read_next_header(archive, &entry)
        source.allowance = .max
        if result == ARCHIVE_EOF { return nil }
        // A warning means that libarchive searched for a header or could not read a name: no honest sender causes that.
        guard result == ARCHIVE_OK, let entry else { throw fault() }
        let format = libarchive.archive_format(archive)
        guard Self.formats.contains(format) else { throw .malformed("an archive of another kind") }
        if libarchive.archive_entry_nlink(entry) > 1 { linkedMembers += 1 }
        guard linkedMembers <= AirDropLimits.linkedMembers else { throw .malformed("too many members with many names") }
        guard let text = libarchive.archive_entry_pathname(entry) else {
            throw TransferError(.unsafeName, "a member cannot be stored: \(NameError.empty)")
        }
        guard let path = String(validatingCString: text) else {
            let refusal = NameError.notUTF8.said(of: String(cString: text))
            throw TransferError(.unsafeName, "a member cannot be stored: \(refusal)")
        }
        guard let size = UInt64(exactly: libarchive.archive_entry_size(entry)), size <= Limits.itemBytes else {
            throw .malformed("a member of no size that there is")
        }
        return Member(
            path: path, kind: try kind(of: entry, path), size: size,
            executable: libarchive.archive_entry_perm(entry) & 0o111 != 0,
            modified: Timestamp(seconds: Int64(libarchive.archive_entry_mtime(entry)), nanoseconds: 0))
    }

    /// The next bytes of the member's contents, valid until the next call.
    /// - Returns: nil at their end.
    func data() throws(TransferError) -> UnsafeRawBufferPointer? {
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

    private func kind(of entry: OpaquePointer, _ path: String) throws(TransferError) -> Member.Kind {
        switch UInt32(libarchive.archive_entry_filetype(entry)) {
        case 0o100000: return .file
        case 0o040000: return .folder
        case 0o120000:
            let target = libarchive.archive_entry_symlink(entry).flatMap { String(validatingCString: $0) }
            guard let target else {
                let link = PathText.printable(path, limit: 120)
                throw TransferError(.unsafeName, "the link \(link) cannot be stored: where it leads is not UTF-8")
            }
            return .link(target: target)
        default: return .special
        }
    }

    /// The reason of the failure: a fault in the bytes precedes libarchive's own error.
    private func fault() -> TransferError {
        source.fault ?? .malformed("contents that are no whole cpio archive")
    }

    /// The source of libarchive's bytes.
    fileprivate final class Source {
        /// The fault in the bytes, if any.
        private(set) var fault: TransferError?
        /// Bytes that libarchive may still read before the next member's contents. It holds a whole header and name,
        /// however long the stated length is.
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

        /// - Returns: bytes of the archive, valid until the next call; empty at the end, nil after a fault.
        func read() -> UnsafeRawBufferPointer? {
            guard fault == nil else { return nil }
            do throws(TransferError) {
                let bytes = try inflateSome()
                allowance -= allowance == .max ? 0 : bytes.count
                guard allowance > 0 else { throw .malformed("a name without end") }
                return bytes
            } catch {
                fault = error
                return nil
            }
        }

        private func inflateSome() throws(TransferError) -> UnsafeRawBufferPointer {
            while true {
                let (consumed, produced) = try input.withUnsafeReadableBytes { (bytes) throws(TransferError) in
                    try inflater.inflate(bytes, into: output)
                }
                input.moveReaderIndex(forwardBy: consumed)
                if produced > 0 { return UnsafeRawBufferPointer(rebasing: output[..<produced]) }
                guard let more = next() else {
                    let hasEnded = input.readableBytes == 0 && inflater.isBetweenBlocks
                    if hasEnded { return UnsafeRawBufferPointer(start: nil, count: 0) }
                    throw TransferError(.sizeMismatch, "the contents ended before their end")
                }
                input = more
            }
        }
    }
}

/// Gives libarchive its next bytes, on the reading thread.
private func readCallback(
    _: OpaquePointer?, data: UnsafeMutableRawPointer?, block: UnsafeMutablePointer<UnsafeRawPointer?>?
) -> la_ssize_t {
    guard let data, let bytes = Unmanaged<CPIOReader.Source>.fromOpaque(data).takeUnretainedValue().read() else {
        return la_ssize_t(ARCHIVE_FATAL)
    }
    block?.pointee = bytes.baseAddress
    return bytes.count
}
