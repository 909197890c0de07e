package import Digests

/// A kept file of an incomplete item, with the data that tells its sender which part of it is correct.
package struct KeptFile: Hashable, Sendable {
    /// The path hash: of the file's path as bytes, or of the empty path for a file that is the item itself.
    package static func pathHash(_ path: SafeRelativePath?) -> UInt64 { pathHash(path?.text ?? "") }

    package static func pathHash(_ path: String) -> UInt64 {
        let digest = Digest.of(.xxh3_128, path.utf8)
        return digest.withUnsafeBytes { bytes in bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) } }
    }

    package var pathHash: UInt64
    /// Bytes on the disk: at least 1.
    package var size: UInt64
    /// The size of a block is two to this power.
    package var blockExponent: Int
    /// Of each block in order; the last one may be short.
    package var digests: [Digest]

    package init(pathHash: UInt64, size: UInt64, blockExponent: Int, digests: [Digest]) {
        self.pathHash = pathHash
        self.size = size
        self.blockExponent = blockExponent
        self.digests = digests
    }

    /// The smallest blocks of which a file of so many bytes has no more than the limit.
    package static func blockExponent(forSize size: UInt64) -> Int {
        var exponent = Limits.keptBlockExponent
        while blockCount(size: size, exponent: exponent) > Limits.keptBlocks { exponent += 1 }
        return exponent
    }

    /// - Parameter exponent: 0...63.
    package static func blockCount(size: UInt64, exponent: Int) -> UInt64 {
        let whole = size >> UInt64(exponent)
        return whole << UInt64(exponent) == size ? whole : whole + 1
    }
}
