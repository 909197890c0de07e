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
            let search = Task { await receiver.endpoint.search(feed, isWatched: false) }
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

    @Test("and is watched reports soon that a peer was killed, though its record lives on")
    func killed() async throws {
        let services = KnownServices(type: WaftDialect.serviceType)
        let (events, feed) = AsyncStream<PeerEvent>.makeStream()
        let searches = Recorder<Task<Void, Never>>()
        defer { searches.all.forEach { $0.cancel() } }
        try await ScriptedReceiver.run(finding: services) { _, _, exchange in
            try await exchange.answerCard()
        } _: { receiver in
            searches.record(Task { await receiver.endpoint.search(feed, isWatched: true) })
            try services.show("a", at: receiver.port)
            for await case .found in events { return }
        }
        for await case .gone in events { break }
    }
}
