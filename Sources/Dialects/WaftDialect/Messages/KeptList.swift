import Digests
import Groups
import NIOCore
import Sharing

extension ByteBuffer {
    /// Appends the record of a kept file (Protocol, section 3.6), if the list has room for it.
    /// - Returns: whether there is room for more.
    mutating func writeKept(_ file: KeptFile, item: Int) -> Bool {
        let length = KeptList.headBytes + DigestAlgorithm.lasting.byteCount * file.digests.count
        if readableBytes + length <= Limits.keptListBytes {
            writeInteger(UInt32(item))
            writeInteger(file.pathHash)
            writeInteger(file.size)
            writeInteger(UInt8(file.blockExponent))
            for digest in file.digests {
                digest.withUnsafeBytes { bytes in _ = writeBytes(bytes) }
            }
        }
        return readableBytes + KeptList.headBytes + DigestAlgorithm.lasting.byteCount <= Limits.keptListBytes
    }
}

/// The receiver's statement of the parts of items that it has kept. The sender trusts none of it.
///
/// The list keeps its encoded form. Each file needs only the start of its record: four bytes, as a tree has many files.
struct KeptList {
    /// Item, hash of the path, size, exponent of the block's size.
    static let headBytes = 4 + 8 + 8 + 1

    private typealias Key = (item: UInt32, pathHash: UInt64)

    /// One file of the list.
    struct File {
        /// Bytes that the receiver claims to have.
        let size: UInt64
        /// Bytes of a block. There are at most `Limits.keptBlocks` blocks, each with a digest.
        let blockBytes: UInt64
        fileprivate let digests: ByteBuffer
        /// The digest of the block with this number.
        func digest(of block: Int) -> Digest? {
            let start = digests.readerIndex + block * DigestAlgorithm.lasting.byteCount
            guard let bytes = digests.getSlice(at: start, length: DigestAlgorithm.lasting.byteCount) else { return nil }
            return try? Digest(.lasting, bytes: bytes.readableBytesView)
        }
    }

    /// The parts that all lists have in common, for a stream that goes to all their writers.
    ///
    /// - Parameter lists: nil for a peer that has kept nothing.
    /// - Returns: nil if there is no such part.
    static func common(_ lists: [KeptList?]) -> KeptList? {
        guard let first = lists.first.flatMap({ $0 }), lists.allSatisfy({ $0 != nil }) else { return nil }
        var common = ByteBuffer()
        for start in first.starts {
            let place = Self.place(first.list, start)
            guard var file = first.keptFile(at: place) else { continue }
            file.size = CommonStart.offset(of: file, kept: lists.dropFirst().map { $0?.keptFile(at: place) })
            let blocks = KeptFile.blockCount(size: file.size, exponent: file.blockExponent)
            file.digests.removeLast(file.digests.count - Int(blocks))
            if file.size > 0 { _ = common.writeKept(file, item: Int(place.item)) }
        }
        return common.readableBytes == 0 ? nil : try? KeptList(common, items: .max)
    }

    private func keptFile(at place: Key) -> KeptFile? {
        guard let start = start(of: place), let head = record(at: start) else { return nil }
        let (exponent, record) = head
        let blocks = KeptFile.blockCount(size: record.size, exponent: exponent)
        return KeptFile(
            pathHash: place.pathHash, size: record.size, blockExponent: exponent,
            digests: (0..<Int(blocks)).compactMap { record.digest(of: $0) })
    }

    private func record(at start: Int) -> (exponent: Int, File)? {
        var record = list
        record.moveReaderIndex(to: start)
        guard let (_, _, size, exponent) = record.readRecordHead() else { return nil }
        return (Int(exponent), File(size: size, blockBytes: 1 << UInt64(exponent), digests: record))
    }

    private let list: ByteBuffer
    /// The starts of the records, ordered by their items and hashes.
    private var starts: [UInt32] = []

    /// - Parameter items: the offer's number of items.
    /// - Throws: `protocolViolation` if the list is malformed.
    init(_ list: ByteBuffer, items: Int) throws(TransferError) {
        guard list.readableBytes <= Limits.keptListBytes else { throw .malformed("a list too long") }
        self.list = list
        var rest = list
        while rest.readableBytes > 0 {
            let start = rest.readerIndex
            guard let (item, _, size, exponent) = rest.readRecordHead(), item < items, size > 0,
                (Limits.keptBlockExponent...60).contains(Int(exponent))
            else { throw .malformed("a list of something else") }
            let blocks = KeptFile.blockCount(size: size, exponent: Int(exponent))
            // Both conditions together: a count within the limit cannot overflow the length.
            guard blocks <= Limits.keptBlocks, Int(blocks) * DigestAlgorithm.lasting.byteCount <= rest.readableBytes
            else {
                throw .malformed("a list that is cut short")
            }
            rest.moveReaderIndex(forwardBy: Int(blocks) * DigestAlgorithm.lasting.byteCount)
            starts.append(UInt32(start - list.readerIndex))
        }
        starts.sort { Self.place(list, $0) < Self.place(list, $1) }
    }

    private static func place(_ list: ByteBuffer, _ start: UInt32) -> Key {
        let index = list.readerIndex + Int(start)
        // The initializer has read these bytes before.
        return (list.getInteger(at: index) ?? 0, list.getInteger(at: index + 4) ?? 0)
    }

    /// The start of a file's record; if there are several, any of them.
    private func start(of place: Key) -> Int? {
        var (low, high) = (0, starts.count)
        while low < high {
            let middle = (low + high) / 2
            if Self.place(list, starts[middle]) < place { low = middle + 1 } else { high = middle }
        }
        guard low < starts.count, Self.place(list, starts[low]) == place else { return nil }
        return list.readerIndex + Int(starts[low])
    }

    func file(_ path: SafeRelativePath?, ofItem item: Int) -> File? {
        start(of: (UInt32(item), KeptFile.pathHash(path))).flatMap { record(at: $0)?.1 }
    }
}

extension ByteBuffer {
    fileprivate mutating func readRecordHead() -> (UInt32, UInt64, UInt64, UInt8)? {
        readMultipleIntegers(as: (UInt32, UInt64, UInt64, UInt8).self)
    }
}
