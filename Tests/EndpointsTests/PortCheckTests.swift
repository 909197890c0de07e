import Settings
import Testing

@testable import Endpoints

@Suite("A port of the settings is checked before they are used", .timeLimit(.minutes(1)))
struct PortCheckTests {
    @Test("another port that is taken is refused; the port in use is not, even while it is being opened")
    func ports() async throws {
        try await ScriptedReceiver.run { _, _, _ in
        } _: { receiver in
            var settings = Settings(hostName: "study")
            settings.port = UInt16(receiver.port)
            await #expect(throws: (any Error).self) {
                try await receiver.endpoint.check(settings, listeningOn: 1)
            }
            try await receiver.endpoint.check(settings, listeningOn: receiver.port)
            receiver.endpoint.settings.use(settings)
            // Two readings of the settings come close together: the listener of the first is not reported yet.
            try await receiver.endpoint.check(settings, listeningOn: 1)
        }
    }
}
