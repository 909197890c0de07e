import Digests
import HTTPChannel
import NIOHTTP1
import Pairing
import SecureTransport
import Sharing
import TestSupport
import Testing
import WaftDialect

@testable import Endpoints

/// Receivers that send interim answers forever: the sender's own timeouts end each wait.
@Suite("A sender's waits have an end", .timeLimit(.minutes(1)))
struct SenderTimeoutTests {
    private static let short: Duration = .milliseconds(60)
    /// For waits of which some are for answers that come.
    private static let fair: Duration = .seconds(1)

    /// Standard timeouts, without time for retries; each test shortens its own.
    private static var options: SendOptions {
        var options = SendOptions()
        options.retryFor = .zero
        return options
    }

    private static let hello = Digest.of(.xxh3_128, Array("hello".utf8))

    private static func stored(handler: String = "none") -> String {
        #"{"state":"stored","name":"text.txt","size":5,"digest":"\#(hello)","handler":{"state":"\#(handler)"}}"#
    }

    /// A receiver that stalls at `stages`, and answers other requests properly.
    private func stalling(
        at stages: [String], _ body: @Sendable (ScriptedReceiver) async throws -> Void
    ) async throws {
        try await ScriptedReceiver.run(
            { resource, _, exchange in
                if stages.contains(resource) {
                    if resource == "contents" { return try await exchange.stallContents(reading: true) }
                    return await exchange.stall()
                }
                switch resource {
                case "card": try await exchange.answerCard()
                case "offers":
                    try await exchange.answerOffer("accepted", answers: #"{"item":0,"answer":"accepted","kept":true}"#)
                case "contents": try await exchange.answerReceipt(Self.stored(handler: "pending"))
                case "kept": try await exchange.answer("")
                default: try await exchange.answer(#"{"v":1,"fault":"not-accepted","message":"none"}"#, .forbidden)
                }
            }, body)
    }

    @Test("for the card, and for the answer to an offer: 15", arguments: ["card", "offers"])
    func beforeAcceptance(stage: String) async throws {
        try await stalling(at: [stage]) { receiver in
            var options = Self.options
            if stage == "card" { options.silence = Self.short } else { options.answer = Self.short }
            let failure = await receiver.failure(options)
            #expect(failure?.isNoAnswer == true, "\(String(describing: failure))")
        }
    }

    @Test(
        "for the list of kept items, and for the receipt after the last contents: 15",
        arguments: ["kept", "contents"])
    func afterAcceptance(stage: String) async throws {
        try await stalling(at: [stage]) { receiver in
            var options = Self.options
            options.stall = Self.fair
            let failure = await receiver.failure(options)
            #expect(failure?.isNoAnswer == true, "\(String(describing: failure))")
            #expect(failure?.description.contains("run the same command to resume") == true)
            // The sender always retries once: only the receipt may have been lost.
            #expect(receiver.asked.all.count { $0 == "offers" } == 2)
        }
    }

    @Test("for the receipt of an attempt before: 15")
    func earlierReceipt() async throws {
        try await stalling(at: ["contents", "receipt"]) { receiver in
            var options = Self.options
            (options.stall, options.silence) = (Self.fair, Self.fair)
            let failure = await receiver.failure(options)
            #expect(failure?.isNoAnswer == true, "\(String(describing: failure))")
            #expect(receiver.asked.all == ["card", "offers", "kept", "contents", "receipt"])
        }
    }

    @Test("for a piece of the contents that is not taken")
    func notTaken() async throws {
        try await ScriptedReceiver.run { resource, _, exchange in
            switch resource {
            case "card": try await exchange.answerCard()
            case "offers": try await exchange.answerOffer("accepted")
            case "contents": try await exchange.stallContents(reading: false)
            default: try await exchange.answer(#"{"v":1,"fault":"not-accepted","message":"none"}"#, .forbidden)
            }
        } _: { receiver in
            var options = Self.options
            options.stall = Self.short
            // More than the sockets hold. Without a known size, `Limits.work` adds nothing.
            let source = MemorySource.file("large", [UInt8](repeating: 7, count: 32 << 20), sizeIsKnown: false)
            let failure = await receiver.failure(options, [source])
            #expect(failure?.description.contains("cannot be read again") == true, "\(String(describing: failure))")
        }
    }

    @Test("for an answer in a pairing")
    func pairing() async throws {
        try await stalling(at: ["pairing"]) { receiver in
            let connection = try await receiver.endpoint.connect(to: receiver.target, within: .seconds(60))
            let fault = await #expect(throws: HTTPError.self) {
                _ = try await HTTPClient.run(connection.http) { http in
                    try await WaftClient(http).pair(
                        PairingLetter(message: []), timeout: .seconds(3_600), maximum: Self.short)
                }
            }
            #expect(fault == .silence)
        }
    }

    @Test("for the handlers: then it is stored, and its handler has not answered")
    func handlers() async throws {
        try await stalling(at: ["receipt"]) { receiver in
            var options = Self.options
            options.wait = .opened
            (options.stall, options.handlers) = (Self.fair, .zero)
            let report = try await receiver.send(options)
            guard case .acknowledged(let receipt, _) = report.items[0] else {
                Issue.record("\(report.items[0])")
                return
            }
            #expect(receipt.isStored && receipt.handler.state == .pending)
        }
    }
}
