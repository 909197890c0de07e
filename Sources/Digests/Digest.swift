/// The sum of some content: an algorithm and `algorithm.byteCount` bytes, kept in place without an allocation.
///
/// XXH3 is kept in its canonical form (big-endian), so the bytes and the text are the same on every machine and equal
/// to what `xxh128sum` and `sha256sum` print.
package struct Digest: Hashable, Sendable {
    // Before the algorithm, so that others can stand in the rest of its word.
    //
    // Four words in the order of the bytes; what `algorithm` does not use is zero, so that equality and hashing can be
    // synthesised.
    private let words: Words

    /// The algorithm that made it. Digests of different algorithms are never equal.
    package let algorithm: DigestAlgorithm

    private struct Words: Hashable, Sendable {
        var first: UInt64 = 0
        var second: UInt64 = 0
        var third: UInt64 = 0
        var fourth: UInt64 = 0
    }

    /// Takes the bytes of a finished digest, in canonical order.
    ///
    /// - Throws: `DigestError.wrongLength` unless there are exactly `algorithm.byteCount` of them.
    package init(_ algorithm: DigestAlgorithm, bytes: UnsafeRawBufferPointer) throws(DigestError) {
        guard bytes.count == algorithm.byteCount else { throw .wrongLength(for: algorithm) }
        self.init(algorithm) { $0.copyMemory(from: bytes) }
    }

    /// As the other, from bytes that lie elsewhere.
    package init(_ algorithm: DigestAlgorithm, bytes: some Collection<UInt8>) throws(DigestError) {
        guard bytes.count == algorithm.byteCount else { throw .wrongLength(for: algorithm) }
        self.init(algorithm) { $0.copyBytes(from: bytes) }
    }

    /// Takes what `fill` writes into `algorithm.byteCount` zeroed bytes.
    init(_ algorithm: DigestAlgorithm, fill: (UnsafeMutableRawBufferPointer) -> Void) {
        var words = Words()
        withUnsafeMutableBytes(of: &words) { fill(UnsafeMutableRawBufferPointer(rebasing: $0[..<algorithm.byteCount])) }
        self.algorithm = algorithm
        self.words = words
    }

    /// Calls `body` with the `algorithm.byteCount` bytes, valid during the call only.
    package func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try Swift.withUnsafeBytes(of: words) { all throws(Failure) in
            try body(UnsafeRawBufferPointer(rebasing: all[..<algorithm.byteCount]))
        }
    }

    /// A copy of the `algorithm.byteCount` bytes.
    package var bytes: [UInt8] { withUnsafeBytes { Array($0) } }
}
