import Digests
import NIOCore
import Sharing
private import Synchronization

/// Produces the frames of the contents from item sources, in large buffers.
///
/// Reads the disk on the calling thread, which must be allowed to block.
final class ContentsWriter {
    /// How the pieces are made.
    enum Mode {
        /// As fast as possible for one receiver.
        case usual
        /// The same bytes each time, from which a group's blocks are cut: nothing depends on the time or on other transfers.
        case steady
        /// As `steady`, but no contents are read: only the number of bytes is right.
        case measuring
    }

    /// The result of an item on this side.
    enum SourceState {
        case notReached
        case sent(SentContents)
        /// The receipt of an earlier attempt shows that the receiver has it.
        case storedBefore
        case failed(SourceError)
    }

    /// Counts this process's writers and sets the size of their pieces.
    private static let share = PieceShare()
    /// Room too small for a data frame: the writer ends the piece.
    private static let minimumRoom = 4 << 10

    private(set) var outcomes: [SourceState]
    /// Bytes of contents in the pieces so far, or already at the receiver.
    private(set) var contentBytes: UInt64 = 0
    /// The same for the current item.
    private var itemBytes: UInt64 = 0
    /// Bytes of contents in the pieces so far.
    private(set) var movedBytes: UInt64 = 0

    private let sources: [any ItemSource]
    private let verdict: Verdict
    private let stored: [Int: Digest]
    private let contradicted: Set<Int>
    private let kept: KeptList?
    private var next = 0
    private var reader: (any ItemReading)?
    /// Compares the current item with the one in the receiver's Inbox.
    private var comparison: ItemComparison?
    /// Finds how much of the current file the receiver has.
    private var search: PrefixSearch?
    private var file: FileEntry?
    private var fileDigest: DigestState
    private var listing: TreeListing?
    private var soleFileDigest: Digest?
    /// Whether the last piece has the frame that ends the contents.
    private(set) var hasEnded = false
    /// Whether an item could not be read to its end.
    private(set) var hasAbandoned = false
    private var isOverdue = false
    private let algorithm: DigestAlgorithm
    private let mode: Mode
    /// Bytes of the current file before the next data frame.
    private var filePosition: UInt64 = 0
    /// Memory for the pieces; reused once the caller has released it.
    private var piece = ByteBuffer()
    /// Bytes of the current piece, and the number of earlier pieces.
    private var pieceBytes = 0
    private var pieces = 0

