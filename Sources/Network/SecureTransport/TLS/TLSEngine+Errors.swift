internal import COpenSSL

extension TLSEngine {
    /// The error for the entries of OpenSSL's queue, the cause first.
    func error(from queued: [QueuedError]) -> TLSError {
        guard let first = queued.first else {
            return TLSError(.protocolViolation, "the TLS connection failed for no reason that OpenSSL gives")
        }
        if let alert = first.alert { return .refusedByPeer(alert, protocols: context.profile.applicationProtocols) }
        guard first.library == ERR_LIB_SSL else {
            return TLSError(.protocolViolation, "the TLS connection failed: \(first.text)")
        }
        let isHandshaking = peerID == nil
        if isHandshaking, Self.versionReasons.contains(first.reason) { return .wrongVersion }
        switch first.reason {
        case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE:
            return .noCertificate
        case SSL_R_EXCESSIVE_MESSAGE_SIZE where isHandshaking:
            return .certificateRefused("it is too large, or another handshake message is")
        case SSL_R_DECRYPTION_FAILED_OR_BAD_RECORD_MAC, SSL_R_BAD_RECORD_TYPE:
            return TLSError(.corrupted, "a record was changed on its way: \(first.text)")
        default:
            return TLSError(.protocolViolation, "the peer broke the rules of TLS: \(first.text)")
        }
    }
}

extension TLSEngine {
    /// OpenSSL's reasons when the two sides have no version, cipher suite or group in common.
    private static let versionReasons: Set<Int32> = [
        SSL_R_UNSUPPORTED_PROTOCOL, SSL_R_WRONG_VERSION_NUMBER, SSL_R_VERSION_TOO_LOW, SSL_R_NO_SHARED_CIPHER,
        SSL_R_NO_PROTOCOLS_AVAILABLE, SSL_R_WRONG_SSL_VERSION, SSL_R_NO_SUITABLE_KEY_SHARE, SSL_R_NO_SUITABLE_GROUPS,
    ]
}

extension TLSError {
    static func notTLS(looksLikeText: Bool) -> TLSError {
        TLSError(.notTLS, looksLikeText ? "the peer speaks plain text (HTTP?), not TLS" : "the peer does not speak TLS")
    }

    /// The meaning of the peer's alert: some alerts mean the same as errors that this side finds itself.
    static func refusedByPeer(_ alert: UInt8, protocols: [String]) -> TLSError {
        let reason =
            switch Int32(alert) {
            case TLS1_AD_NO_APPLICATION_PROTOCOL:
                "it does not speak \(protocols.joined(separator: " or ")): it is another program, or an incompatible version"
            case SSL3_AD_BAD_CERTIFICATE, TLS1_AD_UNKNOWN_CA, SSL3_AD_UNSUPPORTED_CERTIFICATE,
                SSL3_AD_CERTIFICATE_UNKNOWN:
                "it does not accept this side's certificate"
            case TLS13_AD_CERTIFICATE_REQUIRED: "it asks for a certificate"
            case TLS1_AD_PROTOCOL_VERSION, SSL3_AD_HANDSHAKE_FAILURE: "it has no version or cipher suite in common"
            case SSL3_AD_BAD_RECORD_MAC: "a record was changed on its way"
            default: alertName(alert)
            }
        return TLSError(.refusedByPeer, "the peer ended the connection: \(reason) (TLS alert \(alert))", alert: alert)
    }

    private static func alertName(_ alert: UInt8) -> String {
        String(cString: SSL_alert_desc_string_long(Int32(alert)))
    }
}
