import CArchive
import CArchiveShims
import Sharing

/// Writes an odc cpio archive member by member, by libarchive. It passes the bytes to a sink at once, without its own
/// buffer.
final class CPIOWriter {
    private let libarchive: CArchiveShims_Functions
    /// `struct archive *`, owned.
    private let archive: OpaquePointer
    /// `struct archive_entry *`, owned; reused for every member.
    private let entry: OpaquePointer
    private let sink: Sink

    /// - Parameter write: takes bytes of the archive, which are valid only during the call.
    /// - Throws: `unexpected` if there is no library or no memory.
    init(_ write: @escaping (UnsafeRawBufferPointer) -> Void) throws(TransferError) {
        libarchive = try ArchiveLibrary.functions()
        guard let archive = libarchive.archive_write_new() else { throw Self.noMemory }
        guard let entry = libarchive.archive_entry_new() else {
            _ = libarchive.archive_write_free(archive)
            throw Self.noMemory
        }
        (self.archive, self.entry) = (archive, entry)
        sink = Sink(write)
        _ = libarchive.archive_write_set_format_cpio_odc(archive)
        // No blocks and no padding: each write reaches the sink.
        _ = libarchive.archive_write_set_bytes_per_block(archive, 0)
        let data = Unmanaged.passUnretained(sink).toOpaque()
        let result = libarchive.archive_write_open2(archive, data, nil, writeCallback, nil, nil)
        guard result == ARCHIVE_OK else { throw failure() }
    }

    deinit {
        libarchive.archive_entry_free(entry)
        // Does not write the archive's end: an abandoned archive must not look complete.
        _ = libarchive.archive_write_fail(archive)
        _ = libarchive.archive_write_free(archive)
    }

    func folder(_ path: String, modified: Timestamp?) throws(TransferError) {
        begin(path, mode: 0o040755, size: 0, modified)
        try writeHeader()
    }

    func link(_ path: String, target: String) throws(TransferError) {
        begin(path, mode: 0o120777, size: 0, nil)
        libarchive.archive_entry_set_symlink(entry, target)
        try writeHeader()
    }

    /// Begins a file; the caller then writes exactly `size` bytes of contents.
    func file(_ path: String, size: UInt64, executable: Bool, modified: Timestamp?) throws(TransferError) {
        begin(path, mode: executable ? 0o100755 : 0o100644, size: Int64(clamping: size), modified)
        try writeHeader()
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(TransferError) {
        guard libarchive.archive_write_data(archive, bytes.baseAddress, bytes.count) == bytes.count else {
            throw failure()
        }
    }

    func finish() throws(TransferError) {
        guard libarchive.archive_write_close(archive) == ARCHIVE_OK else { throw failure() }
    }

    /// Sets no owner and no device: they are private. libarchive makes up the file numbers.
    private func begin(_ path: String, mode: UInt32, size: Int64, _ modified: Timestamp?) {
        _ = libarchive.archive_entry_clear(entry)
        libarchive.archive_entry_set_pathname(entry, path)
        libarchive.archive_entry_set_mode(entry, mode)
        libarchive.archive_entry_set_size(entry, size)
        libarchive.archive_entry_set_nlink(entry, 1)
        // The field has eleven octal digits and cannot be negative.
        let seconds = min(max(modified?.seconds ?? 0, 0), 0o777_7777_7777)
        libarchive.archive_entry_set_mtime(entry, time_t(seconds), 0)
    }

    private func writeHeader() throws(TransferError) {
        guard libarchive.archive_write_header(archive, entry) == ARCHIVE_OK else { throw failure() }
    }

    private func failure() -> TransferError {
        let reason = libarchive.archive_error_string(archive).map { String(cString: $0) } ?? "no reason given"
        return TransferError(.unexpected, "the archive could not be written: \(reason)")
    }

    private static let noMemory = TransferError(.unexpected, "there is no memory to write an archive")

    fileprivate final class Sink {
        let write: (UnsafeRawBufferPointer) -> Void

        init(_ write: @escaping (UnsafeRawBufferPointer) -> Void) {
            self.write = write
        }
    }
}

/// Takes libarchive's output, on the writing thread.
private func writeCallback(
    _: OpaquePointer?, data: UnsafeMutableRawPointer?, bytes: UnsafeRawPointer?, count: Int
) -> la_ssize_t {
    guard let data else { return la_ssize_t(ARCHIVE_FATAL) }
    Unmanaged<CPIOWriter.Sink>.fromOpaque(data).takeUnretainedValue()
        .write(UnsafeRawBufferPointer(start: bytes, count: count))
    return count
}
