import Digests
import HTTPChannel
import NIOCore
import Sharing
import TestSupport
import Testing
import UniformTypes

@testable import WaftDialect

private let hello = Array("hello".utf8)

@Suite("A transfer from end to end", .timeLimit(.minutes(1)))
struct TransferTests {
    @Test("a file is stored, and both sides know it by the same digest")
    func oneFile() async throws {
        let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let progress = Recorder<UInt64>()
        try await WaftLoopback.run { loopback in
            let outcome = try await loopback.send([.file("data.bin", bytes)]) { progress.record($0) }
            let digest = Digest.of(.xxh3_128, bytes)
            guard case .acknowledged(let receipt, let ours) = outcome.items[0] else {
                Issue.record("it was not acknowledged: \(outcome.items[0])")
                return
            }
            #expect(receipt.outcome == .stored(name: "data.bin", size: 3_000_000, digest: digest))
            #expect(ours == SentContents(digest: digest, size: 3_000_000))
            #expect(loopback.inbox["data.bin"]?.bytes == bytes)
            #expect(loopback.inbox.stagedCount == 0)
        }
        #expect(progress.all == progress.all.sorted() && progress.all.last == 3_000_000)
    }

    @Test("an empty file, a text, a URL, and contents from a pipe are stored")
    func kinds() async throws {
        let piped = Array(repeating: UInt8(9), count: 1_000_000)
        try await WaftLoopback.run { loopback in
            let outcome = try await loopback.send([
                .file("empty", []), .text("hello"), .file("u.url", hello, kind: .url, type: "public.url"),
                .file("pipe", piped, sizeIsKnown: false),
            ])
            #expect(outcome.items.map(\.word) == ["stored", "stored", "stored", "stored"])
            #expect(loopback.inbox.stored.map(\.bytes) == [[], hello, hello, piped])
        }
    }

