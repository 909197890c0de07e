/// A digest in the making.
///
/// One state serves any number of contents, one after the other, without a further allocation: `finalize()` and
/// `reset()` both leave it as a new one. It has one owner and moves between threads with it.
package struct DigestState: ~Copyable, Sendable {
    /// The algorithm it was made for.
    package let algorithm: DigestAlgorithm

    private let engine: Engine

    // Each engine owns one C handle; which one is decided once, so nothing here ever changes. Not private: Swift 6.3.1
    // then fails to compile, in release only, the modules that store a state ("global is external").
    enum Engine: ~Copyable, Sendable {
        case xxh3(XXH3State)
        case sha256(SHA256State)
    }

    /// Allocates the state (about 600 bytes) and starts at no content.
    ///
    /// Ends the program if there is no memory for it, or if the system's libcrypto offers no SHA-256: without that
    /// there is no TLS either.
    package init(_ algorithm: DigestAlgorithm) {
        self.algorithm = algorithm
        switch algorithm {
        case .xxh3_128: engine = .xxh3(XXH3State())
        case .sha256: engine = .sha256(SHA256State())
        }
    }

    /// Adds the next bytes of the content; how the content is cut into calls makes no difference.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        // An empty buffer may have no address, which C's memory functions must not be given.
        guard let base = bytes.baseAddress, !bytes.isEmpty else { return }
        switch engine {
        case .xxh3(let state): state.update(base, count: bytes.count)
        case .sha256(let state): state.update(base, count: bytes.count)
        }
    }

    /// Adds the next bytes of the content.
    package mutating func update(_ bytes: some Sequence<UInt8>) {
        let contiguous: Void? = bytes.withContiguousStorageIfAvailable { update(UnsafeRawBufferPointer($0)) }
        if contiguous == nil {
            Array(bytes).withUnsafeBytes { update($0) }
        }
    }

    /// The digest of everything added since the start; the state then starts again at no content.
    package mutating func finalize() -> Digest {
        let digest =
            switch engine {
            case .xxh3(let state): Digest(algorithm) { state.finish(into: $0) }
            case .sha256(let state): Digest(algorithm) { state.finish(into: $0) }
            }
        reset()
        return digest
    }

    /// Forgets everything added: the state starts again at no content.
    package mutating func reset() {
        switch engine {
        case .xxh3(let state): state.reset()
        case .sha256(let state): state.reset()
        }
    }
}

extension Digest {
    /// The digest of content that is whole in memory.
    package static func of(_ algorithm: DigestAlgorithm, _ bytes: UnsafeRawBufferPointer) -> Digest {
        var state = DigestState(algorithm)
        state.update(bytes)
        return state.finalize()
    }

    /// The digest of content that is whole in memory.
    package static func of(_ algorithm: DigestAlgorithm, _ bytes: some Sequence<UInt8>) -> Digest {
        var state = DigestState(algorithm)
        state.update(bytes)
        return state.finalize()
    }
}
