import Digests
import NIOCore
import Sharing

/// Produces the body of the contents from item sources, a large buffer at a time.
///
/// Reads the disk where it is called: to be used on a thread that may block.
final class ContentsWriter {
    /// What became of an item on this side.
    enum SourceOutcome {
        case notReached
        case sent(Digest)
        case failed(SourceFault)
    }

    /// Bytes of one piece of the body: large enough that a system call or a wake-up a piece does not count.
    private static let pieceBytes = 512 << 10
    /// Not worth a data frame: the piece is sent and the next one begun.
    private static let leastRoom = 4 << 10

    private(set) var outcomes: [SourceOutcome]
    /// Bytes of contents that have been put into pieces.
    private(set) var contentBytes: UInt64 = 0

    private let sources: [any ItemSource]
    private let accepted: [Bool]
    private var next = 0
    private var reader: (any ItemReading)?
    private var file: FileEntry?
    private var fileDigest: DigestState
    private var listing: TreeListing?
    private var soleFileDigest: Digest?
    private var hasEnded = false
    private let algorithm: DigestAlgorithm
    /// Buffers that take turns: by the time one comes round again it has left, and its memory serves anew.
    private var ring = Array(repeating: ByteBuffer(), count: 4)
    private var turn = 0

    init(_ sources: [any ItemSource], verdict: Verdict) {
        self.sources = sources
        self.accepted = verdict.items.map { $0.answer == .accepted }
        self.algorithm = verdict.digest
        self.fileDigest = DigestState(verdict.digest)
        self.outcomes = Array(repeating: .notReached, count: sources.count)
    }

    /// - Returns: the next piece of the body, nil after the last.
    func nextPiece() -> ByteBuffer? {
        guard !hasEnded else { return nil }
        turn = (turn + 1) % ring.count
        // Takes new memory by itself if the connection still holds the old.
        ring[turn].clear(minimumCapacity: Self.pieceBytes)
        while ring[turn].writerIndex < Self.pieceBytes - Self.leastRoom - FrameHeader.byteCount, !hasEnded {
            step()
        }
        return ring[turn]
    }

    /// The frame that tells the other side that no more comes.
    static func cancelPiece() -> ByteBuffer {
        var piece = ByteBuffer()
        piece.writeFrame(.cancel(TransferFault(.cancelled, "the sender cancelled")))
        return piece
    }

    private func step() {
        guard let reader else { return beginItem() }
        do throws(SourceFault) {
            if let file {
                try readOn(reader, file)
            } else if let step = try reader.next() {
                try take(step)
            } else {
                endItem()
            }
        } catch {
            abandon(error)
        }
    }

    private func beginItem() {
        while next < sources.count, !accepted[next] { next += 1 }
        guard next < sources.count else {
            ring[turn].writeFrame(.end)
            hasEnded = true
            return
        }
        do throws(SourceFault) {
            let reader = try sources[next].open()
            ring[turn].writeFrame(.item(next))
            self.reader = reader
            listing = sources[next].offered.kind == .tree ? TreeListing(algorithm) : nil
            soleFileDigest = nil
        } catch {
            abandon(error)
        }
    }

    private func take(_ step: ContentStep) throws(SourceFault) {
        switch step {
        case .folder(let path):
            listing?.folder(path)
            ring[turn].writeFrame(.folder(path))
        case .file(let entry):
            file = entry
            fileDigest.reset()
            ring[turn].writeFrame(.file(entry))
        case .link(let path, let target):
            listing?.link(path, target: target)
            ring[turn].writeFrame(.link(path, target: target))
        case .folderClosed(let path, let modified):
            ring[turn].writeFrame(.folderClosed(path, modified: modified))
        }
    }

    private func readOn(_ reader: any ItemReading, _ file: FileEntry) throws(SourceFault) {
        let room = Self.pieceBytes - ring[turn].writerIndex - FrameHeader.byteCount
        let count = try ring[turn].writeDataFrame(capacity: room) { (bytes) throws(SourceFault) -> Int in
            let count = try reader.read(into: bytes)
            fileDigest.update(UnsafeRawBufferPointer(rebasing: bytes.prefix(count)))
            return count
        }
        contentBytes += UInt64(count)
        guard count == 0 else { return }
        let digest = fileDigest.finalize()
        ring[turn].writeFrame(.fileEnd(digest))
        if let path = file.path {
            listing?.file(path, executable: file.executable, digest: digest)
        } else {
            soleFileDigest = digest
        }
        self.file = nil
    }

    private func endItem() {
        guard let digest = listing != nil ? listing?.finalize() : soleFileDigest else {
            return abandon(SourceFault(.changed, "\(sources[next].origin) has no contents"))
        }
        ring[turn].writeFrame(.itemEnd(digest))
        outcomes[next] = .sent(digest)
        closeItem()
    }

    private func abandon(_ fault: SourceFault) {
        let code: TransferFault.Code = fault.code == .changed ? .changed : .unreadable
        // Not the fault's own message: it names paths of this machine.
        let message = code == .changed ? "it changed while it was read" : "the sender could not read it"
        ring[turn].writeFrame(.itemAbandoned(next, TransferFault(code, message)))
        outcomes[next] = .failed(fault)
        closeItem()
    }

    private func closeItem() {
        reader = nil
        file = nil
        listing = nil
        next += 1
    }
}
