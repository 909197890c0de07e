import COpenSSL

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
