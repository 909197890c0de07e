import COpenSSL
import COpenSSLShims
import NIOCore
import Sharing
import Testing

@testable import SecureTransport

@Suite struct TLSEngineHandshakeTests {
    @Test("both sides learn the key of the other, and agree on the protocol")
    func handshake() throws {
        let pair = try EnginePair()
        pair.open()
        #expect(pair.client.peerID == Identities.bob.peerID)
        #expect(pair.server.peerID == Identities.alice.peerID)
        #expect(pair.client.applicationProtocol == "waft/1")
        #expect(pair.server.applicationProtocol == "waft/1")
    }

    @Test("a handshake that arrives byte by byte succeeds")
    func byteByByte() throws {
        var pair = try EnginePair()
        pair.pieceBytes = 1
        pair.open()
        #expect(try pair.send(noise(100), from: pair.client, to: pair.server) == noise(100))
    }

    @Test("a handshake that is split at any position succeeds", arguments: [2, 3, 4, 5, 6, 7, 100, 255, 517, 1000])
    func split(pieceBytes: Int) throws {
        var pair = try EnginePair()
        pair.pieceBytes = pieceBytes
        pair.open()
    }

    @Test(
        "the suite that is fast for the client is used",
        arguments: [
            (TLSProfile.CipherOrder.aesFirst, TLSProfile.CipherOrder.aesFirst, "TLS_AES_128_GCM_SHA256"),
            (.chaCha20First, .aesFirst, "TLS_CHACHA20_POLY1305_SHA256"),
            (.aesFirst, .chaCha20First, "TLS_CHACHA20_POLY1305_SHA256"),
            (.chaCha20First, .chaCha20First, "TLS_CHACHA20_POLY1305_SHA256"),
        ]
    )
    func suites(client: TLSProfile.CipherOrder, server: TLSProfile.CipherOrder, suite: String) throws {
        var clientProfile = TLSProfile.waft
        clientProfile.cipherOrder = client
        var serverProfile = TLSProfile.waft
        serverProfile.cipherOrder = server
        let pair = try EnginePair(clientProfile: clientProfile, serverProfile: serverProfile)
        pair.open()
        #expect(pair.client.cipherSuite == suite)
        #expect(pair.server.cipherSuite == suite)
    }