    @Test("a tree arrives as it was: folders, empty ones too, files, the executable bit, times, links")
    func tree() async throws {
        let time = Timestamp(seconds: 1_700_000_000, nanoseconds: 999_999_999)
        let source = MemorySource.tree(
            "project",
            [
                .file(".hidden", hello),
                .folder(
                    "src", [.file("run", [1], executable: true, modified: time), .folder("empty", [], modified: time)]),
                .link("latest", to: "src/run"), .folder("deep", [.folder("er", [.link("up", to: "../../.hidden")])]),
            ],
            modified: time)
        try await WaftLoopback.run { loopback in
            let outcome = try await loopback.send([source])
            #expect(outcome.items.map(\.word) == ["stored"])
            #expect(
                loopback.inbox["project"]?.entries == [
                    "": .folder(modified: time), ".hidden": .file(hello, executable: false, modified: nil),
                    "src": .folder(modified: nil), "src/run": .file([1], executable: true, modified: time),
                    "src/empty": .folder(modified: time), "latest": .link(target: "src/run"),
                    "deep": .folder(modified: nil),
                    "deep/er": .folder(modified: nil), "deep/er/up": .link(target: "../../.hidden"),
                ])
        }
    }

    @Test("two thousand small items and a tree of two thousand small files")
    func manySmall() async throws {
        let items = (0..<2_000).map { MemorySource.file("file-\($0)", Array("contents \($0)".utf8)) }
        let nodes = (0..<2_000).map { MemorySource.Node.file("file-\($0)", Array("contents \($0)".utf8)) }
        try await WaftLoopback.run { loopback in
            let outcome = try await loopback.send(items + [.tree("tree", nodes)])
            #expect(outcome.items.allSatisfy { $0.word == "stored" })
            #expect(loopback.inbox.stored.count == 2_001)
            for number in [0, 1, 511, 512, 1_999] {
                let bytes = Array("contents \(number)".utf8)
                #expect(loopback.inbox["file-\(number)"]?.bytes == bytes)
                #expect(loopback.inbox["tree"]?.entries["file-\(number)"]?.bytes == bytes)
            }
        }
    }

    @Test("small reads make many frames and the same file")
    func smallReads() async throws {
        let source = MemorySource.file("a", Array(repeating: 5, count: 100_000), readSize: 7)
        try await WaftLoopback.run { loopback in
            let outcome = try await loopback.send([source])
            #expect(outcome.items.map(\.word) == ["stored"])
        }
    }

    @Test("the digest is the sender's first choice")
    func sha256() async throws {
        let sources = [MemorySource.text("hello"), .tree("t", [.file("f", hello)])]
        var offer = Offer(of: sources)
        offer.digests = [.sha256]
        try await WaftLoopback.run { [offer] loopback in
            let outcome = try await loopback.send(sources, offer: offer)
            guard case .acknowledged(let receipt, _) = outcome.items[0] else {
                Issue.record("it was not acknowledged: \(outcome.items[0])")
                return
            }
            #expect(receipt.outcome == .stored(name: "text.txt", size: 5, digest: .of(.sha256, hello)))
            #expect(outcome.items[1].word == "stored")
        }
    }

    @Test("of items with different verdicts the accepted ones are stored, and the others not even opened")
    func mixedVerdicts() async throws {
        let sources = (0..<5).map { MemorySource.file("file-\($0)", hello) }
        let verdicts = [
            ItemVerdict(.declined, reason: "not this one"), .accepted, ItemVerdict(.ineligible), .accepted,
            ItemVerdict(.noRoom),
        ]
        try await WaftLoopback.run(.items(verdicts)) { loopback in
            let outcome = try await loopback.send(sources)
            #expect(outcome.items.map(\.word) == ["declined", "stored", "ineligible", "stored", "noRoom"])
            guard case .notAccepted(let verdict) = outcome.items[0] else { return }
            #expect(verdict.reason == "not this one")
            #expect(loopback.inbox.names == ["file-1", "file-3"])
        }
        #expect(sources.map(\.openedCount) == [0, 1, 0, 1, 0])
    }

    @Test("a declined offer leaves nothing, and the connection can be used for another")
    func declined() async throws {
        try await WaftLoopback.run(.decline) { loopback in
            try await loopback.client { client in
                for _ in 0..<3 {
                    let verdict = try await client.offer(.sample(items: 2), timeout: .seconds(60))
                    #expect(verdict.items == Array(repeating: ItemVerdict(.declined, reason: "no"), count: 2))
                }
            }
            #expect(loopback.inbox.everStagedCount == 0)
        }
    }

    @Test("an offer without an answer expires")
    func expired() async throws {
        try await WaftLoopback.run(.never, consentWait: .zero) { loopback in
            let verdict = try await loopback.offer(.sample())
            #expect(verdict.items.map(\.answer) == [.expired])
        }
    }

    @Test("a sender that leaves while it waits for the verdict withdraws its offer")
    func withdrawn() async throws {
        try await WaftLoopback.run(.never) { loopback in
            let offer = Offer.sample()
            let task = Task { try await loopback.offer(offer) }
            try await loopback.consent.asked.first()
            task.cancel()
            try await loopback.consent.withdrawn.first { $0 == offer.transfer }
            await #expect(throws: (any Error).self) { try await task.value }
        }
    }

    @Test("an offer expires when the time of its sender is up, and the sender hears it")
    func senderWait() async throws {
        try await WaftLoopback.run(.never) { loopback in
            try await loopback.client { client in
                let verdict = try await client.offer(.sample(), timeout: .milliseconds(1))
                #expect(verdict.items.map(\.cause) == [.timeout])
            }
        }
    }

    @Test("many offers go over one connection, and the contents of each over another")
    func connections() async throws {
        try await WaftLoopback.run { loopback in
            try await loopback.client { client in
                for number in 0..<20 {
                    let sources = [MemorySource.file("file-\(number)", hello)]
                    let offer = Offer(of: sources)
                    let verdict = try await client.offer(offer, timeout: .seconds(60))
                    let outcome = try await loopback.client { other in
                        try await other.send(
                            offer, sources, verdict: verdict, timeout: .seconds(60), cancellation: Cancellation(),
                            progressed: { _, _ in })
                    }
                    #expect(outcome.items.map(\.word) == ["stored"])
                }
            }
            #expect(loopback.inbox.names.count == 20)
        }
    }

    @Test("the receipt says what the handlers have said, and waits for them when asked to")
    func receipts() async throws {
        let yes = HandlerAnswer(.yes, exitCode: 0)
        try await WaftLoopback.run(delivery: .later) { loopback in
            let sources = [MemorySource.file("a", hello), .file("b", hello)]
            let offer = Offer(of: sources)
            _ = try await loopback.send(sources, offer: offer)
            try await loopback.delivery.arrivals.element(2)
            try await loopback.client { client in
                let now = try await client.receipt(of: offer, answered: false, timeout: .seconds(60))
                #expect(now.items.map(\.handler.state) == [.pending, .pending])
                loopback.delivery.answer(item: 1, yes)
                async let waiting = loopback.client { client in
                    try await client.receipt(of: offer, answered: true, timeout: .seconds(60))
                }
                loopback.delivery.answer(item: 0, HandlerAnswer(.no, exitCode: 1))
                #expect(try await waiting.items.map(\.handler) == [HandlerAnswer(.no, exitCode: 1), yes])
            }
        }
    }

    @Test("the handler gets the sender's facts")
    func arrival() async throws {
        try await WaftLoopback.run(delivery: .answering(HandlerAnswer(.yes))) { loopback in
            let sources = [MemorySource.text("hello")]
            let offer = Offer(of: sources, annotation: ["note": "hi"])
            _ = try await loopback.send(sources, offer: offer)
            let arrival = try await loopback.delivery.arrivals.first()
            #expect(
                (arrival.peer, arrival.senderName, arrival.annotation) == (WaftLoopback.peer, "a test", ["note": "hi"]))
            #expect((arrival.transfer, arrival.size, arrival.item) == (offer.transfer, 5, offer.items[0]))
        }
    }

    @Test("a receipt of another peer's transfer, or of none, is refused")
    func foreignReceipts() async throws {
        try await WaftLoopback.run { loopback in
            let sources = [MemorySource.text("hello")]
            let offer = Offer(of: sources)
            _ = try await loopback.send(sources, offer: offer)
            for (peer, offer) in [(WaftLoopback.other, offer), (WaftLoopback.peer, Offer.sample())] {
                let fault = await #expect(throws: TransferError.self) {
                    try await loopback.client(as: peer) {
                        try await $0.receipt(of: offer, answered: true, timeout: .seconds(60))
                    }
                }
                #expect(fault?.code == .notAccepted)
            }
        }
    }

    @Test("the card is shown to peers that may see it")
    func card() async throws {
        try await WaftLoopback.run { loopback in
            let card = try await loopback.client { try await $0.card(timeout: .seconds(60)) }
            #expect(card == Card(name: "kitchen", device: "server"))
        }
        try await WaftLoopback.run(card: nil) { loopback in
            let fault = await #expect(throws: TransferError.self) {
                try await loopback.client { try await $0.card(timeout: .seconds(60)) }
            }
            #expect(fault?.code == .notAccepted)
        }
    }
}

