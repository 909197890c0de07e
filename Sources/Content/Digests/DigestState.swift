import COpenSSL
import CXXHash

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

/// Owns one `EVP_MD_CTX`, from `EVP_MD_CTX_new` to `EVP_MD_CTX_free`.
///
/// Sendable because there is one owner and libcrypto shares between contexts only what it guards itself.
struct SHA256State: ~Copyable, @unchecked Sendable {
    // Owned; never leaves this file.
    private let context: OpaquePointer

    init() {
        guard let context = EVP_MD_CTX_new() else { fatalError("no memory for a SHA-256 state") }
        self.context = context
        Self.expect(EVP_DigestInit_ex(context, EVP_sha256(), nil), "start")
    }

    deinit { EVP_MD_CTX_free(context) }

    func reset() {
        // No algorithm named: the one that is set is kept, with its memory, and not looked up again.
        Self.expect(EVP_DigestInit_ex(context, nil, nil), "start again")
    }

    func update(_ base: UnsafeRawPointer, count: Int) {
        Self.expect(EVP_DigestUpdate(context, base, count), "go on")
    }

    /// Writes the 32 bytes.
    func finish(into bytes: UnsafeMutableRawBufferPointer) {
        var length: UInt32 = 0
        Self.expect(EVP_DigestFinal_ex(context, bytes.bindMemory(to: UInt8.self).baseAddress, &length), "end")
        precondition(Int(length) == bytes.count, "SHA-256 gave \(length) bytes")
    }

    // With a context that was started these fail only if libcrypto has no SHA-256 or no memory; a digest that is
    // wrong in silence would be worse than the end of the program.
    private static func expect(_ result: Int32, _ step: StaticString) {
        guard result == 1 else { fatalError("libcrypto could not \(step) SHA-256") }
    }
}

/// Owns one `XXH3_state_t`, from `XXH3_createState` to `XXH3_freeState`.
///
/// Sendable because there is one owner and libxxhash keeps nothing outside the state.
struct XXH3State: ~Copyable, @unchecked Sendable {
    // Owned; never leaves this file.
    private let handle: OpaquePointer

    init() {
        guard let handle = XXH3_createState() else { fatalError("no memory for an XXH3 state") }
        self.handle = handle
        reset()
    }

    deinit { XXH3_freeState(handle) }

    func reset() {
        // Fails only for a null state, as do the calls below.
        XXH3_128bits_reset(handle)
    }

    func update(_ base: UnsafeRawPointer, count: Int) {
        CXXHash_XXH3_128bits_update(handle, base, count)
    }

    /// Writes the 16 bytes of the canonical form.
    func finish(into bytes: UnsafeMutableRawBufferPointer) {
        var canonical = XXH128_canonical_t()
        XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(handle))
        withUnsafeBytes(of: canonical) { bytes.copyMemory(from: $0) }
    }
}
