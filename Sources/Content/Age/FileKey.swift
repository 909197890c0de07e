internal import Secrets

/// The key of one age file, and the keys that follow from it.
struct FileKey {
    static let byteCount = 16
    /// Bytes of a file key that is sealed for a recipient.
    static let wrappedBytes = byteCount + ChaCha20Poly1305.tagBytes

    let bytes: SecretBytes

    static func random() -> FileKey { FileKey(bytes: .random(byteCount)) }

    /// The authentication code of a header.
    ///
    /// - Parameter text: the header up to and with `---`.
    func code(ofHeader text: UnsafeRawBufferPointer) throws(AgeError) -> [UInt8] {
        try AgeError.mapping { () throws(SecretsError) in
            let key = try KeyDerivation.hkdf(salt: [], secret: bytes, info: Array("header".utf8), count: 32)
            return try KeyDerivation.hmac(key: key, text)
        }
    }

    /// The key of the chunks.
    ///
    /// - Parameter nonce: the 16 bytes behind the header.
    func chunkKey(nonce: [UInt8]) throws(AgeError) -> SecretBytes {
        try AgeError.mapping { () throws(SecretsError) in
            try KeyDerivation.hkdf(
                salt: nonce, secret: bytes, info: Array("payload".utf8), count: ChaCha20Poly1305.keyBytes)
        }
    }

    /// The file key sealed by `key`, the body of a stanza.
    func wrapped(by key: SecretBytes) throws(AgeError) -> [UInt8] {
        var cipher = try ChaCha20Poly1305(.sealing, key: key)
        var body = [UInt8](repeating: 0, count: Self.wrappedBytes)
        bytes.withBytes { bytes in
            body.withUnsafeMutableBytes { cipher.seal(bytes, .zero, into: $0.baseAddress!) }
        }
        return body
    }

    /// Opens the body of a stanza.
    ///
    /// - Parameter body: `wrappedBytes` bytes.
    /// - Returns: nil if `key` did not seal it.
    static func unwrapped(_ body: [UInt8], by key: SecretBytes) throws(AgeError) -> FileKey? {
        precondition(body.count == wrappedBytes, "a sealed file key has 32 bytes")
        var cipher = try ChaCha20Poly1305(.opening, key: key)
        var isOpen = false
        let bytes = SecretBytes(count: byteCount) { room in
            isOpen = body.withUnsafeBytes { cipher.open($0, .zero, into: room.baseAddress!) }
        }
        return isOpen ? FileKey(bytes: bytes) : nil
    }
}