@Suite("A transfer that goes wrong", .timeLimit(.minutes(1)))
struct FailingTransferTests {
    /// More than all buffers between the two sides hold, so that the sender is surely still at it.
    private static let large = Array(repeating: UInt8(7), count: 48 << 20)

    @Test("a disk that fills up in the middle of a file is reported to the sender while it sends")
    func noRoom() async throws {
        try await WaftLoopback.run(inbox: .fullAfter(1 << 20)) { loopback in
            let outcome = try await loopback.send([
                .file("small", hello), .file("large", Self.large), .file("last", hello),
            ])
            #expect(outcome.items.map(\.word) == ["stored", "failed: noRoom", "lost: noRoom"])
            #expect(loopback.inbox.names == ["small"])
            #expect(loopback.inbox.stagedCount == 0)
        }
    }

    @Test("an item that cannot be committed has failed, and the others are stored")
    func failingCommit() async throws {
        let fault = TransferError(.storage, "the disk says no")
        try await WaftLoopback.run(inbox: MemoryInbox { $0 == .commit(name: "b") ? fault : nil }) { loopback in
            let outcome = try await loopback.send([.file("a", hello), .file("b", hello), .file("c", hello)])
            #expect(outcome.items.map(\.word) == ["stored", "failed: storage", "stored"])
        }
    }

