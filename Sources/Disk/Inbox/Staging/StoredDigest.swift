package import Digests
import Glibc
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
    ///   - ignoringModes: whether no file of a tree counts as executable: on a disk that keeps no such bits.
    ///   - fromDisk: whether to ask the kernel to drop its copies of the files first, so that the disk itself is read.
    ///     Not worth it for files that are read again soon.
    ///   - progressed: called with the bytes read since the last call. An error of it ends the reading.
    package static func read(
        _ name: String,
        in folder: Int32,
        isTree: Bool,
        algorithm: DigestAlgorithm,
        keys: FileKeys? = nil,
        ignoringModes: Bool = false,
        fromDisk: Bool = false,
        progressed: (Int) throws(StoredDigestError) -> Void = { _ in }
    ) throws(StoredDigestError) -> StoredDigest {
        guard !name.isEmpty, name != ".", name != "..", !name.utf8.contains(UInt8(ascii: "/")) else {
            throw StoredDigestError(.different, name, "this cannot be the name of an item")
        }
        var reading = DigestReading(algorithm: algorithm, keys: keys, fromDisk: fromDisk)
        if isTree { return try reading.tree(name, in: folder, ignoringModes: ignoringModes, progressed) }
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

    init(_ error: SystemError, _ place: String) {
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
        case .locked: self.init(.locked, place, error.description)
        case .closed: self.init(.unreadable, place, error.description)
        case .foreign, .damaged: self.init(.different, place, error.description)
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

    typealias File = (digest: Digest, size: UInt64, executable: Bool)

    /// Reads it twice if only the time of its change differs in the end: the file system may be late with that of the
    /// arrival, and a new link or mode leaves the contents as they are.
    mutating func file(
        _ name: String,
        in folder: Int32,
        display: @autoclosure () -> String,
        _ progressed: (Int) throws(StoredDigestError) -> Void
    ) throws(StoredDigestError) -> File {
        let (first, isSettled) = try fileOnce(name, in: folder, display: display(), progressed)
        if isSettled { return first }
        let (second, _) = try fileOnce(name, in: folder, display: display()) { (_) throws(StoredDigestError) in
            try progressed(0)
        }
        guard first == second else { throw Self.wasWrittenTo(display()) }
        return second
    }

    private static func wasWrittenTo(_ display: String) -> StoredDigestError {
        StoredDigestError(.different, display, "it was written to while it was read")
    }

    private mutating func fileOnce(
        _ name: String,
        in folder: Int32,
        display: @autoclosure () -> String,
        _ progressed: (Int) throws(StoredDigestError) -> Void
    ) throws(StoredDigestError) -> (File, isSettled: Bool) {
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
        let stamps = (FileStamp(before), FileStamp(after))
        guard stamps.0.hasSameContents(as: stamps.1), keys != nil || UInt64(max(0, after.st_size)) == size else {
            throw Self.wasWrittenTo(display())
        }
        let file: File = (state.finalize(), size, after.st_mode & 0o111 != 0)
        return (file, stamps.0 == stamps.1)
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

    mutating func tree(
        _ root: String,
        in folder: Int32,
        ignoringModes: Bool,
        _ progressed: (Int) throws(StoredDigestError) -> Void
    ) throws(StoredDigestError) -> StoredDigest {
        var walk = try StoredTreeWalk(root, in: folder, areSealed: keys != nil)
        var listing = TreeListing(algorithm)
        var size: UInt64 = 0
        while let step = try walk.next() {
            switch step {
            case .folder(let path): listing.folder(path)
            case .link(let path, let target): listing.link(path, target: target)
            case .file(let path, let name, let folder):
                let file = try file(name, in: folder, display: "\(root)/\(path)", progressed)
                listing.file(path, executable: file.executable && !ignoringModes, digest: file.digest)
                size += file.size
            case .folderClosed: break
            }
        }
        return StoredDigest(digest: listing.finalize(), size: size, entries: walk.entries)
    }
}
