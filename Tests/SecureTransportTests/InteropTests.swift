import NIOCore
import NIOPosix
import Sharing
import Testing

@testable import SecureTransport

/// Against the `openssl` program, which others wrote.
@Suite struct InteropTests {
    private let folder: TemporaryFolder
    private let identity: Identity

    init() throws {
        folder = try TemporaryFolder()
        identity = try Identity.load(orMakeIn: folder.path)
    }

    private func client(_ port: Int, _ options: String) -> String {
        "openssl s_client -connect 127.0.0.1:\(port) \(options) </dev/stdin"
    }

    private var withIdentity: String { "-cert \(folder.path)/identity.pem -key \(folder.path)/identity.pem" }

    @Test("a client of OpenSSL with an identity is served, and known by its key")
    func served() async throws {
        let peer = Signal<PeerID>()
        let answer = try await withListener(onConnection: { connection in
            await peer.fire(connection.peerID)
            await echoOnce(connection)
        }) { listener in
            try await shellBeside(client(listener.port, "-quiet -alpn waft/1 \(withIdentity)"), input: "hello\n")
        }
        #expect(answer == "hello\n")
        #expect(await peer.wait() == identity.peerID)
    }

    @Test("a client of OpenSSL without an identity gets an alert that it needs one")
    func withoutIdentity() async throws {
        try await expectRefusal("-alpn waft/1", "certificate required")
    }

    @Test("a client of OpenSSL without Waft's protocol gets an alert")
    func withoutProtocol() async throws {
        try await expectRefusal(withIdentity, "no application protocol")
        try await expectRefusal("-alpn http/1.1 \(withIdentity)", "no application protocol")
    }

    @Test("a client of OpenSSL that speaks TLS 1.2 gets an alert")
    func oldVersion() async throws {
        try await expectRefusal("-tls1_2 -alpn waft/1 \(withIdentity)", "alert protocol version")
    }

    @Test("no renegotiation, compression, resumption or ticket is offered")
    func nothingMore() async throws {
        let session = try await withListener(onConnection: echoOnce) { listener in
            try await shellBeside(client(listener.port, "-ign_eof -alpn waft/1 \(withIdentity)"), input: "hello\n")
        }
        #expect(session.contains("New, TLSv1.3, Cipher is TLS_"))
        #expect(session.contains("Compression: NONE"))
        #expect(session.contains("ALPN protocol: waft/1"))
        #expect(session.contains("Early data was not sent"))
        #expect(!session.contains("New Session Ticket"))
    }

    private func expectRefusal(_ options: String, _ reason: String) async throws {
        let served = Signal<Bool>()
        let output = try await withListener(onConnection: { connection in
            await served.fire(true)
            await echoOnce(connection)
        }) { listener in
            try await shellBeside(client(listener.port, "-ign_eof " + options), input: "hello\n", withErrors: true)
        }
        #expect(output.contains(reason), "\(output)")
        await served.fire(false)
        #expect(await served.wait() == false)
    }
}

/// Answers the first thing that comes with itself, and closes.
@Sendable private func echoOnce(_ connection: SecureConnection<Bytes>) async {
    try? await connection.output.executeThenClose { inbound, outbound in
        for try await buffer in inbound {
            try await outbound.write(buffer)
            break
        }
    }
}
