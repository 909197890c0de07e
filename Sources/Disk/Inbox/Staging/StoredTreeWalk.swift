import Glibc
import Sharing
import SystemCalls

/// Passes over a stored or staged tree in the order in which senders send it: each folder comes before its contents, and
/// the names of a folder are sorted by their bytes. Of sealed files the own names count.
///
/// It follows no link, and finds each entry by its one name in its open folder. It holds in memory only the names of the
/// folders between the tree and the entry. Blocks on the disk.
struct StoredTreeWalk: ~Copyable {
    enum Step {
        case folder(SafeRelativePath)
        /// A regular file: its name on the disk, in a folder that stays open until the next step.
        case file(SafeRelativePath, onDisk: String, in: Int32)
        case link(SafeRelativePath, target: SafeLinkTarget)
        /// No more entries follow below this folder (nil: the tree itself). The time is that when it was opened.
        case folderClosed(SafeRelativePath?, modified: Timestamp)
    }

    private let root: String
    private let areSealed: Bool
    private var levels: [Level] = []
    /// Files, folders and links so far, the tree itself included.
    private(set) var entries: UInt64 = 1
    /// The latest change of any entry so far. A change of contents, names or modes makes it later.
    private(set) var lastChange = Timestamp(seconds: .min, nanoseconds: 0)

    /// - Parameters:
    ///   - root: the name of the tree.
    ///   - folder: open; stays open.
    ///   - areSealed: whether the files of the tree are sealed.
    init(_ root: String, in folder: Int32, areSealed: Bool) throws(StoredDigestError) {
        self.root = root
        self.areSealed = areSealed
        do throws(SystemError) {
            try enter(root, in: folder, path: nil)
        } catch {
            throw StoredDigestError(error, root)
        }
    }

    /// - Returns: nil after the last step, which closes the tree itself.
    /// - Throws: `different` for an entry that was never received, or for a sealed tree a file that is not sealed.
    mutating func next() throws(StoredDigestError) -> Step? {
        guard let level = levels.last else { return nil }
        guard level.next < level.names.count else {
            levels.removeLast()
            return .folderClosed(level.path, modified: Timestamp(level.status.st_mtim))
        }
        let index = level.next
        level.next += 1
        entries += 1
        guard entries <= Limits.entriesPerItem else { throw StoredDigestError(SystemError(EFBIG), root) }
        let (path, own) = try path(level, index)
        let onDisk = level.names.isSealed(at: index) ? own + SealedName.ending : own
        do throws(SystemError) {
            var status = stat()
            try systemCall { fstatat(level.folder.raw, onDisk, &status, AT_SYMLINK_NOFOLLOW) }
            note(status)
            switch status.st_mode & S_IFMT {
            case S_IFDIR:
                try enter(onDisk, in: level.folder.raw, path: path)
                return .folder(path)
            case S_IFREG: return .file(path, onDisk: onDisk, in: level.folder.raw)
            case S_IFLNK: return .link(path, target: try Self.target(onDisk, in: level.folder.raw, of: path))
            default: throw SystemError(ENXIO)
            }
        } catch {
            throw StoredDigestError(error, "\(root)/\(path)")
        }
    }

    private mutating func enter(_ name: String, in holder: Int32, path: SafeRelativePath?) throws(SystemError) {
        let level = try Level(
            name, in: holder, path: path, most: Limits.entriesPerItem - entries, areSealed: areSealed)
        note(level.status)
        levels.append(level)
    }

    private mutating func note(_ status: stat) { lastChange = max(lastChange, Timestamp(status.st_ctim)) }

    private final class Level {
        let folder: FileDescriptor
        let path: SafeRelativePath?
        let names: SortedNames
        let status: stat
        var next = 0

        init(
            _ name: String, in holder: Int32, path: SafeRelativePath?, most: UInt64, areSealed: Bool
        ) throws(SystemError) {
            let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
            let raw = try systemCall { openat(holder, name, flags) }
            folder = FileDescriptor(owning: raw)
            self.path = path
            var status = stat()
            try systemCall { fstat(raw, &status) }
            self.status = status
            names = try SortedNames(of: raw, most: most, areSealed: areSealed)
        }
    }

