import Digests
import Glibc
import Sharing
import SystemCalls

/// Writes the contents of an item of the Inbox into staging, in another form: sealed anew, or open.
///
/// Dates, executable bits, links and empty folders stay; all other bits of modes are those of an item that arrives.
struct ResealedCopy: ~Copyable {
    let staged: StagedFiles
    /// The digest of the contents: of a tree, of its listing in byte order.
    private(set) var contents: Digest
    /// Those of a sealed item; nil for an open one.
    private let keys: FileKeys?
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 4_096)
    /// The latest change of the item, or of any of its entries, when they were read.
    private var lastChange: Timestamp?
    private var state: DigestState

    /// Writes the copy.
    ///
    /// - Parameters:
    ///   - place: of the item.
    ///   - staged: a new place in staging.
    ///   - algorithm: of the digest of the contents.
    /// - Throws: `SealedFileError`, `StoredDigestError`, `TransferError`, `SystemError`.
    init(of place: FolderEntry, keys: FileKeys?, in staged: StagedFiles, _ algorithm: DigestAlgorithm) throws {
        self.staged = staged
        self.keys = keys
        state = DigestState(algorithm)
        contents = Digest.of(algorithm, [])
        contents = staged.isTree ? try tree(place) : try file(place.name, in: place.folder.raw, as: nil).digest
    }

    deinit { buffer.deallocate() }

    private mutating func tree(_ place: FolderEntry) throws -> Digest {
        var walk = try StoredTreeWalk(place.name, in: place.folder.raw, areSealed: keys != nil)
        var listing = TreeListing(state.algorithm)
        while let step = try walk.next() {
            switch step {
            case .folder(let path):
                try staged.makeFolder(path)
                listing.folder(path)
            case .link(let path, let target):
                try staged.makeLink(path, target: target)
                listing.link(path, target: target)
            case .file(let path, let name, let folder):
                let file = try file(name, in: folder, as: path)
                listing.file(path, executable: file.executable && staged.keepsModes, digest: file.digest)
            case .folderClosed(let path, let modified):
                try staged.closeFolder(path, modified: modified)
            }
        }
        try staged.rest()
        lastChange = walk.lastChange
        return listing.finalize()
    }

    private mutating func file(
        _ name: String, in folder: Int32, as path: SafeRelativePath?
    ) throws -> (digest: Digest, executable: Bool) {
        let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC
        let file = FileDescriptor(owning: try systemCall { openat(folder, name, flags) })
        var status = stat()
        try systemCall { fstat(file.raw, &status) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw SystemError(ENXIO) }
        if path == nil { lastChange = Timestamp(status.st_ctim) }
        let isExecutable = status.st_mode & 0o111 != 0
        state.reset()
        var entry = FileEntry(
            path: path, executable: isExecutable, modified: Timestamp(status.st_mtim),
            size: UInt64(max(0, status.st_size)))
        if let keys {
            let source = try SealedFile.open(file, keys)
            entry.size = source.size
            try staged.beginFile(entry)
            var fault: TransferError?
            do throws(SealedFileError) {
                try source.read(upTo: source.size) { (bytes) throws(SealedFileError) in
                    state.update(bytes)
                    do throws(TransferError) { try staged.write(bytes) } catch {
                        fault = error
                        throw .system(SystemError(EIO))
                    }
                }
            } catch {
                if let fault { throw fault }
                throw error
            }
        } else {
            try staged.beginFile(entry)
            while true {
                let count = try systemCall { read(file.raw, buffer.baseAddress, buffer.count) }
                if count == 0 { break }
                let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<count])
                state.update(bytes)
                try staged.write(bytes)
            }
        }
        try staged.endFile()
        return (state.finalize(), isExecutable)
    }

    /// - Throws: `different` if another program has changed the item since it was read.
    func check(_ place: FolderEntry) throws(StoredDigestError) {
        guard try Self.lastChange(of: place, isTree: staged.isTree, areSealed: keys != nil) == lastChange else {
            throw StoredDigestError(.different, place.name, "it was changed meanwhile")
        }
    }

    private static func lastChange(
        of place: FolderEntry, isTree: Bool, areSealed: Bool
    ) throws(StoredDigestError) -> Timestamp? {
        guard isTree else { return (try? place.status()).map { Timestamp($0.st_ctim) } }
        var walk = try StoredTreeWalk(place.name, in: place.folder.raw, areSealed: areSealed)
        while try walk.next() != nil {}
        return walk.lastChange
    }
}
