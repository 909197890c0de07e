internal import COpenSSL

/// One HMAC-SHA256 (RFC 2104) in the making.
///
/// The algorithm is looked up once in the process: libcrypto would do it anew for each code, which takes longer than a short
/// code itself.
struct HMAC: ~Copyable {
    /// `EVP_MAC_CTX *` with the digest and without a key; only copied from then on, which any thread may do.
    private struct Template: @unchecked Sendable {
        let context: OpaquePointer
    }

    /// Nil if libcrypto has no HMAC-SHA256.
    private static let template: Template? = {
        guard let algorithm = EVP_MAC_fetch(nil, "HMAC", nil) else { return nil }
        defer { EVP_MAC_free(algorithm) }
        guard let context = EVP_MAC_CTX_new(algorithm) else { return nil }
        let name: StaticString = "digest"
        var digest = Array("SHA256".utf8CString)
        let isSet = digest.withUnsafeMutableBufferPointer { digest in
            // The parameter keeps the address of its name.
            let name = UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self)
            let parameters = [
                OSSL_PARAM_construct_utf8_string(name, digest.baseAddress, 0), OSSL_PARAM_construct_end(),
            ]
            return EVP_MAC_CTX_set_params(context, parameters) == 1
        }
        guard isSet else {
            EVP_MAC_CTX_free(context)
            return nil
        }
        return Template(context: context)
    }()

    /// `EVP_MAC_CTX *`, owned; wiped when it is freed.
    private let context: OpaquePointer

    /// - Parameter key: at least one byte.
    /// - Returns: nil if libcrypto fails.
    init?(key: SecretBytes) {
        guard let template = Self.template, let context = EVP_MAC_CTX_dup(template.context) else { return nil }
        let isKeyed = key.withBytes {
            EVP_MAC_init(context, $0.bindMemory(to: UInt8.self).baseAddress, $0.count, nil) == 1
        }
        guard isKeyed else {
            EVP_MAC_CTX_free(context)
            return nil
        }
        self.context = context
    }

    deinit { EVP_MAC_CTX_free(context) }

    /// Adds the next bytes of the text.
    /// - Returns: whether libcrypto took them.
    func add(_ text: UnsafeRawBufferPointer) -> Bool {
        text.isEmpty || EVP_MAC_update(context, text.bindMemory(to: UInt8.self).baseAddress, text.count) == 1
    }

    /// Writes the code of 32 bytes, as the last call.
    /// - Returns: whether libcrypto made it.
    func end(into code: UnsafeMutableRawBufferPointer) -> Bool {
        var count = 0
        return EVP_MAC_final(context, code.bindMemory(to: UInt8.self).baseAddress, &count, code.count) == 1
            && count == KeyDerivation.hashBytes
    }

    func end(into code: inout [UInt8]) -> Bool { code.withUnsafeMutableBytes { end(into: $0) } }
}
