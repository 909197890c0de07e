internal import COpenSSL
internal import COpenSSLShims

/// The kinds of public keys that an identity can have.
package enum KeyKind: String, Hashable, Sendable, CaseIterable, CustomStringConvertible {
    /// ECDSA over NIST P-256, which Waft's own peers use.
    case p256
    /// RSA with 2048 bits, which other dialects may need.
    case rsa2048

    package var description: String {
        switch self {
        case .p256: "a P-256 key"
        case .rsa2048: "an RSA key of 2048 bits"
        }
    }
}

extension KeyKind {
    /// The kind of a key, recognized by its DER `SubjectPublicKeyInfo`; nil if it is none of these.
    ///
    /// The encoding before the key itself is fixed for each kind, so it is compared as bytes: a P-256 key in another
    /// form (compressed, explicit curve parameters) would be a second fingerprint for one key.
    init?(subjectPublicKeyInfo der: [UInt8]) {
        for kind in Self.allCases where der.count == kind.encodedCount && der.starts(with: kind.encodingPrefix) {
            self = kind
            return
        }
        return nil
    }

    private var encodedCount: Int {
        switch self {
        case .p256: 91
        case .rsa2048: 294
        }
    }

    private var encodingPrefix: [UInt8] {
        switch self {
        case .p256:
            // SEQUENCE { SEQUENCE { id-ecPublicKey, prime256v1 }, BIT STRING { uncompressed point } } (RFC 5480)
            [
                0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86,
                0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04,
            ]
        case .rsa2048:
            // SEQUENCE { SEQUENCE { rsaEncryption, NULL }, BIT STRING { SEQUENCE { INTEGER (257 bytes)…  (RFC 8017)
            [
                0x30, 0x82, 0x01, 0x22, 0x30, 0x0D, 0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01,
                0x05, 0x00, 0x03, 0x82, 0x01, 0x0F, 0x00, 0x30, 0x82, 0x01, 0x0A, 0x02, 0x82, 0x01, 0x01, 0x00,
            ]
        }
    }

    /// - Returns: a new key, owned by the caller, or nil.
    func makeKey() -> OpaquePointer? {
        switch self {
        case .p256: COpenSSLShims_EVP_EC_gen("P-256")
        case .rsa2048: COpenSSLShims_EVP_RSA_gen(2048)
        }
    }
}
