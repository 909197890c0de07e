import Digests
import NIOCore
import Sharing

/// Produces the body of the contents from item sources, in large buffers.
///
/// Reads the disk on the calling thread, which must be allowed to block.
final class ContentsPacker {
    /// Approximate bytes of one piece of the body: the cost of a system call and a wake-up for each is negligible.
    private static let pieceBytes = 512 << 10
    private static let readBytes = 256 << 10

    /// The size and digest of an item that was read.
    struct ReadItem {
        var bytes: UInt64
        var digest: Digest
    }

    /// The completely read items, by number.
    private(set) var read: [Int: ReadItem] = [:]
    /// Bytes of contents in the pieces so far.
    private(set) var contentBytes: UInt64 = 0

    private let plan: SendingPlan
    private let deflater: BodyDeflater
    private let output: Output
    private let archive: CPIOWriter
    private var next = 0
    private var reader: (any ItemReading)?
    private var file: FileEntry?
    private var itemBytes: UInt64 = 0
    private var fileDigest = DigestState(.xxh3_128)
    private var listing: TreeListing?
    private var soleFileDigest: Digest?
    private var hasEnded = false
    /// Owned.
    private let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: readBytes, alignment: 4_096)

    /// Holds the growing piece.
    private final class Output {
        var piece = ByteBuffer()
    }

    /// The item that is being read, or that could not be read.
    var currentItem: Int? { next < plan.files.count ? plan.files[next].item : nil }

    init(_ plan: SendingPlan, _ form: BodyDeflater.Form) throws(TransferError) {
        self.plan = plan
        let (deflater, output) = (try BodyDeflater(form), Output())
        self.deflater = deflater
        self.output = output
        archive = try CPIOWriter { deflater.add($0, to: &output.piece) }
    }

    deinit { scratch.deallocate() }

    /// - Returns: the next piece of the body, nil after the last.
    /// - Throws: `SourceError` if a source no longer matches its offer or cannot be read; `TransferError` if it cannot
    ///   be packed. The archive cannot be finished then, because its format cannot mark a fault.
    func nextPiece() throws -> ByteBuffer? {
        guard !hasEnded else { return nil }
        output.piece.reserveCapacity(Self.pieceBytes + (128 << 10))
        while output.piece.readableBytes < Self.pieceBytes, !hasEnded { try step() }
        defer { output.piece = ByteBuffer() }
        return output.piece
    }

    private func step() throws {
        guard let reader else { return try beginItem() }
        if let file {
            try readOn(reader, file)
        } else if let step = try reader.next() {
            try take(step)
        } else {
            endItem()
        }
    }

    private func beginItem() throws {
        guard next < plan.files.count else {
            try archive.finish()
            deflater.finish(into: &output.piece)
            hasEnded = true
            return
        }
        let item = plan.files[next]
        if let replacement = item.replacement {
            try archive.file("./" + item.name.text, size: UInt64(replacement.count), executable: false, modified: nil)
            try replacement.withUnsafeBytes { try archive.write($0) }
            read[item.item] = ReadItem(
                bytes: UInt64(replacement.count), digest: Digest.of(.xxh3_128, replacement))
            contentBytes += UInt64(replacement.count)
            next += 1
            return
        }
        reader = try plan.sources[item.item].open()
        itemBytes = 0
        soleFileDigest = nil
        listing = item.isFolder ? TreeListing(.xxh3_128) : nil
        if item.isFolder { try archive.folder("./" + item.name.text, modified: nil) }
    }

    private func path(_ path: SafeRelativePath?) -> String {
        let name = "./" + plan.files[next].name.text
        return path.map { name + "/" + $0.text } ?? name
    }

    private func take(_ step: ContentStep) throws {
        switch step {
        case .folder(let path):
            listing?.folder(path)
            try archive.folder(self.path(path), modified: nil)
        case .link(let path, let target):
            listing?.link(path, target: target)
            try archive.link(self.path(path), target: target.text)
        case .folderClosed:
            break
        case .file(let entry):
            let origin = plan.sources[plan.files[next].item].origin
            guard let size = entry.size else {
                throw SourceError(.unreadable, "AirDrop has to know the size of \(origin) first")
            }
            guard size <= AirDropDialect.largestFile else {
                throw SourceError(.unreadable, "AirDrop carries no file as large as one in \(origin)")
            }
            try archive.file(
                path(entry.path), size: size, executable: entry.executable, modified: entry.modified)
            file = entry
            fileDigest.reset()
        }
    }

    private func readOn(_ reader: any ItemReading, _ file: FileEntry) throws {
        let count = try reader.read(into: scratch)
        if count > 0 {
            let bytes = UnsafeRawBufferPointer(rebasing: scratch.prefix(count))
            fileDigest.update(bytes)
            try archive.write(bytes)
            contentBytes += UInt64(count)
            itemBytes += UInt64(count)
            return
        }
        let digest = fileDigest.finalize()
        if let path = file.path {
            listing?.file(path, executable: file.executable, digest: digest)
        } else {
            soleFileDigest = digest
        }
        self.file = nil
    }

    private func endItem() {
        if let digest = listing != nil ? listing?.finalize() : soleFileDigest {
            read[plan.files[next].item] = ReadItem(bytes: itemBytes, digest: digest)
        }
        reader = nil
        listing = nil
        next += 1
    }
}
