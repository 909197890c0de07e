import Discovery
import NIOHTTP1
import Sharing
import TestSupport
import Testing
import WaftDialect

@testable import Endpoints

@Suite("A search that stays open", .timeLimit(.minutes(1)))
struct WaftSearchTests {
    @Test("asks a peer again that refuses its name or changes it, though its record stays as it is")
    func repeated() async throws {
        let services = KnownServices(type: WaftDialect.serviceType)
        try await ScriptedReceiver.run(
            finding: services,
            { _, number, exchange in
                switch number {
                case 1, 2:
                    try await exchange.answer(#"{"v":1,"fault":"not-accepted","message":"no card"}"#, .forbidden)
                case 3...5: try await exchange.answerCard()
                default: try await exchange.answer(#"{"v":1,"name":"larder"}"#)
                }
            }
        ) { receiver in
            let (events, feed) = AsyncStream<PeerEvent>.makeStream()
            let search = Task { await receiver.endpoint.search(feed) }
            defer { search.cancel() }
            try services.show("a", at: receiver.port)
            var names: [String?] = []
            for await case .found(let peer) in events {
                names.append(peer.card?.name)
                if names.count == 3 { break }
            }
            #expect(names == [nil, "kitchen", "larder"])
        }
    }
}
