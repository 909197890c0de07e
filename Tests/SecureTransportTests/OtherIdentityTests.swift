import NIOCore
import Sharing
import Testing

@testable import SecureTransport

@Suite("Another identity of a listener")
struct OtherIdentityTests {
    private static let question = "question/1"

    private func profile(_ identity: Identity) -> TLSProfile {
        var profile = TLSProfile.waft
        profile.applicationProtocols.append(Self.question)
        profile.otherIdentity = .init(for: Self.question) { identity }
        return profile
    }

    @Test("is shown to a client that offers its protocol alone, and the own one to every other client")
    func shown() async throws {
        let other = try Identity.make()
        let protocols = TLSProfile.waft.applicationProtocols
        let seen = Signal<String?>()
        try await withListener(
            profile: profile(other),
            onConnection: { connection in
                await seen.fire(connection.applicationProtocol)
            }
        ) { listener in
            func key(_ offered: [String]) async throws -> PeerID {
                let dialer = try dialer(profile: TLSProfile(applicationProtocols: offered))
                return try await dialer.dial(port: listener.port).peerID
            }
            var keys: [PeerID] = []
            for offered in [[Self.question], protocols, protocols + [Self.question], [Self.question] + protocols] {
                keys.append(try await key(offered))
            }
            let own = Identities.bob.peerID
            #expect(keys == [other.peerID, own, own, own])
        }
        #expect(await seen.wait() == Self.question)
    }
}
