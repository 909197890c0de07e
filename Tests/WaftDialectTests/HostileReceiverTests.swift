import Digests
import Executors
import HTTPChannel
import NIOCore
import NIOHTTP1
import SecureTransport
import Sharing
import TestSupport
import Testing

@testable import WaftDialect

@Suite("A receiver that does not keep to the protocol", .timeLimit(.minutes(1)))
struct HostileReceiverTests {
    /// Calls `body` with a client of a server that answers each request with the next of `answers`, and then closes. An
    /// answer 200 to contents comes after them, as the text of a receipt.
    private func against(
        _ answers: [(status: HTTPResponseStatus, body: String)],
        _ body: @Sendable (WaftClient) async throws -> Void
    ) async throws {
        let listener = try await SecureLoopback.listen()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await listener.run { channel, _ in
                    try HTTPServer.configure(channel)
                } onConnection: { connection in
                    let asked = Recorder<Void>()
                    await HTTPServer.serve(connection.output, idle: .seconds(60), silence: .seconds(60)) { exchange in
                        while try await exchange.nextBytes() != nil {}
                        asked.record(())
                        let answer = answers[min(asked.count, answers.count) - 1]
                        guard exchange.asks(for: WaftDialect.contentsProtocol), answer.status == .ok else {
                            return try await exchange.respond(answer.status, body: ByteBuffer(string: answer.body))
                        }
                        var frames = ByteBuffer()
                        if !answer.body.isEmpty { frames.writeDataFrame(ByteBuffer(string: answer.body)) }
                        frames.writeFrame(.end)
                        try await reply(with: frames, to: exchange)
                    }
                }
            }
            try await SecureLoopback.http(listener.port) { try await body(WaftClient($0)) }
            group.cancelAll()
        }
    }

    /// Reads contents to their end, and sends these bytes.
    private func reply(with frames: ByteBuffer, to exchange: HTTPExchange) async throws {
        let stream = try await exchange.switchProtocols(to: WaftDialect.contentsProtocol)
        await BackgroundThread.run("waft-test") {
            var frames = frames
            _ = ReplyText.read(from: stream)
            _ = try? stream.send(&frames, within: PeerTimeout(.seconds(60)), isListening: false)
            stream.close(lingering: .seconds(60))
        }
    }

    @Test(
        "a verdict that is none is a violation of the protocol",
        arguments: [
            (.ok, ""), (.ok, "nonsense"), (.ok, "{}"), (.ok, #"{"v":1,"digest":"md5","default":"accepted"}"#),
            (.ok, #"{"v":1,"digest":"xxh3-128","default":"accepted"}\#n{"item":1,"answer":"declined"}"#),
            (.created, #"{"v":1,"digest":"xxh3-128","default":"accepted"}"#), (.temporaryRedirect, ""), (.notFound, ""),
            (.internalServerError, "<html>"), (.imATeapot, "{}"),
            (.unauthorized, String(repeating: "[", count: 500_000)),
        ] as [(HTTPResponseStatus, String)])
    func verdicts(status: HTTPResponseStatus, body: String) async throws {
        try await against([(status, body)]) { client in
            let fault = await #expect(throws: TransferError.self) {
                _ = try await client.offer(.sample(), timeout: .seconds(60))
            }
            #expect(fault?.code == .protocolViolation)
        }
    }

    @Test("a fault is passed on by its code, its message cut to a line's length")
    func faults() async throws {
        let message = String(repeating: "x", count: 5_000)
        try await against([(.serviceUnavailable, #"{"v":1,"fault":"stopping","message":"\#(message)"}"#)]) { client in
            let fault = await #expect(throws: TransferError.self) {
                _ = try await client.offer(.sample(), timeout: .seconds(60))
            }
            #expect(fault == TransferError(.stopping, String(repeating: "x", count: 1_024)))
        }
    }

    @Test(
        "a receipt that is none is a violation, and nothing counts as stored",
        arguments: [
            "", "{}", #"{"v":1,"transfer":"00000000000000000000000000000000"}"#,
            #"{"v":1,"transfer":"TRANSFER"}"#,
            #"{"v":1,"transfer":"TRANSFER"}\#n{"state":"stored"}"#,
        ])
    func receipts(text: String) async throws {
        let sources = [MemorySource.text("hello")]
        let offer = Offer(of: sources)
        let text = text.replacing("TRANSFER", with: offer.transfer.text)
        try await against([(.ok, #"{"v":1,"digest":"xxh3-128","default":"accepted"}"#), (.ok, text)]) { client in
            let verdict = try await client.offer(offer, timeout: .seconds(60))
            let fault = await #expect(throws: TransferError.self) {
                _ = try await client.send(
                    offer, sources, verdict: verdict, timeout: .seconds(60), cancellation: Cancellation(),
                    progressed: { _, _ in })
            }
            #expect(fault?.code == .protocolViolation)
        }
    }

    @Test("a receipt that says nothing of an item is no receipt for it")
    func notMentioned() async throws {
        let sources = [MemorySource.text("hello")]
        let offer = Offer(of: sources)
        let receipt = #"{"v":1,"transfer":"\#(offer.transfer)"}\#n{"state":"notSent"}"#
        try await against([(.ok, #"{"v":1,"digest":"xxh3-128","default":"accepted"}"#), (.ok, receipt)]) { client in
            let verdict = try await client.offer(offer, timeout: .seconds(60))
            let outcome = try await client.send(
                offer, sources, verdict: verdict, timeout: .seconds(60), cancellation: Cancellation(),
                progressed: { _, _ in })
            #expect(outcome.items.map(\.word) == ["lost: unexpected"])
        }
    }

    @Test("a declined item with a receipt as stored counts as declined")
    func liar() async throws {
        let sources = [MemorySource.text("hello")]
        let offer = Offer(of: sources)
        let digest = Digest.of(.xxh3_128, Array("hello".utf8))
        let receipt =
            #"{"v":1,"transfer":"\#(offer.transfer)"}\#n{"state":"stored","name":"n","size":5,"digest":"\#(digest)"}"#
        try await against([(.ok, #"{"v":1,"digest":"xxh3-128","default":"declined"}"#), (.ok, receipt)]) { client in
            let verdict = try await client.offer(offer, timeout: .seconds(60))
            let outcome = try await client.send(
                offer, sources, verdict: verdict, timeout: .seconds(60), cancellation: Cancellation(),
                progressed: { _, _ in })
            #expect(outcome.items.map(\.word) == ["declined"])
        }
    }

    @Test("a card of nonsense is a violation")
    func card() async throws {
        try await against([(.ok, #"{"v":1,"name":7}"#)]) { client in
            let fault = await #expect(throws: TransferError.self) { _ = try await client.card(timeout: .seconds(60)) }
            #expect(fault?.code == .protocolViolation)
        }
    }
}
