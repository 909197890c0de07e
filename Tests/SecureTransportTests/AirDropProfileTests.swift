import NIOCore
import Sharing
import TestSupport
import Testing

@testable import SecureTransport

@Suite("TLS without proved keys")
struct AirDropProfileTests {
    private static func profile(_ versions: ClosedRange<TLSProfile.Version>) -> TLSProfile {
        var profile = TLSProfile.airdrop
        profile.versions = versions
        return profile
    }

    @Test(
        "both versions are spoken, and data goes both ways",
        arguments: [TLSProfile.Version.tls12 ... .tls12, .tls13 ... .tls13, .tls12 ... .tls13])
    func versions(_ versions: ClosedRange<TLSProfile.Version>) throws {
        let pair = try EnginePair(
            clientIdentity: Identities.rsa, serverIdentity: Identities.rsa, clientProfile: Self.profile(versions),
            serverProfile: .airdrop)
        pair.open()
        #expect(try pair.send([1, 2, 3], from: pair.client, to: pair.server) == [1, 2, 3])
        #expect(try pair.send([4], from: pair.server, to: pair.client) == [4])
    }

    @Test("the server's peer is unknown, and another one on each connection")
    func strangers() throws {
        var seen: Set<PeerID> = [Identities.alice.peerID, Identities.rsa.peerID]
        for _ in 0..<2 {
            let pair = try EnginePair(
                clientIdentity: Identities.alice, serverIdentity: Identities.rsa, clientProfile: .airdrop,
                serverProfile: .airdrop)
            pair.open()
            for peer in [pair.client.peerID, pair.server.peerID] { #expect(seen.insert(try #require(peer)).inserted) }
        }
    }

    @Test("a server is unknown to its client, whatever key it shows")
    func unprovenServers() throws {
        for identity in [Identities.bob, Identities.rsa] {
            let pair = try EnginePair(
                clientIdentity: Identities.alice, serverIdentity: identity, clientProfile: .airdrop,
                serverProfile: .airdrop)
            pair.open()
            #expect(pair.client.peerID?.unprovenBy == .keyless)
        }
    }

    @Test("a server that wants a key proved still wants it, whatever the client asks")
    func required() throws {
        let pair = try EnginePair(
            clientIdentity: Identities.rsa, serverIdentity: Identities.bob, clientProfile: .airdrop,
            serverProfile: .waft)
        let (_, server) = pair.shakeHands()
        #expect(throws: TLSError.self) { try server.get() }
    }
}
