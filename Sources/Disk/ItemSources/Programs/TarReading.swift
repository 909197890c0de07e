import CArchive
import CArchiveShims
import Sharing
import SystemCalls

/// Reads bytes on their way, a tar archive, as one folder.
///
/// A folder stands before its contents, and all its contents stand together: as `tar` and `git archive` write them.
final class TarReading: ItemReading {
    /// A folder whose contents come.
    private struct OpenFolder {
        /// Nil for the item itself.
        var path: SafeRelativePath?
        var modified: Timestamp?
    }

    private let libarchive: CArchiveShims_Functions
    /// `struct archive *`, owned.
    private let archive: OpaquePointer
    private let output: ArchiveBytes
    private let origin: String
    private let promised: (bytes: UInt64, entries: UInt64)
    private var totals = TreeTotals()
    /// From the item itself to the folder whose contents come now. Empty after the end.
    private var folders = [OpenFolder(path: nil, modified: nil)]
    /// The entry that was read before the folders that it is not in were closed.
    private var pending: Entry?
    private var isAtEnd = false
    private var isInFile = false

    private struct Entry {
        enum Kind {
            case folder
            case file(size: UInt64, executable: Bool)
            case link(target: String)
        }

        var path: SafeRelativePath
        var kind: Kind
        var modified: Timestamp?
    }

    /// - Parameters:
    ///   - size: bytes of all files, as promised.
    ///   - entries: files, folders and links, the folder itself included, as promised.
    /// - Throws: `SourceError` if there is no libarchive, or the output is no archive.
    init(_ bytes: any ItemBytes, origin: String, size: UInt64, entries: UInt64) throws(SourceError) {
        guard let libarchive = CArchiveShims_shared()?.pointee, let archive = libarchive.archive_read_new() else {
            throw .at(origin, .unreadable, "makes a folder, which needs libarchive; install libarchive13")
        }
        (self.libarchive, self.archive, self.origin, promised) = (libarchive, archive, origin, (size, entries))
        output = ArchiveBytes(bytes, origin: origin)
        _ = libarchive.archive_read_support_format_tar(archive)
        // The output outlives the archive: this object owns both.
        let data = Unmanaged.passUnretained(output).toOpaque()
        guard libarchive.archive_read_open(archive, data, nil, readOutput, nil) == ARCHIVE_OK else { throw fault() }
    }

    deinit {
        _ = libarchive.archive_read_free(archive)
        output.source.end()
    }

