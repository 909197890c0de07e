import Secrets

/// A session of the Secret Service: the form in which secrets cross the bus.
struct SecretSession: Sendable {
    static let plain = "plain"
    static let encrypted = "dh-ietf1024-sha256-aes128-cbc-pkcs7"

    /// The path of its object.
    let path: String
    /// Nil if secrets cross the bus as they are.
    let cipher: SessionCipher?

    func seal(_ secret: SecretBytes) throws(SecretsError) -> (parameters: [UInt8], value: SecretBytes) {
        guard let cipher else { return ([], secret) }
        return try cipher.seal(secret)
    }

    /// - Returns: nil if the value was not made for this session.
    func open(_ parameters: [UInt8], _ value: UnsafeRawBufferPointer) -> SecretBytes? {
        guard let cipher else { return SecretBytes(value) }
        return cipher.open(parameters, value)
    }
}