    @Test("a client without a certificate is refused, and learns that one is needed")
    func noCertificate() throws {
        let context = try TLSContext.make(role: .client, identity: Identities.alice, profile: .waft)
        // An empty certificate list is what a client without one sends.
        let clear: @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?) -> Int32 = { connection, _ in
            SSL_certs_clear(connection)
            return 1
        }
        SSL_CTX_set_cert_cb(context.handle, clear, nil)
        let server = try TLSContext.make(role: .server, identity: Identities.bob, profile: .waft)
        let pair = try EnginePair(client: context, server: server)
        let result = pair.shakeHands()
        #expect(result.server.code == .noCertificate)
        #expect(throws: TLSError.self) { try pair.client.decryptAll() }
    }

    @Test("a client that speaks only TLS 1.2 is refused, and both know why")
    func oldClient() throws {
        var old = TLSProfile.waft
        old.versions = .tls12 ... .tls12
        let result = try EnginePair(clientProfile: old).shakeHands()
        #expect(result.server.code == .wrongVersion)
        #expect(result.client.code == .refusedByPeer)
    }

    @Test("a server that speaks only TLS 1.2 is refused")
    func oldServer() throws {
        var old = TLSProfile.waft
        old.versions = .tls12 ... .tls12
        let result = try EnginePair(serverProfile: old).shakeHands()
        #expect(result.server.code == .wrongVersion)
        #expect(result.client.code == .refusedByPeer)
    }

    @Test("a client with another protocol is refused, and both know why")
    func otherProtocol() throws {
        let result = try EnginePair(clientProfile: TLSProfile(applicationProtocols: ["http/1.1"])).shakeHands()
        #expect(result.server.code == .noCommonProtocol)
        #expect(result.client.code == .refusedByPeer)
        guard case .failure(let error) = result.client else { return }
        #expect(error.alert == UInt8(TLS1_AD_NO_APPLICATION_PROTOCOL))
    }

    @Test("a client that names no protocol is refused")
    func noProtocol() throws {
        let result = try EnginePair(clientProfile: TLSProfile(applicationProtocols: [])).shakeHands()
        #expect(result.server.code == .noCommonProtocol)
    }

    @Test("a server that ignores the protocol is refused before the client shows its certificate")
    func ignorantServer() throws {
        let pair = try EnginePair(serverProfile: TLSProfile(applicationProtocols: []))
        let result = pair.shakeHands()
        #expect(result.client.code == .noCommonProtocol)
        #expect(pair.server.peerID == nil)
    }

    @Test("the first protocol of the server that the client offers is chosen")
    func protocolChoice() throws {
        let pair = try EnginePair(
            clientProfile: TLSProfile(applicationProtocols: ["waft/1", "waft/2"]),
            serverProfile: TLSProfile(applicationProtocols: ["waft/3", "waft/2", "waft/1"])
        )
        pair.open()
        #expect(pair.client.applicationProtocol == "waft/2")
    }

    @Test("the expected key is accepted")
    func expectedKey() throws {
        let pair = try EnginePair(expectedPeers: [Identities.mallory.peerID, Identities.bob.peerID])
        pair.open()
    }

    @Test("another key than the expected one fails the handshake on both sides")
    func unexpectedKey() throws {
        let pair = try EnginePair(serverIdentity: Identities.mallory, expectedPeers: [Identities.bob.peerID])
        let result = pair.shakeHands()
        #expect(result.client == .failure(.unexpectedPeer(Identities.mallory.peerID)))
        #expect(result.server.code == .refusedByPeer)
        #expect(pair.server.peerID == nil)
    }

    @Test("a certificate with an RSA key is refused on either side")
    func rsa() throws {
        let byServer = try EnginePair(clientIdentity: Identities.rsa).shakeHands()
        #expect(byServer.server.code == .certificateRefused)
        let byClient = try EnginePair(serverIdentity: Identities.rsa).shakeHands()
        #expect(byClient.client.code == .certificateRefused)
    }

    @Test("a profile may ask for RSA keys")
    func rsaByProfile() throws {
        var profile = TLSProfile.waft
        profile.acceptedKeys = [.rsa2048]
        let pair = try EnginePair(
            clientIdentity: Identities.rsa,
            serverIdentity: Identities.rsa,
            clientProfile: profile,
            serverProfile: profile
        )
        pair.open()
        #expect(pair.client.peerID == Identities.rsa.peerID)
    }

    @Test("a certificate of another curve is refused")
    func otherCurve() throws {
        let key = try #require(COpenSSLShims_EVP_EC_gen("P-384"))
        let certificate = try #require(Identity.makeSelfSignedCertificate(of: key))
        defer {
            EVP_PKEY_free(key)
            X509_free(certificate)
        }
        let client = try TLSContext.make(role: .client, identity: Identities.alice, profile: .waft)
        SSL_CTX_use_certificate(client.handle, certificate)
        SSL_CTX_use_PrivateKey(client.handle, key)
        let server = try TLSContext.make(role: .server, identity: Identities.bob, profile: .waft)
        let result = try EnginePair(client: client, server: server).shakeHands()
        #expect(result.server.code == .certificateRefused)
    }

    @Test("a certificate that comes with others is refused")
    func chain() throws {
        let client = try TLSContext.make(role: .client, identity: Identities.alice, profile: .waft)
        #expect(COpenSSLShims_SSL_CTX_add1_chain_cert(client.handle, Identities.bob.certificate) == 1)
        let server = try TLSContext.make(role: .server, identity: Identities.bob, profile: .waft)
        let result = try EnginePair(client: client, server: server).shakeHands()
        #expect(result.server.code == .certificateRefused)
    }

    @Test("a certificate message over the limit is refused")
    func oversizedChain() throws {
        let client = try TLSContext.make(role: .client, identity: Identities.alice, profile: .waft)
        for _ in 0..<40 {
            #expect(COpenSSLShims_SSL_CTX_add1_chain_cert(client.handle, Identities.bob.certificate) == 1)
        }
        let server = try TLSContext.make(role: .server, identity: Identities.bob, profile: .waft)
        let result = try EnginePair(client: client, server: server).shakeHands()
        #expect(result.server.code == .certificateRefused)
    }

    @Test("a stolen certificate without its key is of no use")
    func stolenCertificate() throws {
        let client = try TLSContext.make(role: .client, identity: Identities.mallory, profile: .waft)
        let forged = try #require(Self.forgedKey(publicOf: Identities.alice, privateOf: Identities.mallory))
        defer { EVP_PKEY_free(forged) }
        #expect(SSL_CTX_use_certificate(client.handle, Identities.alice.certificate) == 1)
        #expect(SSL_CTX_use_PrivateKey(client.handle, forged) == 1)
        let server = try TLSContext.make(role: .server, identity: Identities.bob, profile: .waft)
        let pair = try EnginePair(client: client, server: server)
        let result = pair.shakeHands()
        #expect(result.server.code == .protocolViolation)
        #expect(pair.server.peerID == nil)
    }

    /// A key (`EVP_PKEY *`, owned by the caller) that claims one identity's public key and signs with another's.
    private static func forgedKey(publicOf victim: Identity, privateOf thief: Identity) -> OpaquePointer? {
        var encoded: UnsafeMutablePointer<UInt8>?
        let count = Int(i2d_PrivateKey(thief.key, &encoded))
        guard
            let encoded, count > 65,
            let victimKey = subjectPublicKeyInfo(of: victim.certificate)?.suffix(65),
            let thiefKey = subjectPublicKeyInfo(of: thief.certificate)?.suffix(65)
        else { return nil }
        defer { CRYPTO_free(encoded, #file, #line) }
        var bytes = Array(UnsafeBufferPointer(start: encoded, count: count))
        guard let start = bytes.indices.first(where: { bytes[$0...].starts(with: thiefKey) }) else { return nil }
        bytes.replaceSubrange(start..<start + 65, with: victimKey)
        return bytes.withUnsafeBufferPointer { bytes in
            var cursor = bytes.baseAddress
            return d2i_AutoPrivateKey(nil, &cursor, bytes.count)
        }
    }

    @Test(
        "both sides recognize data that is not TLS by its first bytes",
        arguments: [
            "GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 400 Bad Request\r\n\r\n", "SSH-2.0-OpenSSH", "\u{0}", "\u{16}\u{5}",
        ]
    )
    func notTLS(text: String) throws {
        for role in [TLSContext.Role.client, .server] {
            let engine = try TLSEngine(context: .make(role: role, identity: Identities.alice, profile: .waft))
            engine.receive(ByteBuffer(string: text))
            #expect { try engine.handshake() } throws: { ($0 as? TLSError)?.code == .notTLS }
        }
    }

    @Test("noise in a TLS record is refused")
    func noiseInRecord() throws {
        let engine = try TLSEngine(context: .make(role: .server, identity: Identities.alice, profile: .waft))
        engine.receive(ByteBuffer(bytes: [0x16, 0x03, 0x01, 0x00, 0x40] + noise(64)))
        #expect(throws: TLSError.self) { try engine.handshake() }
        // The same error again, not another one.
        #expect(throws: TLSError.self) { try engine.handshake() }
    }

    @Test("a handshake that is changed anywhere does not succeed", arguments: Array(stride(from: 0, to: 1200, by: 23)))
    func changedHandshake(position: Int) throws {
        var pair = try EnginePair()
        var offset = 0
        pair.tamper = { bytes, role in
            guard role == .server else { return }
            let index = position - offset
            if (0..<bytes.readableBytes).contains(index) {
                let byte = bytes.getInteger(at: bytes.readerIndex + index, as: UInt8.self) ?? 0
                bytes.setInteger(byte ^ 0x55, at: bytes.readerIndex + index)
            }
            offset += bytes.readableBytes
        }
        let result = pair.shakeHands()
        guard position < offset else { return }
        // A changed length of a record can leave a side waiting; neither side may count it as done.
        #expect(result.client != .success(true))
    }

    @Test("the end of the input in the handshake is reported as that")
    func endInHandshake() throws {
        let pair = try EnginePair()
        _ = try pair.client.handshake()
        pair.carry(from: pair.client, to: pair.server)
        #expect(try pair.server.handshake() == false)
        pair.server.endInput()
        #expect { try pair.server.handshake() } throws: { ($0 as? TLSError)?.code == .closedInHandshake }
    }

    @Test("a protocol name that cannot be written on the wire is an error, not a crash")
    func impossibleName() throws {
        let profile = TLSProfile(applicationProtocols: [String(repeating: "x", count: 256)])
        #expect { try TLSContext.make(role: .client, identity: Identities.alice, profile: profile) } throws: {
            ($0 as? TLSError)?.code == .setUpFailed
        }
    }

    @Test("no session ticket is ever sent")
    func noTickets() throws {
        let pair = try EnginePair()
        pair.open()
        #expect(!pair.server.hasOutbound)
        #expect(!pair.client.hasUnreadInput)
    }
}
