internal import Digests
package import Sharing

/// Where a chain goes on after the sender's death (`Group.md`, section 8).
package enum CommonStart {
    /// The offset of a file from which all members need it: a member with more cuts back to it.
    ///
    /// - Parameters:
    ///   - own: the digests of the sender's own file, in SHA-256, with the block size of the lists.
    ///   - kept: the kept part of each member; nil for a member that keeps nothing of this file.
    /// - Returns: bytes. It is at a border of blocks, or the end of a file that all members have whole. It is 0 if block sizes
    ///   differ.
    package static func offset(of own: KeptFile, kept: [KeptFile?]) -> UInt64 {
        kept.map { part in part.map { common($0, own) } ?? 0 }.min() ?? 0
    }

    private static func common(_ part: KeptFile, _ own: KeptFile) -> UInt64 {
        guard part.pathHash == own.pathHash, part.blockExponent == own.blockExponent else { return 0 }
        let equal = zip(part.digests, own.digests).prefix { $0 == $1 }.count
        // The last block of a kept part may be short: then its digest equals only that of a file with the same end.
        if equal == own.digests.count, part.size == own.size { return own.size }
        return min(UInt64(equal), part.size >> UInt64(own.blockExponent)) << UInt64(own.blockExponent)
    }
}
