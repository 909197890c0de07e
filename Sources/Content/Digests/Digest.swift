/// The sum of some content: an algorithm and `algorithm.byteCount` bytes.
///
/// XXH3 is kept in its canonical form (big-endian), so the bytes and the text are the same on every machine and equal
/// to what `xxh128sum` and `sha256sum` print.
package struct Digest: Hashable, Sendable {
    /// The algorithm that made it. Digests of different algorithms are never equal.
    package let algorithm: DigestAlgorithm
    /// In their canonical order; `algorithm.byteCount` of them.
    package let bytes: [UInt8]

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

    /// Takes the bytes that `fill` writes into `algorithm.byteCount` zeroed bytes.
    init(_ algorithm: DigestAlgorithm, fill: (UnsafeMutableRawBufferPointer) -> Void) {
        self.algorithm = algorithm
        var bytes = Array(repeating: 0 as UInt8, count: algorithm.byteCount)
        bytes.withUnsafeMutableBytes { fill($0) }
        self.bytes = bytes
    }

    /// Calls `body` with the `algorithm.byteCount` bytes, valid during the call only.
    package func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let result = bytes.withUnsafeBytes { bytes in
            Swift.Result { () throws(Failure) -> Result in try body(bytes) }
        }
        return try result.get()
    }
}
