package import Sharing

/// A dialect's requirements for TLS: versions, keys, application protocols.
package struct TLSProfile: Sendable {
    /// Versions of TLS.
    package enum Version: Comparable, Sendable {
        case tls12
        case tls13
    }

    /// The order of the cipher suites of TLS 1.3.
    package enum CipherOrder: Sendable {
        /// As `aesFirst` if the processor has instructions for AES, otherwise as `chaCha20First`.
        case automatic
        /// AES-128-GCM, AES-256-GCM, ChaCha20-Poly1305: the order of speed with AES instructions.
        case aesFirst
        /// ChaCha20-Poly1305, AES-128-GCM, AES-256-GCM: the order of speed without them.
        case chaCha20First
    }

    /// ALPN names (RFC 7301) in order of preference, each of 1 to 255 bytes. Both sides must agree on one of them. If
    /// the list is empty, this side neither offers nor requires one.
    package var applicationProtocols: [String]

    /// The proof that the peer must give.
    package enum Proof: Sendable {
        /// That it holds a key of one of `acceptedKeys`.
        case key
        /// None: a server asks for no certificate, a client accepts any. The peer is then unknown, and a different one
        /// each time (`PeerID.unproven`).
        case nothing(in: Dialect)
        /// That it holds a key of any kind that is at least as strong as RSA with 2048 bits or P-256, if it shows a
        /// certificate: a server asks for one and does not require it. A peer without one, or with a weaker key, is
        /// unknown, as with `nothing`. The certificate only carries the key: its dates, its signature and the
        /// authorities that it comes with do not matter. By TLS 1.2 the curves are P-256, P-384 and Ed25519's.
        case ifOffered(in: Dialect)
    }

    /// The proof that the peer must give.
    package var proof: Proof = .key

    /// The kinds of keys that a peer may have, if `proof` is `key`.
    package var acceptedKeys: Set<KeyKind> = [.p256]

    /// The versions that are accepted.
    package var versions: ClosedRange<Version> = .tls13 ... .tls13

    /// The order of cipher suites of TLS 1.3 that this side prefers.
    package var cipherOrder: CipherOrder = .automatic

    /// Another identity for clients that offer one protocol alone.
    package struct OtherIdentity: Sendable {
        package let applicationProtocol: String
        /// Called for each such client, on its event loop.
        package let identity: @Sendable () throws -> Identity

        package init(for applicationProtocol: String, _ identity: @escaping @Sendable () throws -> Identity) {
            (self.applicationProtocol, self.identity) = (applicationProtocol, identity)
        }
    }

    /// The identity that a server shows to some clients in place of its own; nil for none.
    package var otherIdentity: OtherIdentity?

    /// TLS 1.3 only, with a P-256 key on both sides.
    package init(applicationProtocols: [String]) {
        self.applicationProtocols = applicationProtocols
    }
}
