package import Digests
import Glibc
import Protection
import Sharing
import SystemCalls

/// The present state of a stored or staged item on the disk: its digest in the form of receipts, its bytes and entries.
///
/// The digest of a file is that of its contents. The digest of a tree is that of its listing (section 4.3 of the
/// protocol), in the order in which senders send: each folder comes before its contents, and the names of a folder are
/// sorted by their bytes. The listing has no times, and no bits of modes but the executable one.
package struct StoredDigest: Hashable, Sendable {
    package var digest: Digest
    /// Bytes of contents.
    package var size: UInt64
    /// Files, folders and links, the item itself included: 1 for a file.
    package var entries: UInt64

    package init(digest: Digest, size: UInt64, entries: UInt64) {
        self.digest = digest
        self.size = size
        self.entries = entries
    }

    /// Reads an item. Blocks on the disk. Holds in memory only the names of the folders between the item and the place
    /// that is being read.
    ///
    /// It follows no link, and opens each entry by its one name in its open folder. So it never leaves the item, even if
    /// another program moves entries meanwhile.
    ///
    /// - Parameters:
    ///   - name: one name, without a slash.
    ///   - folder: open; stays open.
    ///   - isTree: whether the item was a tree when it was stored.
    ///   - algorithm: the algorithm of the digest to compare with.
    ///   - keys: for a sealed item, to read its contents; nil to read it as it is on the disk.
    ///   - fromDisk: whether to ask the kernel to drop its copies of the files first, so that the disk itself is read.
    ///     Not worth it for files that are read again soon.
    ///   - progressed: called with the bytes read since the last call. An error of it ends the reading.
    package static func read(
        _ name: String,
        in folder: Int32,
        isTree: Bool,
        algorithm: DigestAlgorithm,
        keys: FileKeys? = nil,
        fromDisk: Bool = false,
        progressed: (Int) throws(StoredDigestError) -> Void = { _ in }
    ) throws(StoredDigestError) -> StoredDigest {
        guard !name.isEmpty, name != ".", name != "..", !name.utf8.contains(UInt8(ascii: "/")) else {
            throw StoredDigestError(.different, name, "this cannot be the name of an item")
        }
        var reading = DigestReading(algorithm: algorithm, keys: keys, fromDisk: fromDisk)
        if isTree { return try reading.tree(name, in: folder, progressed) }
        let file = try reading.file(name, in: folder, display: name, progressed)
        return StoredDigest(digest: file.digest, size: file.size, entries: 1)
    }
}

/// Why an item cannot be read as the item that was stored.
package struct StoredDigestError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: Hashable, Sendable {
        /// No item has this name, or a part of it vanished during the reading.
        case gone
        /// The item cannot have been received in this state: it is of another kind, it has a name or a link that is
        /// refused on arrival, or another program writes to it during the reading.
        case different
        /// The disk or the permissions refused.
        case unreadable
        /// It is sealed, and its key is not in memory.
        case locked
        /// The observer of the progress ended it.
        case cancelled
    }

    package let code: Code
    /// The fault and its place in one line, lower case, not escaped.
    package let message: String

    package init(_ code: Code, _ place: String, _ why: String) {
        self.code = code
        self.message = "\(place): \(why)"
    }

    package var description: String { message }

    fileprivate init(_ error: SystemError, _ place: String) {
        switch error.number {
        case ENOENT: self.init(.gone, place, "it does not exist")
        case ENOTDIR, ELOOP, ENXIO: self.init(.different, place, "it is another kind of item now")
        case EFBIG: self.init(.different, place, "it has more entries than an item can have")
        default: self.init(.unreadable, place, "\(error)")
        }
    }
}

extension StoredDigestError {
    init(_ error: SealedFileError, _ place: String) {
        switch error {
        case .closed(let cause): self.init(cause.code == .locked ? .locked : .unreadable, place, cause.description)
        case .damaged: self.init(.different, place, error.description)
        case .system(let cause): self.init(cause, place)
        }
    }
}

