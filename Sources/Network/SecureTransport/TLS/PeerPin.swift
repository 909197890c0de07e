package import Sharing

/// The only peers that a connection may have. With any other one the handshake fails, before any data of the layer
/// above is sent.
package struct PeerPin: Sendable {
    /// The only keys; nil for any.
    package var keys: Set<PeerID>?
    /// The only certificate; nil for any.
    package var certificate: CertificateFingerprint?

    /// - Parameters:
    ///   - keys: the only keys; nil for any.
    ///   - certificate: the only certificate; nil for any.
    package init(keys: Set<PeerID>? = nil, certificate: CertificateFingerprint? = nil) {
        (self.keys, self.certificate) = (keys, certificate)
    }

    /// Any peer that the profile accepts.
    package static let any = PeerPin()

    /// Whether there is any peer that it excludes.
    var isStrict: Bool { keys != nil || certificate != nil }

    /// - Throws: `TLSError` (`unexpectedPeer`) if a peer with this key and certificate is none of them.
    func check(_ peerID: PeerID, _ fingerprint: CertificateFingerprint) throws(TLSError) {
        if let keys, !keys.contains(peerID) { throw .unexpectedPeer(peerID) }
        if let certificate, certificate != fingerprint { throw .unexpectedCertificate(of: peerID, fingerprint) }
    }
}
