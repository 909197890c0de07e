import COpenSSL
import NIOConcurrencyHelpers
import NIOCore
import Sharing
import TestSupport
import Testing

@testable import SecureTransport

@Suite("A proof that is asked for and not required", .timeLimit(.minutes(1)))
struct OfferedProofTests {
    typealias Version = TLSProfile.Version
    static let versions: [ClosedRange<Version>] = [.tls12 ... .tls12, .tls13 ... .tls13]

    private func pair(
        _ client: Identity = Identities.alice, _ versions: ClosedRange<Version> = .tls12 ... .tls13,
        clientProfile: TLSProfile? = nil
    ) throws -> EnginePair {
        var profile = TLSProfile.offered
        profile.versions = versions
        return try EnginePair(
            clientIdentity: client, serverIdentity: Identities.rsa, clientProfile: clientProfile ?? profile,
            serverProfile: .offered)
    }

    @Test("a client that shows a certificate is known by its key, whatever the version", arguments: versions)
    func known(versions: ClosedRange<Version>) throws {
        for identity in [Identities.alice, Identities.rsa] {
            let pair = try pair(identity, versions)
            pair.open()
            #expect(pair.server.peerID == identity.peerID)
            #expect(pair.server.peerID?.unprovenBy == nil)
            #expect(pair.server.certificateFingerprint == identity.certificateFingerprint)
            #expect(pair.client.peerID == Identities.rsa.peerID)
            #expect(pair.client.certificateFingerprint == Identities.rsa.certificateFingerprint)
            #expect(try pair.send([1, 2], from: pair.client, to: pair.server) == [1, 2])
        }
    }

    @Test("a client without a certificate is unknown, and another one on each connection", arguments: versions)
    func unknown(versions: ClosedRange<Version>) throws {
        let context = try clientWithoutCertificate(versions)
        var seen: Set<PeerID> = [Identities.alice.peerID]
        for _ in 0..<2 {
            let pair = try EnginePair(
                client: context, server: .make(role: .server, identity: Identities.rsa, profile: .offered))
            pair.open()
            let peerID = try #require(pair.server.peerID)
            #expect(peerID.unprovenBy == .keyless)
            #expect(seen.insert(peerID).inserted)
            #expect(pair.server.certificateFingerprint == nil)
            #expect(pair.client.peerID == Identities.rsa.peerID)
        }
    }

    @Test("a client shows its certificate although the server names another authority", arguments: versions)
    func authorities(versions: ClosedRange<Version>) throws {
        let server = try TLSContext.make(role: .server, identity: Identities.bob, profile: .offered)
        #expect(SSL_CTX_add_client_CA(server.handle, Identities.rsa.certificate) == 1)
        var profile = TLSProfile.offered
        profile.versions = versions
        let pair = try EnginePair(
            client: .make(role: .client, identity: Identities.alice, profile: profile), server: server)
        pair.open()
        #expect(pair.server.peerID == Identities.alice.peerID)
    }

