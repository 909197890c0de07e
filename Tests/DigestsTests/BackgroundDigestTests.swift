import Testing

@testable import Digests

@Suite("A digest in the background")
struct BackgroundDigestTests {
    private static let piece = BackgroundDigest.pieceBytes
    private static let contents = DigestStateTests.pattern(5 * piece + 17)

    @Test(
        "contents of any length, given in parts of any length, have the digest of the whole",
        arguments: [0, 1, piece - 1, piece, piece + 1, 2 * piece, 3 * piece + 5, contents.count])
    func parts(count: Int) {
        let contents = Self.contents.prefix(count)
        let whole = Digest.of(.sha256, Array(contents))
        var digest = BackgroundDigest(.sha256)
        for part in [7_919, Self.piece / 2, Self.piece, 2 * Self.piece + 3] {
            Self.give(contents, to: &digest, in: part)
            #expect(digest.finalize() == whole, "in parts of \(part)")
        }
    }

    @Test("contents that were given up leave nothing in the next digest", arguments: [10, piece + 10])
    func givenUp(count: Int) {
        var digest = BackgroundDigest(.sha256)
        Self.give(Self.contents.prefix(count), to: &digest, in: 1_000)
        digest.reset()
        #expect(digest.finalize() == Digest.of(.sha256, []))
    }

    @Test("without threads the digest is the same")
    func withoutThreads() {
        var digest = BackgroundDigest(.sha256) { _, _ in false }
        Self.give(Self.contents[...], to: &digest, in: 100_000)
        #expect(digest.finalize() == Digest.of(.sha256, Self.contents))
    }

    private static func give(_ contents: ArraySlice<UInt8>, to digest: inout BackgroundDigest, in part: Int) {
        var rest = contents
        while !rest.isEmpty {
            rest.prefix(part).withUnsafeBytes { digest.update($0) }
            rest = rest.dropFirst(part)
        }
    }
}
