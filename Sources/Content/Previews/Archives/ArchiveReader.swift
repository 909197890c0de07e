import CArchive
import CArchiveShims
import Glibc

/// Reads the headers of an archive by libarchive, within bounds of bytes and time. Contents are passed over.
final class ArchiveReader {
    private let libarchive: CArchiveShims_Functions
    /// `struct archive *`, owned.
    private let archive: OpaquePointer
    private let input: ArchiveInput

    /// - Returns: nil if there is no library or no memory.
    init?(_ source: PreviewSource) {
        guard let libarchive = CArchiveShims_shared()?.pointee, let archive = libarchive.archive_read_new() else {
            return nil
        }
        (self.libarchive, self.archive, input) = (libarchive, archive, ArchiveInput(source))
        // Not those that read XML, run a program or take any bytes for an archive.
        let forms = [
            libarchive.archive_read_support_filter_gzip, libarchive.archive_read_support_filter_bzip2,
            libarchive.archive_read_support_filter_xz, libarchive.archive_read_support_filter_lzma,
            libarchive.archive_read_support_filter_zstd, libarchive.archive_read_support_format_tar,
            libarchive.archive_read_support_format_zip, libarchive.archive_read_support_format_7zip,
            libarchive.archive_read_support_format_rar, libarchive.archive_read_support_format_rar5,
            libarchive.archive_read_support_format_cpio, libarchive.archive_read_support_format_ar,
            libarchive.archive_read_support_format_cab, libarchive.archive_read_support_format_lha,
        ]
        for form in forms { _ = form(archive) }
    }

    deinit { _ = libarchive.archive_read_free(archive) }

    /// Reads the members. The caller calls it once.
    /// - Returns: nil if it is no archive.
    func members() -> (members: [ArchiveListing.Member], isCut: Bool)? {
        // libarchive converts names to the thread's locale, and C's has only ASCII.
        let locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", nil)
        let former = locale.map { uselocale($0) }
        defer {
            if let locale {
                uselocale(former ?? nil)
                freelocale(locale)
            }
        }
        guard open() else { return nil }
        var members: [ArchiveListing.Member] = []
        while true {
            // `struct archive_entry *`, borrowed until the next call.
            var entry: OpaquePointer?
            let result = libarchive.archive_read_next_header(archive, &entry)
            if result == ARCHIVE_EOF { return (members, false) }
            guard result == ARCHIVE_OK || result == ARCHIVE_WARN, let entry, input.isWithinBounds else {
                return members.isEmpty ? nil : (members, true)
            }
            guard members.count < PreviewBounds.members else { return (members, true) }
            members.append(member(entry))
        }
    }

    private func open() -> Bool {
        // The input outlives the archive: this object owns both.
        let data = Unmanaged.passUnretained(input).toOpaque()
        return libarchive.archive_read_set_callback_data(archive, data) == ARCHIVE_OK
            && libarchive.archive_read_set_read_callback(archive, readArchive) == ARCHIVE_OK
            && libarchive.archive_read_set_skip_callback(archive, skipArchive) == ARCHIVE_OK
            && libarchive.archive_read_set_seek_callback(archive, seekArchive) == ARCHIVE_OK
            && libarchive.archive_read_open1(archive) == ARCHIVE_OK
    }

    private func member(_ entry: OpaquePointer) -> ArchiveListing.Member {
        let kind: ArchiveListing.Member.Kind =
            switch UInt32(libarchive.archive_entry_filetype(entry)) {
            case 0o100000: .file
            case 0o040000: .folder
            case 0o120000: .link
            // Some formats do not say.
            case 0: .file
            default: .other
            }
        let size = libarchive.archive_entry_size_is_set(entry) != 0 ? libarchive.archive_entry_size(entry) : -1
        let name = libarchive.archive_entry_pathname(entry) ?? libarchive.archive_entry_pathname_utf8(entry)
        return ArchiveListing.Member(
            path: name.map(Self.text) ?? "", kind: kind, size: kind == .file ? UInt64(exactly: size) : nil)
    }

    private static func text(_ name: UnsafePointer<CChar>) -> String {
        let bytes = UnsafeBufferPointer(start: name, count: strnlen(name, PreviewBounds.memberNameBytes))
        return String(decoding: bytes.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

/// The bytes of an archive. After its bounds it fails, and so does every call of libarchive.
private final class ArchiveInput {
    /// Small: a few bytes can stand for a thousand times as many, which libarchive makes before it asks for more.
    private static let blockBytes = 8 << 10

    private let source: PreviewSource
    private let deadline = ContinuousClock.now + PreviewBounds.archiveTime
    /// Owned.
    private let block = UnsafeMutableRawBufferPointer.allocate(byteCount: blockBytes, alignment: 16)
    private var position: UInt64 = 0
    private var allowance = PreviewBounds.archiveBytes

    init(_ source: PreviewSource) { self.source = source }

    deinit { block.deallocate() }

    var isWithinBounds: Bool { allowance > 0 && ContinuousClock.now < deadline }

    /// - Returns: the next bytes, valid until the next call; empty at the end, nil beyond the bounds and after a fault.
    func read() -> UnsafeRawBufferPointer? {
        guard isWithinBounds, let count = source.read(at: position, into: block) else { return nil }
        position += UInt64(count)
        allowance -= count
        return UnsafeRawBufferPointer(rebasing: block[..<count])
    }

    /// - Returns: the bytes that were passed over.
    func skip(_ count: Int64) -> Int64 {
        let step = min(UInt64(max(0, count)), source.size - min(position, source.size))
        position += step
        return Int64(step)
    }

    /// - Returns: the new position; nil for one that no file has.
    func seek(_ offset: Int64, _ whence: Int32) -> Int64? {
        let base: UInt64 = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? position : source.size
        let (place, overflow) = Int64(clamping: base).addingReportingOverflow(offset)
        guard isWithinBounds, !overflow, let place = UInt64(exactly: place) else { return nil }
        position = place
        return Int64(clamping: place)
    }
}

private func input(_ data: UnsafeMutableRawPointer?) -> ArchiveInput? {
    data.map { Unmanaged<ArchiveInput>.fromOpaque($0).takeUnretainedValue() }
}

private func readArchive(
    _: OpaquePointer?, data: UnsafeMutableRawPointer?, block: UnsafeMutablePointer<UnsafeRawPointer?>?
) -> la_ssize_t {
    guard let bytes = input(data)?.read() else { return la_ssize_t(ARCHIVE_FATAL) }
    block?.pointee = bytes.baseAddress
    return bytes.count
}

private func skipArchive(_: OpaquePointer?, data: UnsafeMutableRawPointer?, count: la_int64_t) -> la_int64_t {
    la_int64_t(input(data)?.skip(Int64(count)) ?? 0)
}

private func seekArchive(
    _: OpaquePointer?, data: UnsafeMutableRawPointer?, offset: la_int64_t, whence: Int32
) -> la_int64_t {
    guard let place = input(data)?.seek(Int64(offset), whence) else { return la_int64_t(ARCHIVE_FATAL) }
    return la_int64_t(place)
}
