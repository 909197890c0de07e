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
        case sent(SentContents)
        /// By the receipt of an earlier attempt the other side has it.
        case storedBefore
        case failed(SourceFault)
    }

    /// Who writes in this process, and how large their pieces are.
    private static let share = PieceShare()
    /// Not worth a data frame: the piece is sent and the next one begun.
    private static let leastRoom = 4 << 10

    private(set) var outcomes: [SourceOutcome]
    /// Bytes of contents that have been put into pieces, or that the other side has already.
    private(set) var contentBytes: UInt64 = 0
    /// The same for the current item.
    private var itemBytes: UInt64 = 0
    /// Bytes of contents that have been put into pieces.
    private(set) var movedBytes: UInt64 = 0

    private let sources: [any ItemSource]
    private let verdict: Verdict
    private let stored: [Int: Digest]
    private let contradicted: Set<Int>
    private let kept: KeptList?
    private var next = 0
    private var reader: (any ItemReading)?
    /// Finds out whether the current item is what the other side has in its Inbox.
    private var comparison: ItemComparison?
    /// Finds out how much of the file that was begun the other side has.
    private var search: PrefixSearch?
    private var file: FileEntry?
    private var fileDigest: DigestState
    private var listing: TreeListing?
    private var soleFileDigest: Digest?
    private var hasEnded = false
    private var isOverdue = false
    private let algorithm: DigestAlgorithm
    /// Memory for the pieces. One that has left serves anew.
    private var ring = Array(repeating: ByteBuffer(), count: 4)
    private var turn = 0
    /// Bytes of the current piece, and how many there were before it.
    private var pieceBytes = 0
    private var pieces = 0

    /// - Parameters:
    ///   - stored: items that the other side has stored in an earlier attempt at this transfer, by its receipt.
    ///   - contradicted: items of which it was said in vain that they are there.
    ///   - kept: what the other side has kept; nil where it said nothing of the kind.
    init(
        _ sources: [any ItemSource], verdict: Verdict, stored: [Int: Digest] = [:], contradicted: Set<Int> = [],
        kept: KeptList? = nil
    ) {
        self.sources = sources
        self.verdict = verdict
        self.stored = stored
        self.contradicted = contradicted
        self.kept = kept
        self.algorithm = verdict.digest
        self.fileDigest = DigestState(verdict.digest)
        self.outcomes = Array(repeating: .notReached, count: sources.count)
        Self.share.begin()
    }

    deinit { Self.share.end() }

    /// - Returns: the next piece of the body, nil after the last.
    func nextPiece() -> ByteBuffer? {
        guard !hasEnded else { return nil }
        pieceBytes = Self.share.pieceBytes(after: pieces)
        pieces += 1
        // The first that has left already: it may still be in the cache.
        turn = ring.indices.first { ring[$0].modifyIfUniquelyOwned { _ in } != nil } ?? (turn + 1) % ring.count
        if ring[turn].capacity >= 2 * pieceBytes { ring[turn] = ByteBuffer() }
        // Takes new memory by itself if the connection still holds the old.
        ring[turn].clear(minimumCapacity: pieceBytes)
        isOverdue = false
        while ring[turn].writerIndex < pieceBytes - Self.leastRoom - FrameHeader.byteCount, !hasEnded, !isOverdue {
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
        do throws(SourceFault) {
            guard let reader else { return try beginItem() }
            if let comparison {
                try compare(comparison)
            } else if let search {
                try goOn(search)
            } else if let file {
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

    private func beginItem() throws(SourceFault) {
        while next < sources.count, verdict.items[next].answer != .accepted { next += 1 }
        guard next < sources.count else {
            ring[turn].writeFrame(.end)
            hasEnded = true
            return
        }
        if let digest = stored[next] { return declarePresent(digest, .storedBefore) }
        reader = try sources[next].open()
        if sources[next].isRepeatable, !contradicted.contains(next), let present = verdict.items[next].present {
            comparison = ItemComparison(with: present, isTree: isTree)
        } else {
            announceItem()
        }
    }

    private var isTree: Bool { sources[next].offered.kind == .tree }

    private func announceItem() {
        ring[turn].writeFrame(.item(next))
        listing = isTree ? TreeListing(algorithm) : nil
        soleFileDigest = nil
        itemBytes = 0
    }

    private func compare(_ comparison: ItemComparison) throws(SourceFault) {
        guard let reader else { return }
        switch try comparison.step(reader) {
        case .undecided:
            showLife()
        case .same(let digest):
            declarePresent(digest, .sent(SentContents(digest: digest, size: sources[next].offered.size ?? 0)))
        case .different:
            self.comparison = nil
            // From its beginning.
            self.reader = try sources[next].open()
            announceItem()
        }
    }

    /// In place of the item's contents.
    private func declarePresent(_ digest: Digest, _ outcome: SourceOutcome) {
        ring[turn].writeFrame(.present(next, digest))
        contentBytes += sources[next].offered.size ?? 0
        outcomes[next] = outcome
        closeItem()
    }

    /// Comparing takes its time: what there is of the piece leaves now, so that the other side hears that we live.
    private func showLife() {
        ring[turn].writeWaiting()
        isOverdue = true
    }

    private func goOn(_ search: PrefixSearch) throws(SourceFault) {
        guard let reader, var entry = file else { return }
        switch try search.step(reader, &fileDigest) {
        case nil:
            showLife()
        case let prefix?:
            entry.offset = prefix
            contentBytes += prefix
            itemBytes += prefix
            file = entry
            self.search = nil
            ring[turn].writeFrame(.file(entry))
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
            if sources[next].isRepeatable, let size = entry.size, let kept = kept?.file(entry.path, ofItem: next) {
                search = PrefixSearch(kept, size: size)
            } else {
                ring[turn].writeFrame(.file(entry))
            }
        case .link(let path, let target):
            listing?.link(path, target: target)
            ring[turn].writeFrame(.link(path, target: target))
        case .folderClosed(let path, let modified):
            ring[turn].writeFrame(.folderClosed(path, modified: modified))
        }
    }

    private func readOn(_ reader: any ItemReading, _ file: FileEntry) throws(SourceFault) {
        let room = pieceBytes - ring[turn].writerIndex - FrameHeader.byteCount
        let count = try ring[turn].writeDataFrame(capacity: room) { (bytes) throws(SourceFault) -> Int in
            let count = try reader.read(into: bytes)
            fileDigest.update(UnsafeRawBufferPointer(rebasing: bytes.prefix(count)))
            return count
        }
        contentBytes += UInt64(count)
        itemBytes += UInt64(count)
        movedBytes += UInt64(count)
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
        outcomes[next] = .sent(SentContents(digest: digest, size: itemBytes))
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
        comparison = nil
        search = nil
        file = nil
        listing = nil
        next += 1
    }
}
