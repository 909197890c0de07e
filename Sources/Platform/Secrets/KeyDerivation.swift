internal import COpenSSL
internal import COpenSSLShims

/// The libcrypto functions for keys: SHA-256, HMAC, HKDF, scrypt, and a comparison in constant time.
package enum KeyDerivation {
    /// Bytes of a SHA-256 digest, and of its HMAC.
    package static let hashBytes = 32

    /// Puts before each part its length (4 bytes, big-endian): two different lists of parts never give the same bytes.
    package static func joined(_ parts: [[UInt8]]) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(parts.reduce(0) { $0 + 4 + $1.count })
        for part in parts {
            withUnsafeBytes(of: UInt32(part.count).bigEndian) { text.append(contentsOf: $0) }
            text.append(contentsOf: part)
        }
        return text
    }

    /// SHA-256 (FIPS 180-4).
    package static func sha256(_ text: SecretBytes) throws(SecretsError) -> SecretBytes {
        try SecretBytes(count: hashBytes) { (digest) throws(SecretsError) in
            let start = digest.bindMemory(to: UInt8.self).baseAddress
            let result = text.withBytes { EVP_Digest($0.baseAddress, $0.count, start, nil, EVP_sha256(), nil) }
            guard result == 1 else { throw .noCryptography("a hash") }
        }
    }

    /// HMAC-SHA256 (RFC 2104).
    package static func hmac(key: SecretBytes, _ text: SecretBytes) throws(SecretsError) -> [UInt8] {
        try text.withBytes { (text) throws(SecretsError) in try hmac(key: key, text) }
    }

    /// HMAC-SHA256 (RFC 2104).
    package static func hmac(key: SecretBytes, _ text: UnsafeRawBufferPointer) throws(SecretsError) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: hashBytes)
        guard let hmac = HMAC(key: key), hmac.add(text), hmac.end(into: &code) else {
            throw .noCryptography("an authentication code")
        }
        return code
    }

    /// HKDF-SHA256 (RFC 5869), extract and expand.
    ///
    /// - Parameters:
    ///   - salt: empty for none.
    ///   - count: 1 to 8,160 bytes.
    package static func hkdf(
        salt: [UInt8], secret: SecretBytes, info: [UInt8], count: Int
    ) throws(SecretsError) -> SecretBytes {
        guard (1...255 * hashBytes).contains(count) else { throw .noCryptography("a derivation of such a length") }
        // Not by libcrypto's HKDF, which looks its parts up for each derivation: that takes four times as long, and each
        // sealed file needs three.
        let start = try SecretBytes(count: hashBytes) { (start) throws(SecretsError) in
            // No salt is one of zeros, and so is an empty key; libcrypto takes none.
            guard let hmac = HMAC(key: SecretBytes(salt.isEmpty ? [UInt8](repeating: 0, count: hashBytes) : salt)),
                secret.withBytes({ hmac.add($0) }), hmac.end(into: start)
            else { throw .noCryptography("a derivation") }
        }
        return try SecretBytes(count: count) { (room) throws(SecretsError) in
            var before = UnsafeRawBufferPointer(rebasing: room[..<0])
            for (number, offset) in stride(from: 0, to: count, by: hashBytes).enumerated() {
                let block = try SecretBytes(count: hashBytes) { (block) throws(SecretsError) in
                    guard let hmac = HMAC(key: start), hmac.add(before), info.withUnsafeBytes({ hmac.add($0) }),
                        withUnsafeBytes(of: UInt8(number + 1), { hmac.add($0) }), hmac.end(into: block)
                    else { throw .noCryptography("a derivation") }
                }
                let part = UnsafeMutableRawBufferPointer(rebasing: room[offset..<min(offset + hashBytes, count)])
                block.withBytes { part.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[..<part.count])) }
                before = UnsafeRawBufferPointer(part)
            }
        }
    }

    /// scrypt (RFC 7914) with r = 8 and p = 1.
    ///
    /// - Parameter workFactor: the logarithm of N to the base 2, from 1 to 30. It needs 2^(`workFactor` + 10) bytes of
    ///   memory while it runs: 16 MiB for 14, 256 MiB for 18.
    package static func scrypt(
        password: SecretBytes, salt: [UInt8], workFactor: Int, count: Int
    ) throws(SecretsError) -> SecretBytes {
        guard (1...30).contains(workFactor) else { throw .noCryptography("a stretched code of such a work factor") }
        let blocks = UInt64(1) << UInt64(workFactor)
        // N + 2 blocks of 128 * r bytes, and the block that is mixed.
        let memory = (blocks + 3) * 128 * 8
        return try SecretBytes(count: count) { (room) throws(SecretsError) in
            let start = room.bindMemory(to: UInt8.self).baseAddress
            let result = password.withBytes {
                EVP_PBE_scrypt(
                    $0.bindMemory(to: CChar.self).baseAddress, $0.count,
                    salt, salt.count, blocks, 8, 1, memory, start, count)
            }
            guard result == 1 else { throw .noCryptography("a stretched code") }
        }
    }

    /// Whether both are equal, in a time that depends only on their length.
    package static func areEqual(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        one.count == other.count && CRYPTO_memcmp(one, other, one.count) == 0
    }

    /// `count` bytes from the kernel's generator.
    package static func random(_ count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { room, initialized in
            fillRandomly(UnsafeMutableRawBufferPointer(room))
            initialized = count
        }
    }

    /// Fills `room` with bytes from the kernel's generator.
    static func fillRandomly(_ room: UnsafeMutableRawBufferPointer) {
        var generator = SystemRandomNumberGenerator()
        for offset in stride(from: 0, to: room.count, by: 8) {
            withUnsafeBytes(of: generator.next() as UInt64) { word in
                let part = UnsafeMutableRawBufferPointer(rebasing: room[offset..<min(offset + 8, room.count)])
                part.copyMemory(from: UnsafeRawBufferPointer(rebasing: word[..<part.count]))
            }
        }
    }
}
