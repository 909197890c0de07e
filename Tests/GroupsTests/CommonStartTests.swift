import Digests
import Sharing
import Testing

@testable import Groups

@Suite("Where a chain goes on after the sender's death")
struct CommonStartTests {
    /// A file of blocks of 1 MiB, one letter each.
    private func kept(_ blocks: String, size: UInt64? = nil, exponent: Int = 20, path: UInt64 = 1) -> KeptFile {
        KeptFile(
            pathHash: path, size: size ?? UInt64(blocks.utf8.count) << 20, blockExponent: exponent,
            digests: blocks.utf8.map { Digest.of(.sha256, [$0]) })
    }

    @Test("all members go on at the largest offset that all have")
    func offsets() {
        let own = kept("abcde", size: 4 << 20 | 7)
        let cases: [([KeptFile?], UInt64)] = [
            ([kept("abc"), kept("abcd")], 3 << 20),
            ([kept("abc"), nil], 0),
            ([kept("abx"), kept("abcd")], 2 << 20),
            ([kept("xbc")], 0),
            // A short last block of another end counts for nothing.
            ([kept("abz", size: 2 << 20 | 5), kept("abcd")], 2 << 20),
            ([kept("abcde", size: 4 << 20 | 7)], 4 << 20 | 7),
            ([kept("abcde", size: 4 << 20 | 7), kept("a")], 1 << 20),
            ([kept("abc", exponent: 21)], 0),
            ([kept("abc", path: 2)], 0),
            ([], 0),
        ]
        for (parts, offset) in cases { #expect(CommonStart.offset(of: own, kept: parts) == offset) }
    }
}