private struct DigestReading: ~Copyable {
    private static let bufferBytes = 256 << 10
    /// Files from this size on, in bytes, are announced to the kernel as read from front to back.
    private static let sequentialThreshold = 1 << 20

    private let fromDisk: Bool
    /// Nil to read everything as it is on the disk.
    private let keys: FileKeys?
    private let algorithm: DigestAlgorithm
    private let buffer: UnsafeMutableRawBufferPointer
    private var state: DigestState

    init(algorithm: DigestAlgorithm, keys: FileKeys?, fromDisk: Bool) {
        self.algorithm = algorithm
        self.keys = keys
        self.fromDisk = fromDisk
        buffer = .allocate(byteCount: Self.bufferBytes, alignment: 4_096)
        state = DigestState(algorithm)
    }

    deinit {
        buffer.deallocate()
    }

    // MARK: A file

    mutating func file(
        _ name: UnsafePointer<CChar>,
        in folder: Int32,
        display: @autoclosure () -> String,
        _ progressed: (Int) throws(StoredDigestError) -> Void
    ) throws(StoredDigestError) -> (digest: Digest, size: UInt64, executable: Bool) {
        let (before, after): (stat, stat)
        var size: UInt64 = 0
        do throws(SystemError) {
            // Non-blocking: it may have become a pipe.
            let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC
            let file = FileDescriptor(owning: try systemCall { openat(folder, name, flags) })
            before = try Self.status(of: file.raw)
            guard before.st_mode & S_IFMT == S_IFREG else { throw SystemError(ENXIO) }
            if fromDisk { posix_fadvise(file.raw, 0, 0, POSIX_FADV_DONTNEED) }
            if before.st_size >= Self.sequentialThreshold { posix_fadvise(file.raw, 0, 0, POSIX_FADV_SEQUENTIAL) }
            state.reset()
            if let keys {
                size = try sealed(file.raw, keys, progressed)
            }
            while keys == nil {
                let count = try systemCall { Glibc.read(file.raw, buffer.baseAddress, buffer.count) }
                if count == 0 { break }
                state.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                size += UInt64(count)
                do throws(StoredDigestError) {
                    try progressed(count)
                } catch {
                    cancellation = error
                    throw SystemError(ECANCELED)
                }
            }
            after = try Self.status(of: file.raw)
        } catch {
            if let cancellation { throw cancellation }
            throw sealedFault.map { StoredDigestError($0, display()) } ?? StoredDigestError(error, display())
        }
        guard FileStamp(before) == FileStamp(after), keys != nil || UInt64(max(0, after.st_size)) == size else {
            throw StoredDigestError(.different, display(), "it was written to while it was read")
        }
        return (state.finalize(), size, after.st_mode & 0o111 != 0)
    }

    /// Adds the contents of a sealed file to the digest.
    /// - Returns: their number.
    private mutating func sealed(
        _ file: Int32, _ keys: FileKeys, _ progressed: (Int) throws(StoredDigestError) -> Void
    ) throws(SystemError) -> UInt64 {
        let copy = try FileDescriptor.copy(of: file)
        do throws(SealedFileError) {
            let source = try SealedFile.open(copy, keys)
            try source.read(upTo: source.size) { (bytes) throws(SealedFileError) in
                state.update(bytes)
                do throws(StoredDigestError) {
                    try progressed(bytes.count)
                } catch {
                    cancellation = error
                    throw .system(SystemError(ECANCELED))
                }
            }
            return source.size
        } catch {
            sealedFault = error
            throw SystemError(EIO)
        }
    }

    /// What `progressed` threw.
    private var cancellation: StoredDigestError?
    private var sealedFault: SealedFileError?

    private static func status(of file: Int32) throws(SystemError) -> stat {
        var status = stat()
        try systemCall { fstat(file, &status) }
        return status
    }

    // MARK: A tree

    private final class Level {
        let folder: FileDescriptor
        let path: SafeRelativePath?
        let names: SortedNames
        var next = 0

