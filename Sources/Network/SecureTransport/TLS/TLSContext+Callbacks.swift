internal import COpenSSL
internal import COpenSSLShims

// OpenSSL's questions during the handshake. Each finds its engine through its connection (`SSL *`), and the engine
// answers.

extension TLSContext {
    func configureVerification() {
        switch profile.proof {
        // As a client, OpenSSL accepts any certificate. As a server, it asks for none.
        case .nothing: return SSL_CTX_set_verify(handle, SSL_VERIFY_NONE, nil)
        // A server asks, and names no authorities, so that a client with any certificate shows it.
        case .ifOffered: SSL_CTX_set_verify(handle, SSL_VERIFY_PEER, nil)
        // A peer without a certificate has no identity; OpenSSL refuses it before the handshake is done.
        case .key: SSL_CTX_set_verify(handle, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
        }
        SSL_CTX_set_cert_verify_callback(handle, verificationCallback, nil)
    }

    func installProtocolSelection() {
        SSL_CTX_set_alpn_select_cb(handle, protocolSelectionCallback, nil)
        // OpenSSL does not call the selection when the client offers no protocol at all.
        SSL_CTX_set_client_hello_cb(handle, clientHelloCallback, nil)
    }
}

extension TLSEngine {
    /// Index of a connection's user data that holds its engine, unretained: OpenSSL's "application data".
    private static let userDataIndex: Int32 = 0

    /// Makes the engine known to the callbacks for the life of `connection` (`SSL *`).
    func attach(to connection: OpaquePointer) -> Bool {
        SSL_set_ex_data(connection, Self.userDataIndex, Unmanaged.passUnretained(self).toOpaque()) == 1
    }

    /// The engine of `connection` (`SSL *`, borrowed).
    fileprivate static func attached(to connection: OpaquePointer?) -> TLSEngine? {
        guard let connection, let data = SSL_get_ex_data(connection, userDataIndex) else { return nil }
        return Unmanaged<TLSEngine>.fromOpaque(data).takeUnretainedValue()
    }
}

private func verificationCallback(store: OpaquePointer?, _: UnsafeMutableRawPointer?) -> Int32 {
    let connection = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx())
    let engine = TLSEngine.attached(to: connection.map { OpaquePointer($0) })
    let certificate = X509_STORE_CTX_get0_cert(store)
    let chainLength = COpenSSLShims_sk_X509_num(X509_STORE_CTX_get0_untrusted(store))
    if let engine, engine.accepts(certificate: certificate, chainLength: Int(chainLength)) {
        X509_STORE_CTX_set_error(store, X509_V_OK)
        return 1
    }
    X509_STORE_CTX_set_error(store, X509_V_ERR_CERT_REJECTED)
    return 0
}

private func protocolSelectionCallback(
    connection: OpaquePointer?,
    selected: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
    selectedCount: UnsafeMutablePointer<UInt8>?,
    offered: UnsafePointer<UInt8>?,
    offeredCount: UInt32,
    _: UnsafeMutableRawPointer?
) -> Int32 {
    let offers = UnsafeBufferPointer(start: offered, count: Int(offeredCount))
    guard
        let engine = TLSEngine.attached(to: connection), let range = engine.selectProtocol(from: offers),
        let count = UInt8(exactly: range.count)
    else { return SSL_TLSEXT_ERR_ALERT_FATAL }
    // The answer may point into the offer.
    selected?.pointee = offered.map { $0 + range.lowerBound }
    selectedCount?.pointee = count
    return SSL_TLSEXT_ERR_OK
}

private func clientHelloCallback(
    connection: OpaquePointer?,
    alert: UnsafeMutablePointer<Int32>?,
    _: UnsafeMutableRawPointer?
) -> Int32 {
    var contents: UnsafePointer<UInt8>?
    var count = 0
    let hasProtocols = SSL_client_hello_get0_ext(
        connection, UInt32(TLSEXT_TYPE_application_layer_protocol_negotiation), &contents, &count)
    let engine = TLSEngine.attached(to: connection)
    guard hasProtocols == 1 else {
        engine?.noteMissingProtocols()
        alert?.pointee = TLS1_AD_NO_APPLICATION_PROTOCOL
        return SSL_CLIENT_HELLO_ERROR
    }
    let isIdentified = engine?.chooseIdentity(for: UnsafeBufferPointer(start: contents, count: count)) ?? true
    return isIdentified ? SSL_CLIENT_HELLO_SUCCESS : SSL_CLIENT_HELLO_ERROR
}
