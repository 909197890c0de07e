package import Sharing

/// Why a TLS connection could not be made or could not continue.
///
/// `code` is for programs, `description` for people: one line, lower case, with the failed step and the reason.
package struct TLSError: Error, Hashable {
    /// The kind of failure.
    package struct Code: Hashable, Sendable {
        private enum Value {
            case notTLS
            case wrongVersion
            case noCommonProtocol
            case noCertificate
            case certificateRefused
            case unexpectedPeer
            case refusedByPeer
            case handshakeTimedOut
            case closedInHandshake
            case truncated
            case corrupted
            case protocolViolation
            case setUpFailed
        }

        private let value: Value

        /// The peer sends data, but not TLS: plain HTTP, another protocol, noise.
        package static let notTLS = Code(value: .notTLS)
        /// The peer speaks another version of TLS, or has no cipher suite in common.
        package static let wrongVersion = Code(value: .wrongVersion)
        /// The peer speaks TLS but none of the requested application protocols (ALPN, RFC 7301).
        package static let noCommonProtocol = Code(value: .noCommonProtocol)
        /// The client sent no certificate, so it has no identity.
        package static let noCertificate = Code(value: .noCertificate)
        /// No identity can be read from the peer's certificate.
        package static let certificateRefused = Code(value: .certificateRefused)
        /// The peer has a key or a certificate, but not the expected one.
        package static let unexpectedPeer = Code(value: .unexpectedPeer)
        /// The peer ended the connection with a TLS alert; see `alert`.
        package static let refusedByPeer = Code(value: .refusedByPeer)
        /// The handshake did not finish in time.
        package static let handshakeTimedOut = Code(value: .handshakeTimedOut)
        /// The connection ended before the handshake did.
        package static let closedInHandshake = Code(value: .closedInHandshake)
        /// The stream ended without the peer's close_notify: data may be missing.
        package static let truncated = Code(value: .truncated)
        /// A record did not authenticate.
        package static let corrupted = Code(value: .corrupted)
        /// The peer broke the rules of TLS.
        package static let protocolViolation = Code(value: .protocolViolation)
        /// This side could not set TLS up.
        package static let setUpFailed = Code(value: .setUpFailed)
    }

    /// The kind of failure.
    package let code: Code

    /// The alert that the peer sent (RFC 8446, section 6), when `code` is `refusedByPeer`.
    package let alert: UInt8?

    /// The key of the peer, when `code` is `unexpectedPeer`.
    package let actualPeer: PeerID?

    private let message: String

    init(_ code: Code, _ message: String, alert: UInt8? = nil, actualPeer: PeerID? = nil) {
        self.code = code
        self.message = message
        self.alert = alert
        self.actualPeer = actualPeer
    }
}

extension TLSError: CustomStringConvertible {
    package var description: String { message }
}

extension TLSError {
    static let truncated = TLSError(
        .truncated,
        "the connection was cut: it ended without the peer's close_notify, so data may be missing"
    )

    static let closedInHandshake = TLSError(
        .closedInHandshake,
        "the peer closed the connection during the TLS handshake"
    )

    static let handshakeTimedOut = TLSError(
        .handshakeTimedOut,
        "the peer did not finish the TLS handshake in time"
    )

    static let wrongVersion = TLSError(
        .wrongVersion,
        "the peer speaks TLS, but no version or cipher suite that is accepted here"
    )

    static let noCertificate = TLSError(
        .noCertificate,
        "the peer sent no certificate, so there is no key to know it by"
    )

    static let tooManyAnswers = TLSError(
        .protocolViolation,
        "the peer asked for new keys too often"
    )

    static func noCommonProtocol(_ offered: [String]) -> TLSError {
        TLSError(
            .noCommonProtocol,
            "the peer speaks TLS but not \(offered.joined(separator: " or ")) (no common ALPN protocol)"
        )
    }

    static func unexpectedPeer(_ actual: PeerID) -> TLSError {
        TLSError(
            .unexpectedPeer,
            "the peer holds another key than the expected one: it is \(actual.short)",
            actualPeer: actual
        )
    }

    static func unexpectedCertificate(of actual: PeerID, _ fingerprint: CertificateFingerprint) -> TLSError {
        TLSError(
            .unexpectedPeer,
            "the peer has another certificate than the expected one: its fingerprint is \(fingerprint)",
            actualPeer: actual
        )
    }

    static func certificateRefused(_ reason: String) -> TLSError {
        TLSError(.certificateRefused, "the peer's certificate was refused: \(reason)")
    }

    static func setUpFailed(_ what: String, reasons: [String]) -> TLSError {
        let why = reasons.isEmpty ? "" : ": " + reasons.joined(separator: ", ")
        return TLSError(.setUpFailed, "TLS could not be set up: \(what) failed\(why)")
    }
}
