internal import COpenSSL
internal import COpenSSLShims

/// The libcrypto functions for pairing: SHA-256, HMAC, HKDF, scrypt, and a comparison in constant time.
enum KeyDerivation {
    /// Bytes of a SHA-256 digest, and of its HMAC.
    static let hashBytes = 32

    /// Puts before each part its length (4 bytes, big-endian): two different lists of parts never give the same bytes.
    static func joined(_ parts: [[UInt8]]) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(parts.reduce(0) { $0 + 4 + $1.count })
        for part in parts {
            withUnsafeBytes(of: UInt32(part.count).bigEndian) { text.append(contentsOf: $0) }
            text.append(contentsOf: part)
        }
        return text
    }

    /// SHA-256 (FIPS 180-4).
    static func sha256(_ text: SecretBytes) throws(PairingError) -> SecretBytes {
        try SecretBytes(count: hashBytes) { (digest) throws(PairingError) in
            let start = digest.bindMemory(to: UInt8.self).baseAddress
            let result = text.withBytes { EVP_Digest($0.baseAddress, $0.count, start, nil, EVP_sha256(), nil) }
            guard result == 1 else { throw .noCryptography("a hash") }
        }
    }

    /// HMAC-SHA256 (RFC 2104).
    static func hmac(key: SecretBytes, _ text: SecretBytes) throws(PairingError) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: hashBytes)
        var count = 0
        let result = key.withBytes { key in
            text.withBytes { text in
                EVP_Q_mac(
                    nil, "HMAC", nil, "SHA256", nil,
                    key.baseAddress, key.count,
                    text.bindMemory(to: UInt8.self).baseAddress, text.count,
                    &code, code.count, &count)
            }
        }
        guard result != nil, count == code.count else { throw .noCryptography("an authentication code") }
        return code
    }

    /// HKDF-SHA256 (RFC 5869), extract and expand.
    ///
    /// - Parameters:
    ///   - salt: empty for none.
    ///   - count: 1 to 8,160 bytes.
    static func hkdf(
        salt: [UInt8], secret: SecretBytes, info: [UInt8], count: Int
    ) throws(PairingError) -> SecretBytes {
        guard let context = EVP_PKEY_CTX_new_id(EVP_PKEY_HKDF, nil) else { throw .noCryptography("a derivation") }
        defer { EVP_PKEY_CTX_free(context) }
        guard
            EVP_PKEY_derive_init(context) == 1,
            EVP_PKEY_CTX_set_hkdf_md(context, EVP_sha256()) == 1,
            salt.isEmpty || EVP_PKEY_CTX_set1_hkdf_salt(context, salt, Int32(salt.count)) == 1,
            secret.withBytes({
                EVP_PKEY_CTX_set1_hkdf_key(context, $0.bindMemory(to: UInt8.self).baseAddress, Int32($0.count))
            }) == 1,
            info.isEmpty || EVP_PKEY_CTX_add1_hkdf_info(context, info, Int32(info.count)) == 1
        else { throw .noCryptography("a derivation") }
        return try SecretBytes(count: count) { (room) throws(PairingError) in
            var length = count
            let result = EVP_PKEY_derive(context, room.bindMemory(to: UInt8.self).baseAddress, &length)
            guard result == 1, length == count else { throw .noCryptography("a derivation") }
        }
    }

    /// scrypt (RFC 7914) with N = 2^14, r = 8, p = 1: needs 16 MiB while it runs.
    static func scrypt(password: SecretBytes, salt: [UInt8], count: Int) throws(PairingError) -> SecretBytes {
        try SecretBytes(count: count) { (room) throws(PairingError) in
            let start = room.bindMemory(to: UInt8.self).baseAddress
            let result = password.withBytes {
                EVP_PBE_scrypt(
                    $0.bindMemory(to: CChar.self).baseAddress, $0.count,
                    salt, salt.count, 1 << 14, 8, 1, 32 << 20, start, count)
            }
            guard result == 1 else { throw .noCryptography("a stretched code") }
        }
    }

    /// Whether both are equal, in a time that depends only on their length.
    static func areEqual(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        one.count == other.count && CRYPTO_memcmp(one, other, one.count) == 0
    }

    /// `count` bytes from the kernel's generator.
    static func random(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }
}
