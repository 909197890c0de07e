import DequeModule
import Digests
import Groups
import NIOCore
import Sharing
private import Synchronization

/// The stream of a group at its sender: read once, block by block, and hashed. A head that is far behind has it read again.
///
/// Reading blocks on the disk.
final class GroupStream: Sendable {
    private struct Known {
        /// The last blocks.
        var recent: Deque<ByteBuffer> = []
        /// The digests of the last blocks.
        var digests: Deque<Digest> = []
        /// Blocks that were read and hashed.
        var count = 0
        /// The outcomes of the sources, after the last block.
        var outcomes: [ContentsWriter.SourceState]
    }

    /// Blocks that are held: a ring, as a member has it.
    private static let held = GroupLimits().ring
    /// Digests that are held: more than a chain of the most members can be apart, with those in advance. 512 KiB.
    private static let heldDigests = 16_384

    let size: BlockedStream
    private let sources: [any ItemSource]
    private let verdict: Verdict
    private let kept: KeptList?
    private let reader: Mutex<BlockReader>
    private let known: Mutex<Known>

    /// Goes through the sources without reading their contents, except for the parts in `kept`.
    ///
    /// - Parameters:
    ///   - sources: repeatable, of known sizes.
    ///   - kept: parts that all members have.
    /// - Returns: nil if the stream has no known size, or a source cannot be read.
    init?(_ sources: [any ItemSource], _ verdict: Verdict, kept: KeptList?) {
        var bytes: UInt64 = 0
        let measuring = ContentsWriter(sources, verdict: verdict, kept: kept, mode: .measuring)
        while let piece = measuring.nextPiece() { bytes += UInt64(piece.readableBytes) }
        guard !measuring.hasAbandoned, let size = BlockedStream(bytes: bytes) else { return nil }
        (self.size, self.sources, self.verdict, self.kept) = (size, sources, verdict, kept)
        reader = Mutex(BlockReader(sources, verdict, kept, size))
        known = Mutex(Known(outcomes: Array(repeating: .notReached, count: sources.count)))
    }

    /// How far the sources were read.
    var outcomes: [ContentsWriter.SourceState] { known.withLock { $0.outcomes } }

    /// Blocks that were read and hashed.
    var count: Int { known.withLock { $0.count } }

    /// Reads and hashes the blocks below a number, and some after them, unless they were read.
    ///
    /// - Parameter ahead: blocks that are read together.
    /// - Returns: whether blocks were read.
    /// - Throws: `SourceError` if the contents have changed, or cannot be read.
    func read(below count: Int, ahead: Int) throws(SourceError) -> Bool {
        try reader.withLock { reader throws(SourceError) in
            guard reader.next < count else { return false }
            while reader.next < min(count + ahead, size.blocks) {
                let block = try reader.read()
                let digest = Digest.of(.lasting, block.readableBytesView)
                let outcomes = reader.outcomes
                known.withLock { known in
                    known.recent.append(block)
                    if known.recent.count > Self.held { known.recent.removeFirst() }
                    known.digests.append(digest)
                    if known.digests.count > Self.heldDigests { known.digests.removeFirst() }
                    known.count += 1
                    known.outcomes = outcomes
                }
            }
            return true
        }
    }

    /// - Parameter block: one of those that a member can need, read before.
    func digest(of block: Int) -> Digest? {
        known.withLock { known in
            let index = block - (known.count - known.digests.count)
            return known.digests.indices.contains(index) ? known.digests[index] : nil
        }
    }

    /// A block that was read before.
    ///
    /// - Parameter again: the second reading of the caller, which goes on from block to block.
    /// - Throws: `SourceError` if it has to be read again, and its contents have changed or cannot be read.
    func block(_ number: Int, again: inout BlockReader?) throws(SourceError) -> ByteBuffer {
        let block = known.withLock { known -> ByteBuffer? in
            let index = number - (known.count - known.recent.count)
            return known.recent.indices.contains(index) ? known.recent[index] : nil
        }
        if let block {
            again = nil
            return block
        }
        if again.map({ $0.next > number }) ?? true { again = BlockReader(sources, verdict, kept, size) }
        guard let again else { throw Self.changed }
        while again.next < number { _ = try again.read() }
        let same = try again.read()
        guard let digest = digest(of: number), digest == Digest.of(.lasting, same.readableBytesView) else {
            throw Self.changed
        }
        return same
    }

    fileprivate static let changed = SourceError(.changed, "the contents changed while they were sent")
}

/// Reads the stream of a group once, from its beginning.
final class BlockReader {
    private let writer: ContentsWriter
    private let size: BlockedStream
    /// Bytes of the writer's piece that no block has taken.
    private var rest = ByteBuffer()
    /// The number of the block that comes next.
    private(set) var next = 0

    init(_ sources: [any ItemSource], _ verdict: Verdict, _ kept: KeptList?, _ size: BlockedStream) {
        writer = ContentsWriter(sources, verdict: verdict, kept: kept, mode: .steady)
        self.size = size
    }

    var outcomes: [ContentsWriter.SourceState] { writer.outcomes }

    /// - Throws: `SourceError` if the contents have changed, or cannot be read.
    func read() throws(SourceError) -> ByteBuffer {
        let length = size.length(of: next)
        var block = ByteBuffer()
        block.reserveCapacity(length)
        while block.readableBytes < length {
            if rest.readableBytes == 0 {
                rest = ByteBuffer()
                guard let piece = writer.nextPiece(), !writer.hasAbandoned else { throw GroupStream.changed }
                rest = piece
            }
            guard var part = rest.readSlice(length: min(length - block.readableBytes, rest.readableBytes)) else {
                break
            }
            block.writeBuffer(&part)
        }
        next += 1
        guard next < size.blocks || (rest.readableBytes == 0 && writer.hasEnded) else { throw GroupStream.changed }
        return block
    }
}
