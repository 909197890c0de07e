/// The stream of a group as a row of blocks: each has `GroupLimits.blockBytes`, and the last one has the rest.
package struct BlockedStream: Hashable, Sendable {
    /// Bytes of the largest stream.
    package static let maximumBytes: UInt64 = 1 << 60
    /// Blocks of the largest stream.
    package static let maximumBlocks = Int(maximumBytes) / GroupLimits.blockBytes

    /// 1...`maximumBytes`.
    package let bytes: UInt64

    /// - Returns: nil if no stream has so many bytes.
    package init?(bytes: UInt64) {
        guard (1...Self.maximumBytes).contains(bytes) else { return nil }
        self.bytes = bytes
    }

    /// 1...`maximumBlocks`.
    package var blocks: Int { (Int(bytes) - 1) / GroupLimits.blockBytes + 1 }

    /// Bytes of a block: 1...`GroupLimits.blockBytes`.
    ///
    /// - Parameter block: its number, below `blocks`.
    package func length(of block: Int) -> Int {
        precondition((0..<blocks).contains(block), "the stream has no such block")
        return min(GroupLimits.blockBytes, Int(bytes) - block * GroupLimits.blockBytes)
    }
}
