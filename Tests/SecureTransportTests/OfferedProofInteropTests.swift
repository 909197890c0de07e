import Foundation
import NIOCore
import Sharing
import TestSupport
import Testing

@testable import SecureTransport

/// Against programs that others wrote: peers with all kinds of certificates, and with none.
@Suite("A proof that is asked for and not required, with foreign programs", .timeLimit(.minutes(1)))
struct OfferedProofInteropTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// The options of `openssl req` for a key, and whether a peer is known by it.
    private static let keys = [
        ("rsa:2048", true), ("rsa:3072", true), ("ec -pkeyopt ec_paramgen_curve:P-256", true),
        ("ec -pkeyopt ec_paramgen_curve:P-384", true), ("ed25519", true), ("rsa:1024", false),
    ]

    @Test("a client of OpenSSL is known by its key if that is strong enough, and served in any case", arguments: keys)
    func kinds(key: String, isKnown: Bool) async throws {
        let file = folder.path + "/peer.pem"
        _ = try shell("openssl req -x509 -newkey \(key) -noenc -subj /CN=peer -days 1 -keyout \(file) -out \(file).crt")
        let printed = try shell(
            "openssl x509 -in \(file).crt -outform der | openssl dgst -sha256 -r;"
                + "openssl x509 -in \(file).crt -noout -pubkey | openssl pkey -pubin -outform der | openssl dgst -sha256 -r"
        )
        let digests = printed.split(separator: "\n").map { String($0.prefix(64)) }
        for version in ["-tls1_2", "-tls1_3"] {
            let (peer, answer) = try await visit(
                "\(version) -cert \(file).crt -key \(file) -cipher DEFAULT:@SECLEVEL=0")
            #expect(answer == "hello\n")
            #expect(peer.certificate?.text == (isKnown ? digests.first?.uppercased() : nil))
            #expect(peer.certificate == (isKnown ? CertificateFingerprint(text: try #require(digests.first)) : nil))
            let hex = peer.id.bytes.map { String(format: "%02x", $0) }.joined()
            #expect((hex == digests.last) == isKnown)
            #expect((peer.id.unprovenBy == .keyless) == !isKnown)
        }
    }

    @Test("a client of OpenSSL without a certificate is served as an unknown peer", arguments: ["-tls1_2", "-tls1_3"])
    func without(version: String) async throws {
        let (peer, answer) = try await visit(version)
        #expect(answer == "hello\n")
        #expect(peer.certificate == nil)
        #expect(peer.id.unprovenBy == .keyless)
    }

    @Test("a client that offers application protocols, or none, is served without one")
    func protocols() async throws {
        for option in ["-alpn h2,http/1.1", "-alpn http/1.1", ""] {
            #expect(try await visit(option).answer == "hello\n")
        }
    }

    @Test("a leaf that comes with its authority is known by the leaf's key")
    func chain() async throws {
        let path = folder.path
        _ = try shell(
            """
            cd \(path) && openssl req -x509 -newkey rsa:2048 -noenc -subj /CN=authority -days 1 -keyout ca.key -out ca.crt
            openssl req -newkey rsa:2048 -noenc -subj /CN=leaf -keyout leaf.key -out leaf.csr
            openssl x509 -req -in leaf.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 1 -out leaf.crt
            """)
        let (peer, answer) = try await visit(
            "-cert \(path)/leaf.crt -key \(path)/leaf.key -cert_chain \(path)/ca.crt -CAfile \(path)/ca.crt")
        #expect(answer == "hello\n")
        let digest = try shell("openssl x509 -in \(path)/leaf.crt -outform der | openssl dgst -sha256 -r")
        #expect(peer.certificate == CertificateFingerprint(text: String(digest.prefix(64))))
    }

    @Test("a server of OpenSSL that requires a certificate gets ours", arguments: ["-tls1_2", "-tls1_3"])
    func server(version: String) async throws {
        let path = folder.path + "/server.pem"
        _ = try shell(
            "openssl req -x509 -newkey rsa:2048 -noenc -subj /CN=server -days 1 -keyout \(path) -out \(path).crt")
        let port = try await deadPort()
        // It names itself as the only acceptable authority, and answers each line reversed.
        async let output = shellBeside(
            "timeout 20 openssl s_server -accept 127.0.0.1:\(port) -naccept 1 -rev -Verify 1 -CAfile \(path).crt "
                + "-cert \(path).crt -key \(path) \(version)", withErrors: true)
        let digest = try shell("openssl x509 -in \(path).crt -outform der | openssl dgst -sha256 -r")
        let pin = try #require(CertificateFingerprint(text: String(digest.prefix(64))))
        let connection = try await connect(port: port, pin)
        #expect(connection.certificateFingerprint == pin)
        #expect(try await connection.exchange(Array("hello\n".utf8)) == Array("olleh\n".utf8))
        #expect(try await output.contains("CN = waft"))
    }

    /// Connects as soon as the port is open.
    private func connect(port: Int, _ pin: CertificateFingerprint) async throws -> SecureConnection<Bytes> {
        while true {
            do {
                return try await dialer(Identities.rsa, profile: .offered).dial(
                    [DialAddress(host: "127.0.0.1", port: port)], certificate: pin, configurePipeline: bytesPipeline)
            } catch let error as DialError where error.kind == .refused {
                await Task.yield()
            }
        }
    }

    private struct Peer {
        let id: PeerID
        let certificate: CertificateFingerprint?
    }

    /// Lets `openssl s_client` say hello.
    private func visit(_ options: String) async throws -> (peer: Peer, answer: String) {
        let peer = Signal<Peer>()
        let answer = try await withListener(
            identity: Identities.rsa, profile: .offered,
            onConnection: { connection in
                await peer.fire(Peer(id: connection.peerID, certificate: connection.certificateFingerprint))
                try? await connection.output.executeThenClose { inbound, outbound in
                    for try await buffer in inbound { return try await outbound.write(buffer) }
                }
            }
        ) { listener in
            try await shellBeside(
                "openssl s_client -connect 127.0.0.1:\(listener.port) -quiet \(options)", input: "hello\n")
        }
        // Without a connection the wait would not end.
        try #require(answer == "hello\n")
        return (await peer.wait(), answer)
    }
}