    @Test("a source that changes, or cannot be read, costs its own item and no other")
    func failingSources() async throws {
        try await WaftLoopback.run { loopback in
            let outcome = try await loopback.send([
                .file("first", hello), .file("changes", Self.large, fault: .after(3 << 20)),
                .file("missing", hello, fault: .atOpen(.missing)), .file("at its end", hello, fault: .after(5)),
                .tree("tree", [.file("a", hello), .file("b", hello)], fault: .after(7, .unreadable)),
                .file("last", hello),
            ])
            #expect(
                outcome.items.map(\.word) == [
                    "stored", "unread: changed", "unread: missing", "unread: changed", "unread: unreadable", "stored",
                ])
            #expect(loopback.inbox.names == ["first", "last"])
            #expect(loopback.inbox.stagedCount == 0)
        }
    }

    @Test(
        "a source that has more, or less, than it offered costs the transfer, and nothing half is stored",
        arguments: [4, 6])
    func wrongSize(claimed: UInt64) async throws {
        try await WaftLoopback.run { loopback in
            let outcome = try await loopback.send([.file("a", hello), .file("liar", hello, claimed: claimed)])
            #expect(outcome.items.map(\.word) == ["stored", "failed: sizeMismatch"])
            #expect(loopback.inbox.names == ["a"])
        }
    }

    @Test("a sender that stops says so, and no incomplete item is stored")
    func cancelled() async throws {
        try await WaftLoopback.run { loopback in
            let cancellation = Cancellation()
            let sources = [MemorySource.file("a", hello), .file("b", Self.large)]
            let offer = Offer(of: sources)
            await #expect(throws: CancellationError.self) {
                _ = try await loopback.send(sources, offer: offer, cancellation: cancellation) { sent in
                    if sent > 1 << 20 { cancellation.request() }
                }
            }
            let fault = try await loopback.end(of: offer.transfer)
            #expect(fault?.code == .cancelled)
            #expect(loopback.inbox.names == ["a"])
            #expect(loopback.inbox.stagedCount == 0)
        }
    }

    @Test("a sender that wants to stop when the last byte has left is too late: everything is stored, and it says so")
    func cancelledAfterEnd() async throws {
        try await WaftLoopback.run { loopback in
            let cancellation = Cancellation()
            let outcome = try await loopback.send([.file("a", hello)], cancellation: cancellation) { sent in
                if sent == hello.count { cancellation.request() }
            }
            #expect(outcome.items.map(\.word) == ["stored"])
            #expect(loopback.inbox.names == ["a"])
        }
    }

    @Test("a sender whose task is cancelled breaks off, and nothing half is stored")
    func taskCancelled() async throws {
        try await WaftLoopback.run { loopback in
            let sources = [MemorySource.file("a", hello), .file("b", Self.large)]
            let offer = Offer(of: sources)
            let begun = Recorder<Task<SendResult, any Error>>()
            // It is cancelled by its own progress, which is not over before.
            let task = Task {
                try await loopback.send(sources, offer: offer) { sent in
                    if sent > 1 << 20 { begun.all.first?.cancel() }
                }
            }
            begun.record(task)
            await #expect(throws: (any Error).self) { _ = try await task.value }
            let fault = try await loopback.end(of: offer.transfer)
            #expect(fault?.code == .interrupted)
            #expect(loopback.inbox.names == ["a"])
            #expect(loopback.inbox.stagedCount == 0)
        }
    }

    @Test("a receiver that is stopped in the middle keeps nothing half")
    func receiverStopped() async throws {
        let inbox = MemoryInbox()
        let loopbacks = Recorder<WaftLoopback>()
        let receiver = Task {
            try await WaftLoopback.run(inbox: inbox) { loopback in
                loopbacks.record(loopback)
                try await loopback.events.first { if case .ended = $0 { true } else { false } }
            }
        }
        let loopback = try await loopbacks.first()
        let sources = [MemorySource.file("b", Self.large)]
        let offer = Offer(of: sources)
        let sender = Task {
            // The sender's own count runs ahead by the contents of all buffers.
            try await loopback.send(sources, offer: offer) { sent in if sent > 32 << 20 { receiver.cancel() } }
        }
        let fault = try await loopback.end(of: offer.transfer)
        #expect(fault?.code == .stopping)
        // Either it heard why, or the connection was gone before.
        if let outcome = try? await sender.value {
            #expect(["failed: stopping", "lost: stopping"].contains(outcome.items[0].word))
        }
        _ = await receiver.result
        #expect(inbox.names.isEmpty && inbox.stagedCount == 0)
    }
}
