import Glibc

/// Blocks of zeros in the contents of a file, which need no room on the disk.
enum ZeroBlocks {
    /// Blocks lie at multiples of this, in bytes. Smaller holes would only scatter a file.
    static let byteCount = 64 << 10

    /// Zeros for the part of a block that has to be written.
    static let zeros = [UInt8](repeating: 0, count: byteCount)

    /// The first bytes that are all of one kind: zeros up to the end of a block or of the bytes, or data.
    ///
    /// - Parameters:
    ///   - bytes: not empty.
    ///   - offset: where they lie in the file.
    ///   - continues: whether zeros from the beginning of a block on lie before them.
    static func first(
        of bytes: UnsafeRawBufferPointer, at offset: Int64, continues: Bool
    ) -> (count: Int, areZeros: Bool) {
        let begun = Int(offset & Int64(byteCount - 1))
        let first = min(byteCount - begun, bytes.count)
        var count = first
        let areZeros = (begun == 0 || continues) && areZero(bytes, 0..<first)
        while count < bytes.count {
            let next = min(count + byteCount, bytes.count)
            guard areZero(bytes, count..<next) == areZeros else { break }
            count = next
        }
        return (count, areZeros)
    }

    static func areZero(_ bytes: UnsafeRawBufferPointer) -> Bool { areZero(bytes, 0..<bytes.count) }

    /// Ends at the first byte that is not 0: of most files it reads one byte a block.
    private static func areZero(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> Bool {
        guard let start = bytes.baseAddress?.advanced(by: range.lowerBound) else { return false }
        return bytes[range.lowerBound] == 0 && memcmp(start, start + 1, range.count - 1) == 0
    }
}
