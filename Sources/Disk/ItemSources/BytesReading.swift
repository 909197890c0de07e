import Sharing

/// The contents of an item in memory: one file.
final class BytesReading: ItemReading {
    private let bytes: [UInt8]
    private var offset = 0
    private var hasBegun = false

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    func next() -> ContentStep? {
        if hasBegun {
            precondition(offset == bytes.count, "the file was not read to its end")
            return nil
        }
        hasBegun = true
        return .file(FileEntry(path: nil, executable: false, modified: nil, size: UInt64(bytes.count)))
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(buffer.count, bytes.count - offset)
        bytes.withUnsafeBytes { buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[offset..<offset + count])) }
        offset += count
        return count
    }

    func seek(to offset: UInt64) {
        self.offset = Int(min(offset, UInt64(bytes.count)))
    }
}
