internal import COpenSSL
import Secrets

/// Encrypts the secrets of one session with the Secret Service: AES-128 in CBC mode with the padding of PKCS #7
/// ("Secret Service API Draft", 0.2, "Transfer of Secrets").
///
/// It keeps secrets out of the memory of the bus. It proves nothing about the peer.
struct SessionCipher: Sendable {
    private static let keyBytes = 16
    /// Bytes of a block, and of an initialization vector.
    private static let blockBytes = 16

    private let key: SecretBytes

    /// - Parameter shared: the secret of the key agreement.
    init(shared: SecretBytes) throws(SecretsError) {
        key = try KeyDerivation.hkdf(salt: [], secret: shared, info: [], count: Self.keyBytes)
    }

    /// - Returns: the initialization vector, and the encrypted secret.
    func seal(_ secret: SecretBytes) throws(SecretsError) -> (parameters: [UInt8], value: SecretBytes) {
        let vector = KeyDerivation.random(Self.blockBytes)
        let padded = (secret.count / Self.blockBytes + 1) * Self.blockBytes
        let value = secret.withBytes { run(true, vector, $0, room: padded) }
        guard let value, value.count == padded else { throw .noCryptography("an encrypted secret") }
        return (vector, value)
    }

    /// - Returns: nil if the value was not encrypted for this session.
    func open(_ parameters: [UInt8], _ value: UnsafeRawBufferPointer) -> SecretBytes? {
        guard parameters.count == Self.blockBytes, !value.isEmpty, value.count.isMultiple(of: Self.blockBytes) else {
            return nil
        }
        return run(false, parameters, value, room: value.count)
    }

    /// - Parameter room: bytes of the result, at most.
    private func run(
        _ encrypts: Bool, _ vector: [UInt8], _ input: UnsafeRawBufferPointer, room: Int
    ) -> SecretBytes? {
        guard let context = EVP_CIPHER_CTX_new() else { return nil }
        defer { EVP_CIPHER_CTX_free(context) }
        var (count, rest): (Int32, Int32) = (0, 0)
        var isDone = false
        // EVP_CipherUpdate may write a block more than it reads.
        let result = SecretBytes(count: room + Self.blockBytes) { output in
            guard let output = output.bindMemory(to: UInt8.self).baseAddress else { return }
            isDone = key.withBytes { key in
                let key = key.bindMemory(to: UInt8.self).baseAddress
                let input = input.bindMemory(to: UInt8.self)
                return EVP_CipherInit_ex(context, EVP_aes_128_cbc(), nil, key, vector, encrypts ? 1 : 0) == 1
                    && EVP_CipherUpdate(context, output, &count, input.baseAddress, Int32(input.count)) == 1
                    && EVP_CipherFinal_ex(context, output + Int(count), &rest) == 1
            }
        }
        return isDone ? result[0..<Int(count + rest)] : nil
    }
}
