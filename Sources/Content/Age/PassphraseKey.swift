internal import Secrets

/// The key that a passphrase gives, by scrypt (age, "The scrypt recipient type").
enum PassphraseKey {
    static let saltBytes = 16

    static func derived(
        from passphrase: SecretBytes, salt: [UInt8], workFactor: Int
    ) throws(AgeError) -> SecretBytes {
        try AgeError.mapping { () throws(SecretsError) in
            try KeyDerivation.scrypt(
                password: passphrase, salt: Array("age-encryption.org/v1/scrypt".utf8) + salt, workFactor: workFactor,
                count: ChaCha20Poly1305.keyBytes)
        }
    }

    /// The stanza that seals `key` by `passphrase`, with a salt of its own.
    static func stanza(
        for key: FileKey, _ passphrase: SecretBytes, workFactor: Int
    ) throws(AgeError) -> AgeStanza {
        let salt = KeyDerivation.random(saltBytes)
        let wrapping = try derived(from: passphrase, salt: salt, workFactor: workFactor)
        return AgeStanza(
            arguments: [AgeStanza.scrypt, String(decoding: Base64.text(salt), as: UTF8.self), String(workFactor)],
            body: try key.wrapped(by: wrapping))
    }
}
