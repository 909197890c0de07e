package import Secrets

extension AgeHeader {
    /// The file key, if one of `identities` opens one of the stanzas. Stanzas of other kinds are passed over.
    ///
    /// - Throws: `noMatch` if none does; `malformed` for an X25519 stanza that is none; `damaged` if the header was
    ///   changed after it was sealed.
    package func fileKey(with identities: [AgeIdentity]) throws(AgeError) -> SecretBytes {
        let stanzas = try stanzas.filter { $0.kind == AgeStanza.x25519 }.map(Self.x25519)
        for identity in identities {
            for stanza in stanzas {
                if let key = try identity.open(share: stanza.share, body: stanza.body) {
                    return try verified(key)
                }
            }
        }
        throw .noMatch
    }

    /// The file key, if `passphrase` opens the only stanza.
    ///
    /// - Throws: `noMatch` if it does not, `unsupported` for a work factor above `maximumWorkFactor`, else as
    ///   `fileKey(with:)`.
    func fileKey(passphrase: SecretBytes, maximumWorkFactor: Int) throws(AgeError) -> SecretBytes {
        guard let stanza = stanzas.first, stanza.kind == AgeStanza.scrypt else { throw .noMatch }
        guard
            stanza.arguments.count == 3, let salt = Base64.bytes(stanza.arguments[1].utf8),
            salt.count == PassphraseKey.saltBytes, stanza.body.count == FileKey.wrappedBytes
        else { throw .malformed("the passphrase's part of its header has another form") }
        let factor = try Self.workFactor(stanza.arguments[2])
        guard factor <= maximumWorkFactor else {
            throw .unsupported("a passphrase with a work factor above \(maximumWorkFactor)")
        }
        let key = try PassphraseKey.derived(from: passphrase, salt: salt, workFactor: factor)
        guard let key = try FileKey.unwrapped(stanza.body, by: key) else { throw .noMatch }
        return try verified(key)
    }

    private func verified(_ key: FileKey) throws(AgeError) -> SecretBytes {
        let result = authenticated.withUnsafeBytes { text in
            Result { () throws(AgeError) in try key.code(ofHeader: text) }
        }
        guard KeyDerivation.areEqual(try result.get(), code) else { throw .damaged }
        return key.bytes
    }

    private static func x25519(_ stanza: AgeStanza) throws(AgeError) -> (share: [UInt8], body: [UInt8]) {
        guard
            stanza.arguments.count == 2, let share = Base64.bytes(stanza.arguments[1].utf8),
            share.count == X25519.keyBytes, stanza.body.count == FileKey.wrappedBytes
        else { throw .malformed("an X25519 recipient in its header has another form") }
        return (share, stanza.body)
    }

    /// A decimal number without sign and leading zeros; `Int.max` for a larger one.
    private static func workFactor(_ text: String) throws(AgeError) -> Int {
        guard let first = text.utf8.first, first != UInt8(ascii: "0"),
            text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { throw .malformed("the work factor of its passphrase is not a number") }
        return Int(text) ?? .max
    }
}
