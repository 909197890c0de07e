internal import COpenSSL

/// Whether a key of any kind is strong enough to know a peer by.
enum KeyStrength {
    /// The strength of a P-256 key, in bits.
    private static let securityBits: Int32 = 128
    /// Bits of the shortest RSA key.
    private static let rsaBits: Int32 = 2048

    /// - Parameter certificate: `X509 *`, borrowed.
    /// - Returns: whether its key is of RSA with at least 2048 bits, or of another kind and at least as strong as P-256.
    static func isEnough(in certificate: OpaquePointer) -> Bool {
        guard let key = X509_get0_pubkey(certificate) else { return false }
        let kind = EVP_PKEY_get_base_id(key)
        if kind == EVP_PKEY_RSA || kind == EVP_PKEY_RSA_PSS { return EVP_PKEY_get_bits(key) >= rsaBits }
        return EVP_PKEY_get_security_bits(key) >= securityBits
    }
}
