/// The checksum of some content: an algorithm and `algorithm.byteCount` bytes. Each file of a tree has one, so the
/// usual one, XXH3, is kept in place without an allocation.
///
/// XXH3 is kept in its canonical form (big-endian), so the bytes and the text are the same on every machine and equal
/// to what `xxh128sum` and `sha256sum` print.
package struct Digest: Hashable, Sendable {
    private enum Storage: Hashable {
        /// The bytes in their order.
        case xxh3(UInt64, UInt64)
        case sha256(LongBytes)
    }

    private final class LongBytes: Hashable, Sendable {
        let bytes: [UInt8]

        init(_ bytes: [UInt8]) { self.bytes = bytes }

        static func == (left: LongBytes, right: LongBytes) -> Bool { left.bytes == right.bytes }

        func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
    }

    private let storage: Storage

    /// The algorithm that made it. Digests of different algorithms are never equal.
    package var algorithm: DigestAlgorithm {
        switch storage {
        case .xxh3: .xxh3_128
        case .sha256: .sha256
        }
    }

    /// Takes the bytes of a finished digest, in canonical order.
    ///
    /// - Throws: `DigestError.wrongLength` unless there are exactly `algorithm.byteCount` of them.
    package init(_ algorithm: DigestAlgorithm, bytes: UnsafeRawBufferPointer) throws(DigestError) {
        guard bytes.count == algorithm.byteCount else { throw .wrongLength(for: algorithm) }
        self.init(algorithm) { $0.copyMemory(from: bytes) }
    }

    /// Like the other initializer, from any collection of bytes.
    package init(_ algorithm: DigestAlgorithm, bytes: some Collection<UInt8>) throws(DigestError) {
        guard bytes.count == algorithm.byteCount else { throw .wrongLength(for: algorithm) }
        self.init(algorithm) { $0.copyBytes(from: bytes) }
    }

    /// Takes the bytes that `fill` writes into `algorithm.byteCount` zeroed bytes.
    init(_ algorithm: DigestAlgorithm, fill: (UnsafeMutableRawBufferPointer) -> Void) {
        switch algorithm {
        case .xxh3_128:
            var words: (UInt64, UInt64) = (0, 0)
            withUnsafeMutableBytes(of: &words) { fill($0) }
            storage = .xxh3(words.0, words.1)
        case .sha256:
            var bytes = Array(repeating: 0 as UInt8, count: algorithm.byteCount)
            bytes.withUnsafeMutableBytes { fill($0) }
            storage = .sha256(LongBytes(bytes))
        }
    }

    /// Calls `body` with the `algorithm.byteCount` bytes, valid during the call only.
    package func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        switch storage {
        case .xxh3(let first, let second): try Swift.withUnsafeBytes(of: (first, second), body)
        case .sha256(let long): try Self.withBytes(of: long.bytes, body)
        }
    }

    private static func withBytes<Result, Failure: Error>(
        of bytes: [UInt8], _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let result = bytes.withUnsafeBytes { bytes in
            Swift.Result { () throws(Failure) -> Result in try body(bytes) }
        }
        return try result.get()
    }

    /// A copy of the `algorithm.byteCount` bytes.
    package var bytes: [UInt8] { withUnsafeBytes { Array($0) } }
}