    /// - Parameters:
    ///   - stored: items that the receiver stored in an earlier attempt at this transfer, by its receipt.
    ///   - contradicted: items that this side declared present and the receiver did not have.
    ///   - kept: the receiver's kept parts; nil if it listed none.
    init(
        _ sources: [any ItemSource], verdict: Verdict, stored: [Int: Digest] = [:], contradicted: Set<Int> = [],
        kept: KeptList? = nil, mode: Mode = .usual
    ) {
        self.mode = mode
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

    /// - Returns: the next piece, nil after the last. Release it before the next call.
    func nextPiece() -> ByteBuffer? {
        guard !hasEnded else { return nil }
        pieceBytes = mode == .usual ? Self.share.pieceBytes(after: pieces) : Self.steadyPieceBytes
        pieces += 1
        if piece.capacity >= 2 * pieceBytes { piece = ByteBuffer() }
        piece.clear(minimumCapacity: pieceBytes)
        isOverdue = false
        while piece.writerIndex < pieceBytes - Self.minimumRoom - FrameHeader.byteCount, !hasEnded, !isOverdue {
            step()
        }
        return piece
    }

    /// Bytes of a steady piece. It ends with the frame of a file's contents, wherever that is.
    private static let steadyPieceBytes = 256 << 10

    /// The frame that cancels the transfer.
    static func cancelPiece() -> ByteBuffer {
        var piece = ByteBuffer()
        piece.writeFrame(.cancel(.senderCancelled))
        return piece
    }

    private func step() {
        do throws(SourceError) {
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

    private func beginItem() throws(SourceError) {
        while next < sources.count, verdict.items[next].answer != .accepted { next += 1 }
        guard next < sources.count else {
            piece.writeFrame(.end)
            hasEnded = true
            return
        }
        if let digest = stored[next] {
            // Only for an item of another transfer does the receipt have the digest that stands for its contents.
            return declarePresent(digest.algorithm == .lasting ? digest : nil, .storedBefore)
        }
        reader = try sources[next].open()
        if mode == .usual, sources[next].isRepeatable, !contradicted.contains(next),
            let present = verdict.items[next].present
        {
            comparison = ItemComparison(with: present, isTree: isTree)
        } else {
            announceItem()
        }
    }

    private var isTree: Bool { sources[next].offered.kind == .tree }

    private func announceItem() {
        piece.writeFrame(.item(next))
        listing = isTree ? TreeListing(algorithm) : nil
        soleFileDigest = nil
        itemBytes = 0
    }

    private func compare(_ comparison: ItemComparison) throws(SourceError) {
        guard let reader else { return }
        switch try comparison.step(reader) {
        case .undecided:
            showLife()
        case .same(let digest):
            declarePresent(digest, .sent(SentContents(digest: digest, size: sources[next].offered.size ?? 0)))
        case .different:
            self.comparison = nil
            // The new reader starts at the beginning.
            self.reader = try sources[next].open()
            announceItem()
        }
    }

    /// Writes a frame in place of the item's contents.
    private func declarePresent(_ digest: Digest?, _ outcome: SourceState) {
        piece.writeFrame(.present(next, digest))
        contentBytes += sources[next].offered.size ?? 0
        outcomes[next] = outcome
        closeItem()
    }

    /// Comparing takes time: the unfinished piece is sent now, to show the receiver that this side is alive.
    private func showLife() {
        guard mode == .usual else { return }
        piece.writeWaiting()
        isOverdue = true
    }

    private func goOn(_ search: PrefixSearch) throws(SourceError) {
        guard let reader, var entry = file else { return }
        switch try search.step(reader, &fileDigest) {
        case nil:
            showLife()
        case let prefix?:
            entry.offset = prefix
            contentBytes += prefix
            itemBytes += prefix
            file = entry
            filePosition = prefix
            self.search = nil
            piece.writeFrame(.file(entry))
        }
    }

    private func take(_ step: ContentStep) throws(SourceError) {
        switch step {
        case .folder(let path):
            listing?.folder(path)
            piece.writeFrame(.folder(path))
        case .file(let entry):
            file = entry
            filePosition = 0
            fileDigest.reset()
            if sources[next].isRepeatable, let size = entry.size, let kept = kept?.file(entry.path, ofItem: next) {
                search = PrefixSearch(kept, size: size)
            } else {
                piece.writeFrame(.file(entry))
            }
        case .link(let path, let target):
            listing?.link(path, target: target)
            piece.writeFrame(.link(path, target: target))
        case .folderClosed(let path, let modified):
            piece.writeFrame(.folderClosed(path, modified: modified))
        }
    }

    private func readOn(_ reader: any ItemReading, _ file: FileEntry) throws(SourceError) {
        let room = pieceBytes - piece.writerIndex - FrameHeader.byteCount
        let count = try piece.writeDataFrame(capacity: room) { (bytes) throws(SourceError) -> Int in
            let count = try read(reader, file, into: bytes)
            if mode != .measuring { fileDigest.update(UnsafeRawBufferPointer(rebasing: bytes.prefix(count))) }
            return count
        }
        filePosition += UInt64(count)
        contentBytes += UInt64(count)
        itemBytes += UInt64(count)
        movedBytes += UInt64(count)
        guard count == 0 else { return }
        let digest = fileDigest.finalize()
        piece.writeFrame(.fileEnd(digest))
        if let path = file.path {
            listing?.file(path, executable: file.executable, digest: digest)
        } else {
            soleFileDigest = digest
        }
        self.file = nil
    }

    /// - Returns: the bytes; 0 at the end of the file.
    private func read(
        _ reader: any ItemReading, _ file: FileEntry, into room: UnsafeMutableRawBufferPointer
    ) throws(SourceError) -> Int {
        guard mode != .usual, let size = file.size, filePosition < size else { return try reader.read(into: room) }
        let wanted = Int(min(UInt64(room.count), size - filePosition))
        if mode == .measuring {
            if filePosition + UInt64(wanted) == size { try reader.seek(to: size) }
            return wanted
        }
        // A disk may give less at a time.
        var count = 0
        while count < wanted {
            let part = try reader.read(into: UnsafeMutableRawBufferPointer(rebasing: room[count..<wanted]))
            guard part > 0 else { throw SourceError(.changed, "\(sources[next].origin) became shorter") }
            count += part
        }
        return count
    }

    private func endItem() {
        guard let digest = listing != nil ? listing?.finalize() : soleFileDigest else {
            return abandon(SourceError(.changed, "\(sources[next].origin) has no contents"))
        }
        piece.writeFrame(.itemEnd(digest))
        outcomes[next] = .sent(SentContents(digest: digest, size: itemBytes))
        closeItem()
    }

    private func abandon(_ fault: SourceError) {
        let code: TransferError.Code = fault.code == .changed ? .changed : .unreadable
        // Not the fault's own message, which contains paths of this machine.
        let message = code == .changed ? "it changed while it was read" : "the sender could not read it"
        piece.writeFrame(.itemAbandoned(next, TransferError(code, message)))
        outcomes[next] = .failed(fault)
        hasAbandoned = true
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

/// Sets the size of the pieces of contents: large enough to make the overhead negligible, small enough to bound the memory of
/// all bodies that this process sends at the same time.
final class PieceShare: Sendable {
    /// Maximum TLS records of a piece, which leaves none of them partly filled. Twice and half this number are slower.
    private static let maximumRecords = 30
    private static let minimumRecords = 4
    private static let recordBytes = 16_384
    /// Maximum records in one piece of each body together, unless that gives a body less than the minimum.
    private static let recordsOfAll = 320

    private let bodies = Atomic<Int>(0)

    /// Registers one more body.
    func begin() { bodies.add(1, ordering: .relaxed) }

    /// Removes one body.
    func end() { bodies.subtract(1, ordering: .relaxed) }

    /// - Parameter pieces: number of earlier pieces of the body. The first pieces are small: the receiver can start
    ///   early, and a small transfer takes little memory.
    /// - Returns: bytes of the next piece.
    func pieceBytes(after pieces: Int) -> Int {
        let share = Self.recordsOfAll / max(1, bodies.load(ordering: .relaxed))
        let records = min(Self.maximumRecords, share, pieces < 2 ? Self.minimumRecords << pieces : .max)
        return max(records, Self.minimumRecords) * Self.recordBytes
    }
}
