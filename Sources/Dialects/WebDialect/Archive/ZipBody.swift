import CZlib
import NIOCore
import Sharing
import WebPages

/// Writes a ZIP as it was planned. Used by one task.
///
/// Contents that are not as planned end it with an error, so that no ZIP looks whole that is not.
final class ZipBody {
    private enum State {
        case betweenItems
        case inItem(any ItemReading)
        case inFile(any ItemReading, ZipEntry, left: UInt64, checksum: UInt)
        case inDirectory(Int)
        case ended
    }

    /// Bytes that it holds for each entry.
    static let entryBytes = MemoryLayout<UInt32>.stride + MemoryLayout<UInt64>.stride

    private let plan: ZipPlan
    private var state = State.betweenItems
    private var item = 0
    private var checksums: [UInt32] = []
    private var offsets: [UInt64] = []
    private var written: UInt64 = 0
    private var directoryStart: UInt64 = 0

    init(_ plan: ZipPlan) { self.plan = plan }

    /// The next bytes; nil at the end.
    /// - Throws: `SourceError`.
    func next() throws(SourceError) -> ByteBuffer? {
        var buffer = ByteBuffer()
        buffer.reserveCapacity(FileDownload.pieceBytes + Int(ZipEntry.blockBytes) + 512)
        while buffer.readableBytes < FileDownload.pieceBytes {
            let before = buffer.readableBytes
            guard try step(&buffer) else { break }
            written += UInt64(buffer.readableBytes - before)
        }
        return buffer.readableBytes > 0 ? buffer : nil
    }

    /// - Returns: whether there is more.
    private func step(_ buffer: inout ByteBuffer) throws(SourceError) -> Bool {
        switch state {
        case .betweenItems:
            guard item < plan.items.count else {
                directoryStart = written
                state = .inDirectory(0)
                return true
            }
            if plan.items[item].isTree { begin(plan.entries[plan.start(of: item)], 0, into: &buffer) }
            state = .inItem(try plan.items[item].source.open())
        case .inItem(let reading): try take(try reading.next(), of: reading, into: &buffer)
        case .inFile(let reading, let entry, let left, let checksum):
            try write(reading, entry, left, checksum, into: &buffer)
        case .inDirectory(let number):
            guard number < plan.entries.count else {
                ZipFormat.writeEnd(
                    entries: plan.entries.count, directory: written - directoryStart, at: directoryStart, into: &buffer)
                state = .ended
                return true
            }
            ZipFormat.writeDirectory(
                plan.entries[number], checksums[number], at: offsets[number], into: &buffer)
            state = .inDirectory(number + 1)
        case .ended: return false
        }
        return true
    }

    private func take(
        _ step: ContentStep?, of reading: any ItemReading, into buffer: inout ByteBuffer
    ) throws(SourceError) {
        guard let step else {
            guard offsets.count == plan.ends[item] else { throw changed }
            item += 1
            state = .betweenItems
            return
        }
        if case .folderClosed = step { return }
        guard offsets.count < plan.ends[item], var entry = ZipEntry(step, in: plan.items[item], plan.now) else {
            throw changed
        }
        let planned = plan.entries[offsets.count]
        if entry.kind == .folder { entry.modified = planned.modified }
        guard entry == planned else { throw changed }
        switch entry.kind {
        case .file:
            begin(entry, nil, into: &buffer)
            state = .inFile(reading, entry, left: entry.size, checksum: 0)
        case .folder: begin(entry, 0, into: &buffer)
        case .link(let target):
            let checksum = Self.checksum(0, Array(target.utf8))
            begin(entry, UInt32(truncatingIfNeeded: checksum), into: &buffer)
            buffer.writeString(target)
        }
    }

    /// - Parameter checksum: nil if it follows the contents.
    private func begin(_ entry: ZipEntry, _ checksum: UInt32?, into buffer: inout ByteBuffer) {
        // `written` is counted after each step, and each step begins at most one entry, first of all.
        offsets.append(written)
        if let checksum { checksums.append(checksum) }
        ZipFormat.writeLocal(entry, checksum ?? 0, into: &buffer)
    }

    /// Writes one block of a file. After the last block it writes the file's checksum and sizes.
    private func write(
        _ reading: any ItemReading, _ entry: ZipEntry, _ left: UInt64, _ checksum: UInt, into buffer: inout ByteBuffer
    ) throws(SourceError) {
        let length = UInt16(min(left, ZipEntry.blockBytes))
        let isLast = left == UInt64(length)
        buffer.writeInteger((isLast ? 1 : 0) as UInt8)
        buffer.writeInteger(length, endianness: .little)
        buffer.writeInteger(~length, endianness: .little)
        let start = buffer.writerIndex
        var missing = Int(length)
        while missing > 0 {
            let count = try buffer.read(reading, upTo: missing)
            guard count > 0 else { throw changed }
            missing -= count
        }
        let sum = buffer.withUnsafeReadableBytes { bytes in
            Self.checksum(checksum, bytes[(start - buffer.readerIndex)...])
        }
        guard isLast else {
            state = .inFile(reading, entry, left: left - UInt64(length), checksum: sum)
            return
        }
        try reading.checkEnd()
        checksums.append(UInt32(truncatingIfNeeded: sum))
        ZipFormat.writeDescriptor(entry, UInt32(truncatingIfNeeded: sum), into: &buffer)
        state = .inItem(reading)
    }

    private static func checksum(_ checksum: UInt, _ bytes: some Collection<UInt8>) -> UInt {
        bytes.withContiguousStorageIfAvailable { bytes in
            crc32(checksum, bytes.baseAddress, uInt(bytes.count))
        } ?? crc32(checksum, Array(bytes), uInt(bytes.count))
    }

    private var changed: SourceError {
        SourceError(
            .changed, "\(plan.items[min(item, plan.items.count - 1)].source.origin) has changed while it was read")
    }
}
