import NIOCore
import NIOPosix
import Sharing
import Testing

@testable import SecureTransport

/// TLS exporters (RFC 8446, section 7.5) as pairing uses them: 32 bytes for a label, with an empty context.
@Suite struct ExporterTests {
    private static let label = "EXPERIMENTAL Waft pairing 1"

    private func export(_ engine: TLSEngine, _ label: String = label) throws -> [UInt8] {
        try engine.exportKeyingMaterial(label: label, context: [], length: 32)
    }

    @Test("both ends export the same 32 bytes for a label, as often as they are asked and whatever was said")
    func bothEnds() throws {
        let pair = try EnginePair()
        pair.open()
        let secret = try export(pair.client)
        #expect(secret.count == 32)
        #expect(secret != [UInt8](repeating: 0, count: 32))
        _ = try pair.send(noise(100_000), from: pair.client, to: pair.server)
        #expect(try export(pair.client) == secret)
        #expect(try export(pair.server) == secret)
        #expect(try export(pair.server, Self.label + "0") != secret)
    }

    @Test("nothing is exported before the handshake is done, nor after it failed")
    func noHandshake() throws {
        let early = try EnginePair()
        #expect(throws: TLSError.self) { try export(early.client) }
        #expect(throws: TLSError.self) { try export(early.server) }
        let failed = try EnginePair(expectedPeers: [Identities.mallory.peerID])
        _ = failed.shakeHands()
        #expect(throws: TLSError.self) { try export(failed.client) }
    }

    @Test("two connections between the same peers export different secrets")
    func otherConnection() throws {
        var secrets: Set<[UInt8]> = []
        for _ in 0..<20 {
            let pair = try EnginePair()
            pair.open()
            secrets.insert(try export(pair.client))
        }
        #expect(secrets.count == 20)
    }

    @Test("an attacker in between with its own key has a different secret on each side")
    func between() throws {
        let toAlice = try EnginePair(clientIdentity: Identities.alice, serverIdentity: Identities.mallory)
        let toBob = try EnginePair(clientIdentity: Identities.mallory, serverIdentity: Identities.bob)
        toAlice.open()
        toBob.open()
        #expect(try export(toAlice.client) == export(toAlice.server))
        #expect(try export(toBob.client) == export(toBob.server))
        #expect(try export(toAlice.client) != export(toBob.server))
    }

    @Test("the openssl program exports the same")
    func interop() async throws {
        let folder = try TemporaryFolder()
        _ = try Identity.load(orMakeIn: folder.path)
        let secret = Signal<[UInt8]>()
        let session = try await withListener(onConnection: { connection in
            let exported = try? await connection.exportKeyingMaterial(label: Self.label, context: [], length: 32)
            await secret.fire(exported ?? [])
            await echoOnce(connection)
        }) { listener in
            let identity = "-cert \(folder.path)/identity.pem -key \(folder.path)/identity.pem"
            return try await shellBeside(
                "openssl s_client -connect 127.0.0.1:\(listener.port) -ign_eof -alpn waft/1 \(identity)"
                    + " -keymatexport '\(Self.label)' -keymatexportlen 32",
                input: "hello\n")
        }
        let hexadecimal = await secret.wait().map { byte in
            let digits = String(byte, radix: 16, uppercase: true)
            return byte < 16 ? "0" + digits : digits
        }
        #expect(hexadecimal.count == 32)
        #expect(session.contains("Keying material: " + hexadecimal.joined()))
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
