internal import COpenSSL
import Secrets

/// One side of a Diffie-Hellman key agreement in the group of 1,024 bits that the Secret Service prescribes (RFC 2409,
/// "Second Oakley Group").
struct KeyAgreement: Sendable {
    private static let groupBytes = 128
    /// Bytes of the exponent: twice the strength of the group is enough.
    private static let exponentBytes = 32

    /// For the peer; big-endian.
    let publicKey: [UInt8]
    private let exponent: SecretBytes

    init() throws(SecretsError) {
        exponent = SecretBytes.random(Self.exponentBytes)
        let two: [UInt8] = [2]
        guard let key = two.withUnsafeBytes({ [exponent] in Self.power($0, exponent) }) else {
            throw .noCryptography("a public key")
        }
        publicKey = key.revealed
    }

    /// - Returns: the shared secret; nil if the peer's key is out of range.
    func shared(with peer: UnsafeRawBufferPointer) -> SecretBytes? { Self.power(peer, exponent) }

    /// - Returns: `base` to the power of `exponent`, with leading zeros; nil unless 1 < `base` < p - 1.
    private static func power(_ base: UnsafeRawBufferPointer, _ exponent: SecretBytes) -> SecretBytes? {
        guard base.count <= groupBytes, let context = BN_CTX_new() else { return nil }
        defer { BN_CTX_free(context) }
        guard let prime = BN_get_rfc2409_prime_1024(nil) else { return nil }
        defer { BN_free(prime) }
        let bytes = base.bindMemory(to: UInt8.self)
        guard let number = BN_bin2bn(bytes.baseAddress, Int32(bytes.count), nil) else { return nil }
        defer { BN_free(number) }
        let power = exponent.withBytes {
            BN_bin2bn($0.bindMemory(to: UInt8.self).baseAddress, Int32($0.count), nil)
        }
        guard let power, let result = BN_new(), let last = BN_dup(prime) else { return nil }
        defer {
            BN_clear_free(power)
            BN_clear_free(result)
            BN_free(last)
        }
        guard BN_sub_word(last, 1) == 1, BN_is_zero(number) == 0, BN_is_one(number) == 0, BN_cmp(number, last) < 0,
            BN_mod_exp_mont_consttime(result, number, power, prime, context, nil) == 1
        else { return nil }
        var isWhole = false
        let secret = SecretBytes(count: groupBytes) { room in
            isWhole = BN_bn2binpad(result, room.bindMemory(to: UInt8.self).baseAddress, Int32(groupBytes)) > 0
        }
        return isWhole ? secret : nil
    }
}
