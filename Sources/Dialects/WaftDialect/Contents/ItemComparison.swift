import Digests
import Sharing

/// A buffer for contents that are compared but not sent.
private final class Scratch {
    static let byteCount = 256 << 10
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: byteCount, alignment: 4_096)

    deinit {
        bytes.deallocate()
    }
}

/// Bytes to read before the sender shows the receiver that it is alive: some seconds on a slow disk.
private let stepBytes: UInt64 = 64 << 20

/// Reads an item in steps, and compares its digest with an expected one.
final class ItemComparison {
    enum Finding {
        case undecided
        /// With the digest that stands for the contents.
        case same(Digest)
        case different
    }

    private let digest: Digest
    private var fileSums: ContentSums
    private var listing: ListingSums?
    private var soleFileDigests: ContentSums.Pair?
    private var file: FileEntry?
    private let scratch = Scratch()

    /// - Parameter digest: a hint of the receiver. The answer to it is a digest by `DigestAlgorithm.lasting`.
    init(with digest: Digest, isTree: Bool) {
        self.digest = digest
        fileSums = ContentSums(digest.algorithm)
        listing = isTree ? ListingSums(digest.algorithm) : nil
    }

    func step(_ reader: any ItemReading) throws(SourceError) -> Finding {
        var read: UInt64 = 0
        while read < stepBytes {
            if let entry = file {
                let count = try reader.read(into: scratch.bytes)
                if count > 0 {
                    fileSums.update(UnsafeRawBufferPointer(rebasing: scratch.bytes[..<count]))
                    read += UInt64(count)
                } else {
                    end(entry)
                }
            } else if let step = try reader.next() {
                take(step)
                // Names cost time too.
                read += 4_096
            } else {
                guard let ours = listing != nil ? listing?.finalize() : soleFileDigests, ours.sent == digest else {
                    return .different
                }
                return .same(ours.lasting)
            }
        }
        return .undecided
    }

    private func take(_ step: ContentStep) {
        switch step {
        case .folder(let path): listing?.folder(path)
        case .file(let entry): file = entry
        case .link(let path, let target): listing?.link(path, target: target)
        case .folderClosed: break
        }
    }

    private func end(_ entry: FileEntry) {
        let digests = fileSums.finalize()
        if let path = entry.path {
            listing?.file(path, executable: entry.executable, digests: digests)
        } else {
            soleFileDigests = digests
        }
        file = nil
    }
}

/// Finds how much of a file the receiver has: the leading blocks with equal digests.
///
/// At the end the reader is after the equal part, and the file's digest covers exactly that part.
final class PrefixSearch {
    private enum State {
        /// Compares blocks; all earlier ones are equal.
        case comparing(block: Int)
        /// A block differs: the equal part is read again for its digest.
        case reading(upTo: UInt64)
    }

    private let kept: KeptList.File
    private let size: UInt64
    private var state = State.comparing(block: 0)
    /// Bytes before the compared block, or bytes that have been read again.
    private var offset: UInt64 = 0
    private var blockDigest: DigestState
    private let scratch = Scratch()

    /// - Parameter size: the size of this side's file.
    init(_ kept: KeptList.File, size: UInt64) {
        self.kept = kept
        self.size = size
        blockDigest = DigestState(.lasting)
    }

    /// - Parameter digest: the file's digest so far; empty at the first call.
    /// - Returns: the number of equal bytes; nil while it is unknown.
    func step(_ reader: any ItemReading, _ digest: inout DigestState) throws(SourceError) -> UInt64? {
        var budget = stepBytes
        while true {
            switch state {
            case .comparing(let block):
                let (start, end) = bounds(of: block)
                guard start < end, end <= size else {
                    // There is nothing more to compare: the reader is at the end of the last block.
                    return start
                }
                guard let isSame = try compare(block, until: end, reader, &digest, &budget) else { return nil }
                state = isSame ? .comparing(block: block + 1) : .reading(upTo: start)
                if isSame { continue }
                digest.reset()
                offset = 0
                try reader.seek(to: 0)
            case .reading(let end):
                guard try read(until: end, reader, &budget, { digest.update($0) }) else { return nil }
                return end
            }
        }
    }

    /// Blocks that start after the kept part are empty.
    private func bounds(of block: Int) -> (start: UInt64, end: UInt64) {
        let (start, overflow) = UInt64(block).multipliedReportingOverflow(by: kept.blockBytes)
        if overflow || start >= kept.size { return (kept.size, kept.size) }
        return (start, start + min(kept.blockBytes, kept.size - start))
    }

    /// - Returns: nil if the budget ended first.
    private func compare(
        _ block: Int, until end: UInt64, _ reader: any ItemReading, _ digest: inout DigestState, _ budget: inout UInt64
    ) throws(SourceError) -> Bool? {
        let isWhole = try read(until: end, reader, &budget) { bytes in
            blockDigest.update(bytes)
            digest.update(bytes)
        }
        return isWhole ? blockDigest.finalize() == kept.digest(of: block) : nil
    }

    private func read(
        until end: UInt64, _ reader: any ItemReading, _ budget: inout UInt64,
        _ take: (UnsafeRawBufferPointer) -> Void
    ) throws(SourceError) -> Bool {
        while offset < end {
            guard budget > 0 else { return false }
            let most = Int(min(UInt64(Scratch.byteCount), end - offset))
            let count = try reader.read(into: UnsafeMutableRawBufferPointer(rebasing: scratch.bytes[..<most]))
            // A reader reports by itself that its file has become shorter.
            guard count > 0 else { throw SourceError(.changed, "it became shorter") }
            take(UnsafeRawBufferPointer(rebasing: scratch.bytes[..<count]))
            offset += UInt64(count)
            budget -= min(budget, UInt64(count))
        }
        return true
    }
}
