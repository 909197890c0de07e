package import Secrets

/// An X25519 private key that opens age files.
package struct AgeIdentity: Sendable {
    private static let prefix: StaticString = "AGE-SECRET-KEY-"
    /// Bytes of the text form.
    package static let textBytes = 74

    private let secret: SecretBytes
    /// Its public key.
    package let recipient: AgeRecipient

    private init(secret: SecretBytes) throws(AgeError) {
        self.secret = secret
        recipient = AgeRecipient(point: try X25519.point(of: secret))
    }

    /// A new one from the kernel's generator.
    package static func generate() throws(AgeError) -> AgeIdentity {
        try AgeIdentity(secret: .random(X25519.keyBytes))
    }

    /// Reads `AGE-SECRET-KEY-1…`: Bech32 in upper case, without white space around it. No copy of the text is left.
    ///
    /// - Throws: `unsupported` for identities of other kinds; else `malformed`.
    package init(parsing text: UnsafeRawBufferPointer) throws(AgeError) {
        let secret = try SecretBytes(count: X25519.keyBytes) { (room) throws(AgeError) in
            guard Bech32.read(text, prefix: Self.prefix, into: room) else { throw Self.refusal(of: text) }
        }
        try self.init(secret: secret)
    }

    /// Reads `AGE-SECRET-KEY-1…`.
    package init(parsing text: SecretBytes) throws(AgeError) {
        self = try text.withBytes { (text) throws(AgeError) in try AgeIdentity(parsing: text) }
    }

    /// Reads a list of identities, one a line. Empty lines and those that begin with `#` are passed over.
    ///
    /// - Parameter maximum: the number of identities, at most.
    /// - Throws: as `init(parsing:)`; `malformed` if there is none.
    package static func list(in text: SecretBytes, maximum: Int = 64) throws(AgeError) -> [AgeIdentity] {
        try text.withBytes { (text) throws(AgeError) in
            var identities: [AgeIdentity] = []
            for line in text.split(separator: UInt8(ascii: "\n")) {
                let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
                if line.isEmpty || line.first == UInt8(ascii: "#") { continue }
                guard identities.count < maximum else { throw .unsupported("more than \(maximum) identities") }
                identities.append(try AgeIdentity(parsing: UnsafeRawBufferPointer(rebasing: line)))
            }
            guard !identities.isEmpty else { throw .malformed("it has no identity") }
            return identities
        }
    }

    /// The text form, `AGE-SECRET-KEY-1…`, without a newline.
    package var text: SecretBytes {
        SecretBytes(count: Self.textBytes) { room in
            secret.withBytes { Bech32.write($0, prefix: Self.prefix, into: room) }
        }
    }

    private static func refusal(of text: UnsafeRawBufferPointer) -> AgeError {
        if text.starts(with: "AGE-SECRET-KEY-PQ-1".utf8) { return .unsupported("a hybrid identity") }
        if text.starts(with: "AGE-PLUGIN-".utf8) { return .unsupported("the identity of a plugin") }
        if text.starts(with: "-----BEGIN ".utf8) { return .unsupported("an SSH key as an identity") }
        return .malformed("it is not an identity: AGE-SECRET-KEY-1 and 58 characters more, the last as a check")
    }

    /// The file key, if the body of a stanza was sealed to this identity; else nil.
    func open(share: [UInt8], body: [UInt8]) throws(AgeError) -> FileKey? {
        guard let shared = try X25519.shared(secret, own: recipient.point, share) else {
            throw .malformed("an X25519 recipient in its header has a share that leads to no key")
        }
        return try FileKey.unwrapped(body, by: try recipient.wrappingKey(shared, share: share))
    }
}