    private func path(_ level: Level, _ index: Int) throws(StoredDigestError) -> (SafeRelativePath, own: String) {
        let text = level.names.text(at: index)
        do throws(NameError) {
            guard let text else { throw NameError.notUTF8 }
            let name = try SafeName(text)
            guard let folder = level.path else { return (SafeRelativePath(name), text) }
            return (try folder.appending(name), text)
        } catch {
            let folder = level.path.map { "\(root)/\($0)" } ?? root
            let name = level.names.withName(at: index) { String(cString: $0) }
            throw StoredDigestError(.different, folder, "something in it was never received: \(error.said(of: name))")
        }
    }

    /// - Throws: `ENXIO` for a target that would have been refused.
    private static func target(
        _ name: String, in folder: Int32, of path: SafeRelativePath
    ) throws(SystemError) -> SafeLinkTarget {
        let limit = SafeLinkTarget.maximumBytes + 1
        let text = try withUnsafeTemporaryAllocation(byteCount: limit, alignment: 1) { buffer throws(SystemError) in
            guard let base = buffer.baseAddress?.assumingMemoryBound(to: CChar.self) else { throw SystemError(ENOMEM) }
            let count = try systemCall { readlinkat(folder, name, base, limit) }
            if count == limit { throw SystemError(ENXIO) }
            return String(validating: UnsafeRawBufferPointer(rebasing: buffer[..<count]), as: UTF8.self)
        }
        guard let text, let target = try? SafeLinkTarget(text, of: path) else { throw SystemError(ENXIO) }
        return target
    }
}

/// The names in one folder, sorted by their bytes, one after the other in a single piece of memory. Of sealed files the
/// own names are sorted.
private struct SortedNames {
    /// The names, each with a NUL after it.
    private var bytes: [UInt8] = []
    /// Where each begins.
    private var starts: [UInt32] = []
    /// Where the names of sealed files begin.
    private var sealed: Set<UInt32> = []

    var count: Int { starts.count }

    /// - Parameters:
    ///   - most: more names than that are not read.
    ///   - areSealed: whether the files are sealed.
    /// - Throws: `EFBIG` where there are more; `ENXIO` for a file that should be sealed and does not have such a name.
    init(of folder: Int32, most: UInt64, areSealed: Bool) throws(SystemError) {
        var contents = try FolderContents.make(of: folder)
        while let name = try contents.next() {
            guard let start = UInt32(exactly: bytes.count), UInt64(starts.count) < most else {
                throw SystemError(EFBIG)
            }
            starts.append(start)
            var count = strlen(name)
            if areSealed, try Self.isFile(name, in: folder) {
                let ending = SealedName.ending.utf8.count
                guard count > ending, strcmp(name + (count - ending), SealedName.ending) == 0 else {
                    throw SystemError(ENXIO)
                }
                count -= ending
                sealed.insert(start)
            }
            bytes.append(contentsOf: UnsafeRawBufferPointer(start: name, count: count))
            bytes.append(0)
        }
        bytes.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress?.assumingMemoryBound(to: CChar.self) else { return }
            starts.sort { strcmp(base + Int($0), base + Int($1)) < 0 }
        }
    }

    private static func isFile(_ name: UnsafePointer<CChar>, in folder: Int32) throws(SystemError) -> Bool {
        var status = stat()
        try systemCall { fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) }
        return status.st_mode & S_IFMT == S_IFREG
    }

    func isSealed(at index: Int) -> Bool { sealed.contains(starts[index]) }

    /// Calls `body` with the name, which ends with a NUL and is valid during the call only.
    func withName<Result, Failure: Error>(
        at index: Int, _ body: (UnsafePointer<CChar>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try bytes.withUnsafeBufferPointer { bytes throws(Failure) in
            // There is a name at each index, so there are bytes.
            let name = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[Int(starts[index])...])
            return try body(name.assumingMemoryBound(to: CChar.self).baseAddress.unsafelyUnwrapped)
        }
    }

    /// Nil where the name is not UTF-8.
    func text(at index: Int) -> String? {
        withName(at: index) { String(validatingCString: $0) }
    }
}