        init(
            _ name: UnsafePointer<CChar>, in holder: Int32, path: SafeRelativePath?, most: UInt64, isSealed: Bool
        ) throws(SystemError) {
            let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
            let raw = try systemCall { openat(holder, name, flags) }
            folder = FileDescriptor(owning: raw)
            self.path = path
            names = try SortedNames(of: raw, most: most, areSealed: isSealed)
        }
    }

    mutating func tree(
        _ root: String,
        in folder: Int32,
        _ progressed: (Int) throws(StoredDigestError) -> Void
    ) throws(StoredDigestError) -> StoredDigest {
        var listing = TreeListing(algorithm)
        var total = StoredDigest(digest: Digest.of(algorithm, []), size: 0, entries: 1)
        var levels: [Level] = []
        do {
            levels.append(try Level(root, in: folder, path: nil, most: Limits.entriesPerItem, isSealed: keys != nil))
        } catch {
            throw StoredDigestError(error, root)
        }
        while let level = levels.last {
            guard level.next < level.names.count else {
                levels.removeLast()
                continue
            }
            let index = level.next
            level.next += 1
            total.entries += 1
            guard total.entries <= Limits.entriesPerItem else { throw StoredDigestError(SystemError(EFBIG), root) }
            let path = try Self.path(level, index, root)
            let sealedName = level.names.sealedName(at: index)
            try level.names.withName(at: index, sealedName) { name throws(StoredDigestError) in
                var status = stat()
                do throws(SystemError) {
                    try systemCall { fstatat(level.folder.raw, name, &status, AT_SYMLINK_NOFOLLOW) }
                    switch status.st_mode & S_IFMT {
                    case S_IFDIR:
                        let most = Limits.entriesPerItem - total.entries
                        levels.append(
                            try Level(name, in: level.folder.raw, path: path, most: most, isSealed: keys != nil))
                        listing.folder(path)
                        return
                    case S_IFREG: break
                    case S_IFLNK:
                        listing.link(path, target: try Self.target(name, in: level.folder.raw, of: path))
                        return
                    default: throw SystemError(ENXIO)
                    }
                } catch {
                    throw StoredDigestError(error, "\(root)/\(path)")
                }
                let file = try file(name, in: level.folder.raw, display: "\(root)/\(path)", progressed)
                listing.file(path, executable: file.executable, digest: file.digest)
                total.size += file.size
            }
        }
        total.digest = listing.finalize()
        return total
    }

    private static func path(_ level: Level, _ index: Int, _ root: String) throws(StoredDigestError) -> SafeRelativePath
    {
        let text = level.names.text(at: index)
        do throws(NameError) {
            guard let text else { throw NameError.notUTF8 }
            let name = try SafeName(text)
            guard let folder = level.path else { return SafeRelativePath(name) }
            return try folder.appending(name)
        } catch {
            let folder = level.path.map { "\(root)/\($0)" } ?? root
            let name = level.names.withName(at: index) { String(cString: $0) }
            throw StoredDigestError(.different, folder, "something in it was never received: \(error.said(of: name))")
        }
    }

    /// - Throws: `ENXIO` for a target that would have been refused.
    private static func target(
        _ name: UnsafePointer<CChar>, in folder: Int32, of path: SafeRelativePath
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

    /// The name on the disk of a sealed file; nil for all others.
    func sealedName(at index: Int) -> String? {
        sealed.contains(starts[index]) ? withName(at: index) { String(cString: $0) + SealedName.ending } : nil
    }

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

    /// The same with another name in its place.
    func withName<Result, Failure: Error>(
        at index: Int, _ other: String?, _ body: (UnsafePointer<CChar>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        guard let other else { return try withName(at: index, body) }
        let name = other.utf8CString
        return try name.withUnsafeBufferPointer { name throws(Failure) in
            try body(name.baseAddress.unsafelyUnwrapped)
        }
    }

    /// Nil where the name is not UTF-8.
    func text(at index: Int) -> String? {
        withName(at: index) { String(validatingCString: $0) }
    }
}
