import Testing

@testable import Groups

@Suite("The blocks of a stream")
struct BlockedStreamTests {
    @Test(
        "all blocks have 64 KiB, and the last one has the rest",
        arguments: [
            (1, [1]), (65_535, [65_535]), (65_536, [65_536]), (65_537, [65_536, 1]), (131_072, [65_536, 65_536]),
        ] as [(UInt64, [Int])])
    func lengths(bytes: UInt64, lengths: [Int]) throws {
        let stream = try #require(BlockedStream(bytes: bytes))
        #expect((0..<stream.blocks).map { stream.length(of: $0) } == lengths)
    }

    @Test("a stream has 1 byte at least and 2^60 at most")
    func bounds() throws {
        for bytes in [0, (1 << 60) + 1, .max] as [UInt64] { #expect(BlockedStream(bytes: bytes) == nil) }
        let longest = try #require(BlockedStream(bytes: BlockedStream.maximumBytes))
        #expect(longest.blocks == BlockedStream.maximumBlocks)
        #expect(longest.length(of: longest.blocks - 1) == GroupLimits.blockBytes)
    }
}
