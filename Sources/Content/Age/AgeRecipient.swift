internal import Secrets

/// An X25519 public key to which age files are sealed.
package struct AgeRecipient: Hashable, Sendable, CustomStringConvertible {
    private static let prefix: StaticString = "age"

    /// The point, 32 bytes.
    let point: [UInt8]

    init(point: [UInt8]) {
        self.point = point
    }

    /// Reads `age1…`: Bech32 in lower case, without white space around it.
    ///
    /// - Throws: `unsupported` for recipients of other kinds, which it names; else `malformed`.
    package init(parsing text: some StringProtocol) throws(AgeError) {
        // More characters than a recipient has are as wrong as the whole text, which may be long.
        let start = Array(text.utf8.prefix(128))
        if let kind = Self.foreignKind(String(decoding: start, as: UTF8.self)) { throw .unsupported(kind) }
        var point = [UInt8](repeating: 0, count: X25519.keyBytes)
        let isRead = point.withUnsafeMutableBytes { point in
            start.withUnsafeBytes { Bech32.read($0, prefix: Self.prefix, into: point) }
        }
        guard isRead else {
            throw .malformed("it is not a recipient: age1 and 58 characters more, the last as a check")
        }
        self.point = point
        // Nothing can be sealed to a point of a low order.
        _ = try stanza(for: .random())
    }

    /// The text form, `age1…`.
    package var description: String {
        point.withUnsafeBytes { point in
            String(unsafeUninitializedCapacity: Bech32.length(prefix: Self.prefix, count: point.count)) { room in
                let count = Bech32.length(prefix: Self.prefix, count: point.count)
                let room = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(room)[..<count])
                Bech32.write(point, prefix: Self.prefix, into: room)
                return count
            }
        }
    }

    /// The kind of a recipient that is not supported here, by its start; nil for others.
    private static func foreignKind(_ text: String) -> String? {
        if text.hasPrefix("ssh-") { return "an SSH key as a recipient (ssh-…)" }
        if text.uppercased().hasPrefix("AGE-SECRET-KEY-") {
            return "a secret key as a recipient; the recipient that belongs to it begins with age1"
        }
        // A 1 ends the prefix: the characters behind it have none.
        guard text.hasPrefix("age1"), let end = text.dropFirst(4).firstIndex(of: "1") else { return nil }
        let name = text[..<end].dropFirst(4)
        return name == "pq" ? "a hybrid recipient (age1pq1…)" : "the recipient of a plugin (age1NAME1…)"
    }

    /// The stanza that seals `key` to this recipient, with an ephemeral secret of its own.
    func stanza(for key: FileKey) throws(AgeError) -> AgeStanza {
        let ephemeral = SecretBytes.random(X25519.keyBytes)
        let share = try X25519.point(of: ephemeral)
        guard let shared = try X25519.shared(ephemeral, own: share, point) else {
            throw .malformed("it is not a recipient: anyone could open what is sealed to it")
        }
        let wrapping = try wrappingKey(shared, share: share)
        return AgeStanza(
            arguments: [AgeStanza.x25519, String(decoding: Base64.text(share), as: UTF8.self)],
            body: try key.wrapped(by: wrapping))
    }

    /// The key that seals a file key, from the secret that `share` and this recipient have in common.
    func wrappingKey(_ shared: SecretBytes, share: [UInt8]) throws(AgeError) -> SecretBytes {
        try AgeError.mapping { () throws(SecretsError) in
            try KeyDerivation.hkdf(
                salt: share + point, secret: shared, info: Array("age-encryption.org/v1/X25519".utf8),
                count: ChaCha20Poly1305.keyBytes)
        }
    }
}