    @Test("a certificate counts that has expired, is not valid yet, or was signed by an authority", arguments: versions)
    func onlyTheKeyCounts(versions: ClosedRange<Version>) throws {
        let expired = try changed(signer: Identities.alice) {
            ASN1_TIME_set_string_X509(X509_getm_notAfter($0), "20010101000000Z") == 1
        }
        let early = try changed(signer: Identities.alice) {
            ASN1_TIME_set_string_X509(X509_getm_notBefore($0), "99980101000000Z") == 1
        }
        let issued = try changed(signer: Identities.rsa) {
            X509_set_issuer_name($0, X509_get_subject_name(Identities.rsa.certificate)) == 1
        }
        for identity in [expired, early, issued] {
            let asClient = try pair(identity, versions)
            asClient.open()
            #expect(asClient.server.peerID == Identities.alice.peerID)
            #expect(asClient.server.certificateFingerprint == identity.certificateFingerprint)
            let asServer = try EnginePair(serverIdentity: identity, clientProfile: .offered, serverProfile: .offered)
            asServer.open()
            #expect(asServer.client.peerID == Identities.alice.peerID)
        }
        #expect(
            Set([expired, early, issued, Identities.alice].map(\.certificateFingerprint)).count == 4,
            "a fingerprint is of the whole certificate")
    }

    @Test("a second connection proves the key again: there are no tickets and no sessions", arguments: versions)
    func noResumption(versions: ClosedRange<Version>) throws {
        var profile = TLSProfile.offered
        profile.versions = versions
        let client = try TLSContext.make(role: .client, identity: Identities.alice, profile: profile)
        let server = try TLSContext.make(role: .server, identity: Identities.rsa, profile: .offered)
        var session: OpaquePointer?
        defer { SSL_SESSION_free(session) }
        for _ in 0..<2 {
            let pair = try EnginePair(client: client, server: server)
            if let session { SSL_set_session(pair.client.connection, session) }
            pair.open()
            _ = try pair.send([1], from: pair.server, to: pair.client)
            #expect(SSL_session_reused(pair.server.connection) == 0)
            #expect(pair.server.peerID == Identities.alice.peerID)
            if session == nil { session = SSL_get1_session(pair.client.connection) }
        }
    }

    // MARK: Pins

    @Test("a client with a pin reaches the server of that certificate", arguments: versions)
    func rightPin(versions: ClosedRange<Version>) async throws {
        var profile = TLSProfile.offered
        profile.versions = versions
        try await withListener(identity: Identities.rsa, profile: profile) { listener in
            let connection = try await dialer(profile: .offered).dial(
                [DialAddress(host: "127.0.0.1", port: listener.port)], expecting: [Identities.rsa.peerID],
                certificate: Identities.rsa.certificateFingerprint, configurePipeline: bytesPipeline)
            #expect(connection.certificateFingerprint == Identities.rsa.certificateFingerprint)
            #expect(try await connection.exchange([1]) == [1])
        }
    }

    @Test("a server of another certificate gets no byte and is not told the client's own", arguments: versions)
    func wrongPin(versions: ClosedRange<Version>) async throws {
        var profile = TLSProfile.offered
        profile.versions = versions
        // The same key in another certificate.
        let other = try changed(Identities.rsa, signer: Identities.rsa) {
            ASN1_TIME_set_string_X509(X509_getm_notAfter($0), "99981231235959Z") == 1
        }
        let served = Signal<Bool>()
        try await withListener(
            identity: Identities.rsa, profile: profile, onConnection: { _ in await served.fire(true) }
        ) { listener in
            for pin in [
                PeerPin(keys: [Identities.bob.peerID]), PeerPin(certificate: other.certificateFingerprint),
                PeerPin(keys: [Identities.rsa.peerID], certificate: other.certificateFingerprint),
            ] {
                let isConfigured = NIOLockedValueBox(false)
                await #expect {
                    _ = try await dialer(profile: .offered).dial(
                        [DialAddress(host: "127.0.0.1", port: listener.port)], expecting: pin.keys,
                        certificate: pin.certificate
                    ) { channel, peerID in
                        isConfigured.withLockedValue { $0 = true }
                        return try bytesPipeline(channel, peerID)
                    }
                } throws: {
                    ($0 as? DialError)?.kind == .wrongKey
                }
                #expect(isConfigured.withLockedValue { $0 } == false, "the layer above could have sent something")
            }
        }
        await served.fire(false)
        #expect(await served.wait() == false)
    }

    @Test(
        "TLS 1.2 is refused without forward secrecy and authenticated encryption, by every profile that speaks it",
        arguments: [TLSProfile.offered, .airdrop],
        [
            "AES128-SHA", "AES256-GCM-SHA384", "ECDHE-RSA-AES128-SHA", "ECDHE-RSA-AES256-SHA384",
            "DHE-RSA-AES128-GCM-SHA256",
        ])
    func ciphers(profile: TLSProfile, cipher: String) throws {
        var older = profile
        older.versions = .tls12 ... .tls12
        let client = try TLSContext.make(role: .client, identity: Identities.rsa, profile: older)
        #expect(SSL_CTX_set_cipher_list(client.handle, cipher) == 1)
        let pair = try EnginePair(
            client: client, server: .make(role: .server, identity: Identities.rsa, profile: profile))
        let (_, server) = pair.shakeHands()
        #expect(throws: TLSError.self) { try server.get() }
    }

    // MARK: Parts

    /// An identity of the key of `identity`, whose certificate is changed and then signed by `signer`.
    private func changed(
        _ identity: Identity = Identities.alice, signer: Identity, _ change: (OpaquePointer) -> Bool
    ) throws -> Identity {
        let certificate = try #require(Identity.makeSelfSignedCertificate(of: identity.key))
        #expect(change(certificate))
        #expect(X509_sign(certificate, signer.key, EVP_sha256()) > 0)
        EVP_PKEY_up_ref(identity.key)
        return try #require(Identity(owningKey: identity.key, certificate: certificate))
    }

    /// The contexts of clients that answer the request with an empty list.
    private func clientWithoutCertificate(_ versions: ClosedRange<Version>) throws -> TLSContext {
        var profile = TLSProfile.offered
        profile.versions = versions
        let context = try TLSContext.make(role: .client, identity: Identities.alice, profile: profile)
        let clear: @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?) -> Int32 = { connection, _ in
            SSL_certs_clear(connection)
            return 1
        }
        SSL_CTX_set_cert_cb(context.handle, clear, nil)
        return context
    }
}
