internal import COpenSSL
internal import COpenSSLShims
internal import Secrets

/// X25519 (RFC 7748) by libcrypto.
enum X25519 {
    /// Bytes of a secret, of a point and of a shared secret.
    static let keyBytes = 32

    /// The public point of `secret`.
    static func point(of secret: SecretBytes) throws(AgeError) -> [UInt8] {
        let key = secret.withBytes {
            EVP_PKEY_new_raw_private_key(
                EVP_PKEY_X25519, nil, $0.bindMemory(to: UInt8.self).baseAddress, $0.count)
        }
        guard let key else { throw .noCryptography("a private key") }
        defer { EVP_PKEY_free(key) }
        var point = [UInt8](repeating: 0, count: keyBytes)
        var count = point.count
        guard EVP_PKEY_get_raw_public_key(key, &point, &count) == 1, count == keyBytes else {
            throw .noCryptography("a public key")
        }
        return point
    }

    /// The secret that the owners of `secret` and of `other` share.
    ///
    /// - Parameter own: the point of `secret`.
    /// - Returns: nil if it is zero: `other` has a low order, and the result would not depend on the secret.
    static func shared(_ secret: SecretBytes, own: [UInt8], _ other: [UInt8]) throws(AgeError) -> SecretBytes? {
        precondition(other.count == keyBytes, "a point has 32 bytes")
        let key = try key(secret, point: own)
        defer { EVP_PKEY_free(key) }
        guard let peer = EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, nil, other, other.count) else {
            throw .noCryptography("a public key")
        }
        defer { EVP_PKEY_free(peer) }
        guard let context = EVP_PKEY_CTX_new(key, nil) else { throw .noCryptography("a shared secret") }
        defer { EVP_PKEY_CTX_free(context) }
        guard EVP_PKEY_derive_init(context) == 1, EVP_PKEY_derive_set_peer_ex(context, peer, 0) == 1 else {
            throw .noCryptography("a shared secret")
        }
        // libcrypto refuses a result of zero.
        ERR_set_mark()
        defer { ERR_pop_to_mark() }
        var isShared = false
        let shared = SecretBytes(count: keyBytes) { room in
            var count = room.count
            let result = EVP_PKEY_derive(context, room.bindMemory(to: UInt8.self).baseAddress, &count)
            isShared = result == 1 && count == room.count && room.contains { $0 != 0 }
        }
        return isShared ? shared : nil
    }

    /// The key pair of `secret`, whose point is known: libcrypto would calculate it anew from the secret alone, which
    /// takes longer than the shared secret.
    ///
    /// - Returns: `EVP_PKEY *`, owned by the caller. libcrypto wipes its copy of the secret.
    private static func key(_ secret: SecretBytes, point: [UInt8]) throws(AgeError) -> OpaquePointer {
        guard let context = EVP_PKEY_CTX_new_id(EVP_PKEY_X25519, nil) else { throw .noCryptography("a private key") }
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        let isMade = secret.withBytes { secret in
            point.withUnsafeBytes { point in
                var parameters = [
                    parameter("priv", secret), parameter("pub", point), OSSL_PARAM_construct_end(),
                ]
                return EVP_PKEY_fromdata_init(context) == 1
                    && EVP_PKEY_fromdata(context, &key, COpenSSLShims_EVP_PKEY_KEYPAIR, &parameters) == 1
            }
        }
        guard isMade, let key else { throw .noCryptography("a private key") }
        return key
    }

    /// - Parameter name: lives as long as the program: the parameter keeps its address.
    private static func parameter(_ name: StaticString, _ bytes: UnsafeRawBufferPointer) -> OSSL_PARAM {
        // libcrypto only reads the bytes, though its declaration has no const.
        OSSL_PARAM_construct_octet_string(
            UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self),
            UnsafeMutableRawPointer(mutating: bytes.baseAddress), bytes.count)
    }
}
