internal import COpenSSL
internal import Sharing

// The peer's identity and its checks: those of the engine itself, and those that OpenSSL's callbacks ask for.

extension TLSEngine {
    /// Checks the first two bytes before OpenSSL sees them: it recognizes other protocols reliably, and costs nothing.
    ///
    /// TLS begins with a record of type handshake, or for a client also alert, and major version 3 (RFC 8446, 5.1).
    func recognizeTLS() throws(TLSError) {
        while recognizedBytes < 2, let byte = bio.inboundByte(at: recognizedBytes) {
            let isTLS =
                recognizedBytes == 0
                ? byte == 0x16 || (byte == 0x15 && context.role == .client)
                : byte == 0x03
            guard isTLS else {
                let letters = UInt8(ascii: "A")...UInt8(ascii: "Z")
                throw fail(.notTLS(looksLikeText: recognizedBytes == 0 && letters.contains(byte)))
            }
            recognizedBytes += 1
        }
    }

    /// Decides about the peer's certificate (`X509 *`, borrowed): the key must be of an accepted kind, and the peer one
    /// that is expected. Names, dates and signatures in it mean nothing: the handshake proves the key.
    func accepts(certificate: OpaquePointer?, chainLength: Int) -> Bool {
        do throws(TLSError) {
            presented = try peer(of: certificate, chainLength: chainLength)
            return true
        } catch {
            refusal = error
            return false
        }
    }

    /// - Returns: nil if the certificate proves nothing, and none has to.
    private func peer(of certificate: OpaquePointer?, chainLength: Int) throws(TLSError) -> Presented? {
        // Detects a server that ignores ALPN, before this client shows its own certificate.
        if context.role == .client, !context.profile.applicationProtocols.isEmpty, applicationProtocol == nil {
            throw .noCommonProtocol(context.profile.applicationProtocols)
        }
        // Authorities come with their number limited by `certificateBytes`; nobody looks at them.
        if case .ifOffered = context.profile.proof {
        } else if chainLength > context.limits.chainLength {
            throw .certificateRefused("it comes with \(chainLength - 1) others, and none is needed")
        }
        guard let certificate, let der = subjectPublicKeyInfo(of: certificate) else {
            throw .certificateRefused("it holds no public key")
        }
        guard let peerID = PeerID(hashing: der), let fingerprint = CertificateFingerprint(of: certificate) else {
            throw .setUpFailed("hashing the peer's key", reasons: QueuedError.drain().map(\.text))
        }
        let isProof = try accepts(keyOf: certificate, der)
        try pin.check(peerID, fingerprint)
        guard isProof else {
            if pin.isStrict { throw .certificateRefused("its key is too weak") }
            return nil
        }
        return Presented(peerID: peerID, certificate: fingerprint)
    }

    /// - Parameter subjectPublicKeyInfo: of the certificate, in DER.
    /// - Returns: false if the key proves nothing, or the profile asks for no proof.
    private func accepts(
        keyOf certificate: OpaquePointer, _ subjectPublicKeyInfo: [UInt8]
    ) throws(TLSError) -> Bool {
        switch context.profile.proof {
        case .key: break
        case .nothing: return false
        case .ifOffered: return KeyStrength.isEnough(in: certificate)
        }
        let accepted = context.profile.acceptedKeys
        if let kind = KeyKind(subjectPublicKeyInfo: subjectPublicKeyInfo), accepted.contains(kind) { return true }
        throw .certificateRefused("its key is not \(accepted.map(\.description).sorted().joined(separator: " or "))")
    }

    /// - Returns: the range of our first matching name in `offers` (names, each after a byte with its length).
    func selectProtocol(from offers: UnsafeBufferPointer<UInt8>) -> Range<Int>? {
        for name in context.profile.applicationProtocols {
            var index = 0
            while index < offers.count {
                let start = index + 1
                let end = start + Int(offers[index])
                guard end <= offers.count else { break }
                if offers[start..<end].elementsEqual(name.utf8) { return start..<end }
                index = end
            }
        }
        noteMissingProtocols()
        return nil
    }

    /// Shows the other identity to a client that offers its protocol alone.
    /// - Parameter offers: the extension (RFC 7301, section 3.1): the length of the list, then the names.
    /// - Returns: false if that identity cannot be made or used.
    func chooseIdentity(for offers: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let other = context.profile.otherIdentity else { return true }
        let name = Array(other.applicationProtocol.utf8)
        guard offers.dropFirst(2).elementsEqual([UInt8(clamping: name.count)] + name) else { return true }
        guard let identity = try? other.identity() else { return false }
        return SSL_use_certificate(connection, identity.certificate) == 1
            && SSL_use_PrivateKey(connection, identity.key) == 1
    }

    func noteMissingProtocols() { refusal = .noCommonProtocol(context.profile.applicationProtocols) }
}

/// Whether a key of any kind is strong enough to know a peer by.
enum KeyStrength {
    /// The strength of a P-256 key, in bits.
    private static let securityBits: Int32 = 128
    /// Bits of the shortest RSA key.
    private static let rsaBits: Int32 = 2048

    /// - Parameter certificate: `X509 *`, borrowed.
    /// - Returns: whether its key is of RSA with at least 2048 bits, or of another kind and at least as strong as P-256.
    static func isEnough(in certificate: OpaquePointer) -> Bool {
        guard let key = X509_get0_pubkey(certificate) else { return false }
        let kind = EVP_PKEY_get_base_id(key)
        if kind == EVP_PKEY_RSA || kind == EVP_PKEY_RSA_PSS { return EVP_PKEY_get_bits(key) >= rsaBits }
        return EVP_PKEY_get_security_bits(key) >= securityBits
    }
}
