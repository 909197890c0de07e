import Digests
import HTTPChannel
import NIOHTTP1
import Sharing
import TestSupport
import Testing

@testable import Endpoints

@Suite("A receiver that is busy is tried again", .timeLimit(.minutes(1)))
struct BusyReceiverTests {
    private static func stored(_ text: String) -> String {
        let digest = Digest.of(.xxh3_128, Array(text.utf8))
        return #"{"state":"stored","name":"text.txt","size":\#(text.utf8.count),"digest":"\#(digest)"}"#
    }

    /// A receiver that refuses the first `count` offers, and accepts the next.
    private func run(
        turningAway count: Int, closing: Int = 0,
        by answer: @escaping @Sendable (HTTPExchange) async throws -> Void = { exchange in
            try await exchange.answerOffer("busy", reason: "too many items are under way")
        },
        _ body: @Sendable (ScriptedReceiver) async throws -> Void
    ) async throws {
        try await ScriptedReceiver.run(
            closing: closing,
            { resource, number, exchange in
                switch resource {
                case "card": try await exchange.answerCard()
                case "offers" where number <= count: try await answer(exchange)
                case "offers": try await exchange.answerOffer("accepted")
                default:
                    try await exchange.answerReceipt(Self.stored("hello"))
                }
            }, body)
    }

    private func expectStored(_ report: SendReport) {
        guard case .acknowledged(let receipt, _) = report.items[0] else {
            Issue.record("\(report.items[0])")
            return
        }
        #expect(receipt.isStored)
    }

    @Test("a verdict busy is none: it is offered again until it is taken, and told once that it is busy")
    func verdict() async throws {
        try await run(turningAway: 2) { receiver in
            let events = Recorder<SendEvent>()
            expectStored(try await receiver.send(SendOptions(), [.text("hello")], events))
            var words: [String] = []
            for event in events.all {
                switch event {
                case .connected: words.append("connected")
                case .offered: words.append("offered")
                case .answered(let verdict): words.append("answered \(verdict.items[0].answer)")
                case .busy(let reason, _): words.append("busy: \(reason)")
                case .resuming: words.append("resuming")
                case .remarked, .progressed, .settled, .handling: continue
                }
            }
            #expect(
                words == ["connected", "offered", "busy: too many items are under way", "answered accepted"])
        }
    }

    @Test("503 is busy, with a fault and without, and so is a connection that is closed right after the handshake")
    func others() async throws {
        for text in [#"{"v":1,"fault":"stopping","message":"later"}"#, "full", #"{"v":1,"fault":"x","message":"y"}"#] {
            try await run(turningAway: 1) { exchange in
                try await exchange.answer(text, .serviceUnavailable)
            } _: { receiver in
                expectStored(try await receiver.send(SendOptions()))
            }
        }
        try await run(turningAway: 0, closing: 2) { receiver in
            expectStored(try await receiver.send(SendOptions()))
        }
    }

    @Test("a receiver that has no thread for the contents is offered them again")
    func contents() async throws {
        try await ScriptedReceiver.run { resource, number, exchange in
            switch resource {
            case "card": try await exchange.answerCard()
            case "offers": try await exchange.answerOffer("accepted")
            case "contents" where number == 1:
                try await exchange.answer(
                    #"{"v":1,"fault":"stopping","message":"too many transfers are under way"}"#, .serviceUnavailable)
            case "contents": try await exchange.answerReceipt(Self.stored("hello"))
            default: try await exchange.answer(#"{"v":1,"fault":"not-accepted","message":"none"}"#, .forbidden)
            }
        } _: { receiver in
            expectStored(try await receiver.send(SendOptions()))
            #expect(receiver.asked.all == ["card", "offers", "contents", "receipt", "offers", "contents"])
        }
    }

    @Test("when the time is up it is reported as busy, or as no answer")
    func timeIsUp() async throws {
        try await run(turningAway: .max) { receiver in
            var options = SendOptions()
            options.retryFor = .seconds(2)
            let report = try await receiver.send(options)
            guard case .notAccepted(let verdict) = report.items[0] else {
                Issue.record("\(report.items[0])")
                return
            }
            #expect(verdict.answer == .busy)
            #expect(receiver.asked.all.count { $0 == "offers" } > 1)
        }
        try await run(turningAway: 0, closing: .max) { receiver in
            var options = SendOptions()
            options.retryFor = .milliseconds(100)
            let failure = await receiver.failure(options)
            #expect(failure?.isNoAnswer == true, "\(String(describing: failure))")
            #expect(failure?.description.contains("as if it were full") == true)
        }
    }

    @Test("the outbox, which has its own pauses, learns it at once")
    func outbox() async throws {
        try await run(turningAway: .max) { receiver in
            var options = SendOptions()
            options.waitsForTurn = false
            let report = try await receiver.send(options)
            guard case .notAccepted(let verdict) = report.items[0] else {
                Issue.record("\(report.items[0])")
                return
            }
            #expect(verdict.answer == .busy)
            #expect(receiver.asked.all.count { $0 == "offers" } == 1)
        }
    }

    @Test("a peer that has declined a part is not asked again because another part was busy")
    func declinedPart() async throws {
        try await ScriptedReceiver.run { resource, _, exchange in
            switch resource {
            case "card": try await exchange.answerCard()
            default: try await exchange.answerOffer("busy", answers: #"{"item":1,"answer":"declined"}"#)
            }
        } _: { receiver in
            let report = try await receiver.send(SendOptions(), [.text("a"), .text("b")])
            #expect(report.items.count == 2)
            #expect(receiver.asked.all.count { $0 == "offers" } == 1)
        }
    }

    @Test("the busy part is offered again when the accepted items have arrived")
    func part() async throws {
        try await ScriptedReceiver.run { resource, number, exchange in
            switch resource {
            case "card": try await exchange.answerCard()
            case "offers" where number == 1:
                try await exchange.answerOffer("accepted", answers: #"{"item":1,"answer":"busy","reason":"later"}"#)
            case "offers": try await exchange.answerOffer("accepted")
            case "receipt": try await exchange.answerReceipt(Self.stored("hello"), #"{"state":"notSent"}"#)
            default:
                let second = number == 1 ? #"{"state":"notSent"}"# : Self.stored("other")
                try await exchange.answerReceipt(Self.stored("hello"), second)
            }
        } _: { receiver in
            let report = try await receiver.send(SendOptions(), [.text("hello"), .text("other")])
            let areStored = report.items.allSatisfy { item in
                if case .acknowledged(let receipt, _) = item { receipt.isStored } else { false }
            }
            #expect(areStored, "\(Array(report.items))")
            #expect(receiver.asked.all == ["card", "offers", "contents", "receipt", "offers", "contents"])
        }
    }
}
