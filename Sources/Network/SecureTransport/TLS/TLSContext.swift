internal import COpenSSL
internal import COpenSSLShims

/// The shared part of all connections of one role (`SSL_CTX *`): their identity and the rules for the peer.
///
/// Sendable: it does not change after `make`, and OpenSSL allows making connections from one context on any thread.
package final class TLSContext: @unchecked Sendable {
    /// The side of the handshake.
    package enum Role: Sendable {
        case client
        case server
    }

    /// The side of the connections.
    package let role: Role
    /// The identity that they present.
    package let identity: Identity
    /// The requirements for the peer.
    package let profile: TLSProfile
    let limits: TransportLimits

    /// `SSL_CTX *`, owned. Every connection made from it holds a reference of its own.
    let handle: OpaquePointer

    /// Takes ownership of `handle`.
    private init(
        owning handle: OpaquePointer,
        role: Role,
        identity: Identity,
        profile: TLSProfile,
        limits: TransportLimits
    ) {
        self.handle = handle
        self.role = role
        self.identity = identity
        self.profile = profile
        self.limits = limits
    }

    deinit { SSL_CTX_free(handle) }

    /// - Throws: `TLSError` (`setUpFailed`) if this OpenSSL does not support the profile.
    package static func make(
        role: Role,
        identity: Identity,
        profile: TLSProfile,
        limits: TransportLimits = TransportLimits()
    ) throws(TLSError) -> TLSContext {
        ERR_clear_error()
        guard let handle = SSL_CTX_new(role == .client ? TLS_client_method() : TLS_server_method()) else {
            throw .setUpFailed("making a context", reasons: QueuedError.drain().map(\.text))
        }
        let context = TLSContext(owning: handle, role: role, identity: identity, profile: profile, limits: limits)
        try context.configure()
        return context
    }

    private func configure() throws(TLSError) {
        try check("choosing the version", configureVersions())
        try check("choosing cipher suites", SSL_CTX_set_ciphersuites(handle, cipherSuites) == 1)
        // Those of TLS 1.2: forward secrecy and authenticated encryption only.
        try check("choosing ciphers", SSL_CTX_set_cipher_list(handle, "ECDHE+AESGCM:ECDHE+CHACHA20") == 1)
        try check("choosing groups", COpenSSLShims_SSL_CTX_set1_groups_list(handle, groups) == 1)
        try check("using the certificate", SSL_CTX_use_certificate(handle, identity.certificate) == 1)
        for certificate in identity.chain {
            try check("using the chain", COpenSSLShims_SSL_CTX_add1_chain_cert(handle, certificate) == 1)
        }
        try check("using the key", SSL_CTX_use_PrivateKey(handle, identity.key) == 1)
        try configureProtocols()
        configureOptions()
        configureVerification()
    }

    private func check(_ what: String, _ isDone: Bool) throws(TLSError) {
        guard !isDone else { return }
        throw .setUpFailed(what, reasons: QueuedError.drain().map(\.text))
    }

    private func configureVersions() -> Bool {
        COpenSSLShims_SSL_CTX_set_min_proto_version(handle, profile.versions.lowerBound.number) == 1
            && COpenSSLShims_SSL_CTX_set_max_proto_version(handle, profile.versions.upperBound.number) == 1
    }

    /// The first two are cheap for a server. The finite-field groups of OpenSSL's default list are not, and the peer
    /// chooses. By TLS 1.2 a certificate with a key of another curve is refused.
    private var groups: String {
        switch profile.proof {
        case .key, .nothing: "X25519:P-256"
        case .ifOffered: "X25519:P-256:P-384"
        }
    }

    private var cipherSuites: String {
        let aes = "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384"
        let chaCha20 = "TLS_CHACHA20_POLY1305_SHA256"
        let isAESFirst =
            switch profile.cipherOrder {
            case .automatic: COpenSSLShims_has_aes_instructions()
            case .aesFirst: true
            case .chaCha20First: false
            }
        return isAESFirst ? aes + ":" + chaCha20 : chaCha20 + ":" + aes
    }

    private func configureOptions() {
        // The server's order decides, but a client that puts ChaCha20 first (it has no AES instructions) gets it.
        let options =
            COpenSSLShims_SSL_OP_NO_TICKET | COpenSSLShims_SSL_OP_NO_COMPRESSION
            | COpenSSLShims_SSL_OP_NO_RENEGOTIATION | COpenSSLShims_SSL_OP_CIPHER_SERVER_PREFERENCE
            | COpenSSLShims_SSL_OP_PRIORITIZE_CHACHA
        SSL_CTX_set_options(handle, options)
        // No resumption: a handshake on a LAN is cheap, and every connection proves its key again.
        COpenSSLShims_SSL_CTX_set_session_cache_mode(handle, Int(SSL_SESS_CACHE_OFF))
        SSL_CTX_set_num_tickets(handle, 0)
        SSL_CTX_set_max_early_data(handle, 0)
        COpenSSLShims_SSL_CTX_set_max_cert_list(handle, limits.certificateBytes)
        // An idle connection keeps no record buffers (34 KiB).
        COpenSSLShims_SSL_CTX_set_mode(handle, Int(SSL_MODE_RELEASE_BUFFERS))
    }

    private func configureProtocols() throws(TLSError) {
        guard !profile.applicationProtocols.isEmpty else { return }
        var wire: [UInt8] = []
        for name in profile.applicationProtocols {
            guard let count = UInt8(exactly: name.utf8.count), count > 0 else {
                throw .setUpFailed("naming the protocol \(name)", reasons: ["it must have 1 to 255 bytes"])
            }
            wire.append(count)
            wire.append(contentsOf: name.utf8)
        }
        switch role {
        // This function returns 0 on success.
        case .client: try check("offering protocols", SSL_CTX_set_alpn_protos(handle, wire, UInt32(wire.count)) == 0)
        case .server: installProtocolSelection()
        }
    }
}

extension TLSProfile.Version {
    fileprivate var number: Int32 {
        switch self {
        case .tls12: TLS1_2_VERSION
        case .tls13: TLS1_3_VERSION
        }
    }
}