    func next() throws(SourceError) -> ContentStep? {
        precondition(!isInFile, "the file before was not read to its end")
        if pending == nil, !isAtEnd { pending = try entry() }
        guard let folder = folders.last else { return nil }
        guard let entry = pending, folder.path.map({ entry.path.isBelow($0) }) ?? true else {
            folders.removeLast()
            if folders.isEmpty { try end() }
            return .folderClosed(folder.path, modified: folder.modified)
        }
        guard entry.path.lies(in: folder.path) else {
            throw .at(origin, .unreadable, "made \(shown(entry.path)) before its folder, or apart from its neighbours")
        }
        pending = nil
        switch entry.kind {
        case .folder:
            try count(totals.addEntry())
            folders.append(OpenFolder(path: entry.path, modified: entry.modified))
            return .folder(entry.path)
        case .link(let target):
            try count(totals.addEntry())
            do throws(NameError) {
                return .link(entry.path, target: try SafeLinkTarget(target, of: entry.path))
            } catch {
                throw .at(origin, .unreadable, "made a link that cannot be sent: \(error.said(of: entry.path.text))")
            }
        case .file(let size, let executable):
            try count(totals.addFile(bytes: size))
            isInFile = true
            return .file(FileEntry(path: entry.path, executable: executable, modified: entry.modified, size: size))
        }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(SourceError) -> Int {
        guard isInFile else { return 0 }
        let count = libarchive.archive_read_data(archive, buffer.baseAddress, buffer.count)
        guard count >= 0 else { throw fault() }
        if count == 0 { isInFile = false }
        return count
    }

    func seek(to offset: UInt64) throws(SourceError) {
        throw .at(origin, .unreadable, "makes its item from the beginning only; start the command again")
    }

    // MARK: Entries

    /// The next entry; nil at the end of the archive. That of the folder itself gives its time, and is none.
    private func entry() throws(SourceError) -> Entry? {
        while true {
            // `struct archive_entry *`, borrowed until the next call.
            var raw: OpaquePointer?
            output.startHeader()
            let result = libarchive.archive_read_next_header(archive, &raw)
            output.endHeader()
            if result == ARCHIVE_EOF {
                isAtEnd = true
                return nil
            }
            guard result == ARCHIVE_OK || result == ARCHIVE_WARN, let raw else { throw fault() }
            let modified = Timestamp(
                seconds: Int64(libarchive.archive_entry_mtime(raw)),
                nanoseconds: UInt32(clamping: libarchive.archive_entry_mtime_nsec(raw)))
            guard let path = try path(of: raw) else {
                folders[0].modified = modified
                continue
            }
            return Entry(path: path, kind: try kind(of: raw, path), modified: modified)
        }
    }

    /// - Returns: nil for the folder itself.
    private func path(of raw: OpaquePointer) throws(SourceError) -> SafeRelativePath? {
        let text = libarchive.archive_entry_pathname_utf8(raw) ?? libarchive.archive_entry_pathname(raw)
        guard let text, let path = String(validatingCString: text) else {
            throw .at(origin, .unreadable, "made a file whose name is not UTF-8")
        }
        let names = PathText.names(in: path).filter { $0 != "." }
        if names.isEmpty { return nil }
        do throws(NameError) {
            guard !path.hasPrefix("/") else { throw .absolute }
            return try SafeRelativePath(names.joined(separator: "/"))
        } catch {
            throw .at(origin, .unreadable, "made a file that cannot be sent: \(error.said(of: path))")
        }
    }

    private func kind(of raw: OpaquePointer, _ path: SafeRelativePath) throws(SourceError) -> Entry.Kind {
        let type = UInt32(libarchive.archive_entry_filetype(raw))
        if type == S_IFDIR { return .folder }
        if type == S_IFLNK,
            let target = libarchive.archive_entry_symlink_utf8(raw) ?? libarchive.archive_entry_symlink(raw),
            let target = String(validatingCString: target)
        {
            return .link(target: target)
        }
        guard type == S_IFREG, libarchive.archive_entry_hardlink(raw) == nil,
            let size = UInt64(exactly: libarchive.archive_entry_size(raw))
        else { throw .at(origin, .unreadable, "made \(shown(path)), which is neither a file, a folder nor a link") }
        return .file(size: size, executable: libarchive.archive_entry_perm(raw) & 0o111 != 0)
    }

    private func shown(_ path: SafeRelativePath) -> String { PathText.printable(path.text, limit: 200) }

    // MARK: The end

    /// Ends the reading as soon as the folder exceeds the promise, not only at the end.
    private func count(_ fits: Bool) throws(SourceError) {
        if !fits || totals.entries > promised.entries || totals.bytes > promised.bytes {
            throw .changed(origin, "it made more than it had promised")
        }
    }

    private func end() throws(SourceError) {
        try output.end()
        guard totals.entries == promised.entries, totals.bytes == promised.bytes else {
            throw .changed(origin, "it made less than it had promised")
        }
    }

    /// A fault of the program precedes libarchive's own error.
    private func fault() -> SourceError {
        output.fault ?? .at(origin, .unreadable, "did not make a whole tar archive")
    }
}

/// The bytes of an archive, for libarchive.
private final class ArchiveBytes {
    /// A header with all of its names.
    private static let headerBytes = 4 << 20
    /// Behind the end of the archive, where there are zeros.
    private static let restBytes = 1 << 20

    let source: any ItemBytes
    private let origin: String
    /// Owned.
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 16)
    private(set) var fault: SourceError?
    /// Bytes that may still come before the header ends.
    private var allowance = Int.max

    init(_ source: any ItemBytes, origin: String) { (self.source, self.origin) = (source, origin) }

    deinit { buffer.deallocate() }

    func startHeader() { allowance = Self.headerBytes }
    func endHeader() { allowance = .max }

    /// - Returns: bytes that are valid until the next call; none at the end, nil after a fault.
    func read() -> UnsafeRawBufferPointer? {
        guard fault == nil else { return nil }
        do throws(SystemError) {
            guard let count = try source.read(into: buffer, isOver: { Task.isCancelled }) else {
                fault = .at(origin, .unreadable, "was not read to its end")
                return nil
            }
            allowance -= allowance == .max ? 0 : count
            guard allowance > 0 else {
                fault = .at(origin, .unreadable, "made an archive with a name without end")
                return nil
            }
            return UnsafeRawBufferPointer(rebasing: buffer[..<count])
        } catch {
            fault = .at(origin, .unreadable, "cannot be read (\(error))")
            return nil
        }
    }

    /// Reads the rest of the output, and waits for the end of the program.
    func end() throws(SourceError) {
        var rest = Self.restBytes
        while rest > 0, let bytes = read(), bytes.count > 0 { rest -= bytes.count }
        if let fault { throw fault }
        try source.end(makingItemOf: origin)
    }
}

/// Gives libarchive its next bytes, on the reading thread.
private func readOutput(
    _: OpaquePointer?, data: UnsafeMutableRawPointer?, block: UnsafeMutablePointer<UnsafeRawPointer?>?
) -> la_ssize_t {
    guard let data, let bytes = Unmanaged<ArchiveBytes>.fromOpaque(data).takeUnretainedValue().read() else {
        return la_ssize_t(ARCHIVE_FATAL)
    }
    block?.pointee = bytes.baseAddress
    return bytes.count
}
