internal import COpenSSL
internal import COpenSSLShims
package import Sharing

/// A key pair and its self-signed certificate, which make this machine a peer.
///
/// The certificate only carries the key. Peers check only the key (security rule 1), so the certificate contains
/// nothing about its owner and never expires.
///
/// Sendable: both handles are immutable once made, and OpenSSL counts references to them atomically.
package final class Identity: @unchecked Sendable {
    /// The private key (`EVP_PKEY *`), owned.
    let key: OpaquePointer

    /// The certificate (`X509 *`), owned.
    let certificate: OpaquePointer

    /// The certificates between this one and one that others trust (`X509 *`), owned.
    let chain: [OpaquePointer]

    /// SHA-256 of the DER `SubjectPublicKeyInfo` of the key.
    package let peerID: PeerID

    /// SHA-256 of the whole certificate in DER.
    package let certificateFingerprint: CertificateFingerprint

    /// The kind of the key; nil for another kind, which only a certificate of the user's own can have.
    package let kind: KeyKind?

    /// Takes ownership of all handles.
    private init(
        owningKey key: OpaquePointer, certificate: OpaquePointer, chain: [OpaquePointer], peerID: PeerID,
        certificateFingerprint: CertificateFingerprint, kind: KeyKind?
    ) {
        (self.key, self.certificate, self.chain) = (key, certificate, chain)
        self.peerID = peerID
        self.certificateFingerprint = certificateFingerprint
        self.kind = kind
    }

    deinit {
        EVP_PKEY_free(key)
        X509_free(certificate)
        for certificate in chain { X509_free(certificate) }
    }

    /// Makes an identity that lives in memory only.
    ///
    /// - Parameter names: those that the certificate is for, for programs that check them; nil for none.
    /// - Throws: `IdentityError` if OpenSSL cannot make one.
    package static func make(
        kind: KeyKind = .p256, for names: CertificateNames? = nil
    ) throws(IdentityError) -> Identity {
        ERR_clear_error()
        guard let key = kind.makeKey() else { throw .notMade("no key was generated" + openSSLReasons()) }
        return try make(owningKey: key, for: names)
    }

    /// Takes ownership of the key.
    static func make(owningKey key: OpaquePointer, for names: CertificateNames?) throws(IdentityError) -> Identity {
        guard let certificate = makeSelfSignedCertificate(of: key, for: names) else {
            EVP_PKEY_free(key)
            throw .notMade("no certificate was generated" + openSSLReasons())
        }
        guard let identity = Identity(owningKey: key, certificate: certificate) else {
            throw .notMade("the generated key has an unexpected form")
        }
        return identity
    }

    /// Takes ownership of all handles, also when it returns nil because the key's kind is unknown.
    /// - Parameter isOfAnyKind: whether the key may be of any kind.
    convenience init?(
        owningKey key: OpaquePointer, certificate: OpaquePointer, chain: [OpaquePointer] = [], isOfAnyKind: Bool = false
    ) {
        let der = subjectPublicKeyInfo(of: certificate)
        let kind = der.flatMap { KeyKind(subjectPublicKeyInfo: $0) }
        guard
            let der, kind != nil || isOfAnyKind, let peerID = PeerID(hashing: der),
            let fingerprint = CertificateFingerprint(of: certificate)
        else {
            EVP_PKEY_free(key)
            for certificate in [certificate] + chain { X509_free(certificate) }
            return nil
        }
        self.init(
            owningKey: key, certificate: certificate, chain: chain, peerID: peerID, certificateFingerprint: fingerprint,
            kind: kind)
    }

    /// OpenSSL's reasons for a failure on this thread, as the end of a sentence; empty if there are none.
    static func openSSLReasons() -> String {
        let reasons = QueuedError.drain().map(\.text)
        return reasons.isEmpty ? "" : ": " + reasons.joined(separator: ", ")
    }
}

extension PeerID {
    /// The id of the key with this DER `SubjectPublicKeyInfo`; nil only if OpenSSL has no SHA-256.
    init?(hashing subjectPublicKeyInfo: [UInt8]) {
        var digest = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
        guard EVP_Digest(subjectPublicKeyInfo, subjectPublicKeyInfo.count, &digest, nil, EVP_sha256(), nil) == 1 else {
            return nil
        }
        self.init(fingerprint: digest)
    }
}

/// The DER `SubjectPublicKeyInfo` of a certificate (`X509 *`, borrowed); nil if it has none.
func subjectPublicKeyInfo(of certificate: OpaquePointer) -> [UInt8]? {
    guard let publicKey = X509_get_X509_PUBKEY(certificate) else { return nil }
    let count = i2d_X509_PUBKEY(publicKey, nil)
    // The size of the certificate message is limited, and so is this size.
    guard count > 0 else { return nil }
    return [UInt8](unsafeUninitializedCapacity: Int(count)) { buffer, initialized in
        var cursor = buffer.baseAddress
        initialized = i2d_X509_PUBKEY(publicKey, &cursor) == count ? Int(count) : 0
    }
}
