import Digests
import NIOCore
import Sharing

extension ByteBuffer {
    /// Appends a record of a file that is kept (Protocol, section 3.6), if the list does not get too long by it.
    /// - Returns: whether there is room for more.
    mutating func writeKept(_ file: KeptFile, item: Int) -> Bool {
        let length = KeptList.headBytes + (file.digests.first?.algorithm.byteCount ?? 0) * file.digests.count
        if readableBytes + length <= Limits.keptListBytes {
            writeInteger(UInt32(item))
            writeInteger(file.pathHash)
            writeInteger(file.size)
            writeInteger(UInt8(file.blockExponent))
            for digest in file.digests {
                digest.withUnsafeBytes { bytes in _ = writeBytes(bytes) }
            }
        }
        return readableBytes + KeptList.headBytes * 2 <= Limits.keptListBytes
    }
}

/// What the other side has kept of a transfer's items: its own statement, which is believed in nothing.
///
/// The list stays as it came, and of each file it is remembered where its record lies: four bytes, since a tree has many.
struct KeptList {
    /// Item, hash of the path, size, exponent of the block's size.
    static let headBytes = 4 + 8 + 8 + 1

    private typealias Place = (item: UInt32, pathHash: UInt64)

    /// One file of the list.
    struct File {
        /// Bytes that the other side has, by its own word.
        let size: UInt64
        /// At most `Limits.keptBlocks` of them, and of each there is a digest.
        let blockBytes: UInt64
        fileprivate let digests: ByteBuffer
        let digestAlgorithm: DigestAlgorithm

        /// The digest of a block, by its number.
        func digest(of block: Int) -> Digest? {
            let start = digests.readerIndex + block * digestAlgorithm.byteCount
            guard let bytes = digests.getSlice(at: start, length: digestAlgorithm.byteCount) else { return nil }
            return try? Digest(digestAlgorithm, bytes: bytes.readableBytesView)
        }
    }

    private let list: ByteBuffer
    private let algorithm: DigestAlgorithm
    /// Where records begin, by the items and hashes in them.
    private var starts: [UInt32] = []

    /// - Parameter items: how many the offer has.
    /// - Throws: `protocolViolation` where it is not what the protocol allows.
    init(_ list: ByteBuffer, _ algorithm: DigestAlgorithm, items: Int) throws(TransferFault) {
        guard list.readableBytes <= Limits.keptListBytes else { throw .malformed("a list too long") }
        self.list = list
        self.algorithm = algorithm
        var rest = list
        while rest.readableBytes > 0 {
            let start = rest.readerIndex
            guard let (item, _, size, exponent) = rest.readRecordHead(), item < items, size > 0,
                (Limits.keptBlockExponent...60).contains(Int(exponent))
            else { throw .malformed("a list of something else") }
            let blocks = KeptFile.blockCount(size: size, exponent: Int(exponent))
            // Both at once: a count that is no larger than the limit cannot overflow the length.
            guard blocks <= Limits.keptBlocks, Int(blocks) * algorithm.byteCount <= rest.readableBytes else {
                throw .malformed("a list that is cut short")
            }
            rest.moveReaderIndex(forwardBy: Int(blocks) * algorithm.byteCount)
            starts.append(UInt32(start - list.readerIndex))
        }
        starts.sort { Self.place(list, $0) < Self.place(list, $1) }
    }

    private static func place(_ list: ByteBuffer, _ start: UInt32) -> Place {
        let index = list.readerIndex + Int(start)
        // They were read here once already.
        return (list.getInteger(at: index) ?? 0, list.getInteger(at: index + 4) ?? 0)
    }

    /// Where the record of a file begins; any of several.
    private func start(of place: Place) -> Int? {
        var (low, high) = (0, starts.count)
        while low < high {
            let middle = (low + high) / 2
            if Self.place(list, starts[middle]) < place { low = middle + 1 } else { high = middle }
        }
        guard low < starts.count, Self.place(list, starts[low]) == place else { return nil }
        return list.readerIndex + Int(starts[low])
    }

    func file(_ path: SafeRelativePath?, ofItem item: Int) -> File? {
        guard let start = start(of: (UInt32(item), KeptFile.pathHash(path))) else { return nil }
        var record = list
        record.moveReaderIndex(to: start)
        guard let (_, _, size, exponent) = record.readRecordHead() else { return nil }
        return File(size: size, blockBytes: 1 << UInt64(exponent), digests: record, digestAlgorithm: algorithm)
    }
}

extension ByteBuffer {
    fileprivate mutating func readRecordHead() -> (UInt32, UInt64, UInt64, UInt8)? {
        readMultipleIntegers(as: (UInt32, UInt64, UInt64, UInt8).self)
    }
}
