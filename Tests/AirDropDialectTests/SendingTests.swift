import HTTPChannel
import NIOCore
import NIOHTTP1
import PropertyLists
import Sharing
import TestSupport
import Testing

@testable import AirDropDialect

@Suite("Sending by AirDrop", .timeLimit(.minutes(2)))
struct SendingTests {
    private static func send(
        _ sources: [MemorySource], flags: AirDropFlags, to receiver: AirDropLoopback,
        cancellation: Cancellation = Cancellation()
    ) async throws -> (Verdict, SendResult?) {
        let plan = try SendingPlan(Offer(of: sources), sources, to: flags)
        return try await receiver.client { client in
            let verdict = try await client.ask(plan, timeout: .seconds(60))
            guard verdict.acceptsAnything else { return (verdict, nil) }
            let outcome = try await client.upload(
                plan, to: flags, timeout: .seconds(60), cancellation: cancellation, progressed: { _ in })
            return (verdict, outcome)
        }
    }

    @Test("files and folders arrive as they are, in either form", arguments: [AirDropFlags.own, .standard])
    func everything(_ flags: AirDropFlags) async throws {
        try await AirDropLoopback.run { receiver in
            var numbers = SeededNumbers(seed: 1)
            let random = (0..<700_000).map { _ in UInt8.random(in: 0...255, using: &numbers) }
            let time = Timestamp(seconds: 1_700_000_000, nanoseconds: 0)
            let sources: [MemorySource] = [
                .file("random", random, executable: true, modified: time),
                .file("zeros", [UInt8](repeating: 0, count: 300_000)), .file("empty", []),
                .file("\u{FC}ber \u{1F373}.txt", Array("text".utf8)), .text("a note"),
                .tree(
                    "tree",
                    [
                        .file("a", [1]), .folder("b", [.file("c", [2, 3]), .folder("empty", [])]),
                        .link("l", to: "b/c"),
                    ]),
            ]
            let (_, outcome) = try await Self.send(sources, flags: flags, to: receiver)
            #expect(outcome?.items.count == sources.count)
            for item in try #require(outcome).items {
                guard case .acknowledged(let receipt, _) = item, case .stored = receipt.outcome else {
                    Issue.record("\(item)")
                    continue
                }
            }
            #expect(receiver.inbox["random"]?.entries[""] == .file(random, executable: true, modified: time))
            #expect(receiver.inbox["zeros"]?.bytes?.count == 300_000)
            #expect(receiver.inbox["empty"]?.bytes == [])
            #expect(receiver.inbox["\u{FC}ber \u{1F373}.txt"]?.bytes == Array("text".utf8))
            let tree = receiver.inbox["tree"]?.entries ?? [:]
            #expect(Set(tree.keys) == ["", "a", "b", "b/c", "b/empty", "l"])
            #expect(tree["b/c"]?.bytes == [2, 3] && tree["l"] == .link(target: "b/c"))
        }
    }

    @Test("files of the same name go under different ones")
    func sameNames() async throws {
        try await AirDropLoopback.run { receiver in
            _ = try await Self.send([.file("a.txt", [1]), .file("a.txt", [2])], flags: .own, to: receiver)
            #expect(receiver.inbox["a.txt"]?.bytes == [1] && receiver.inbox["a-1.txt"]?.bytes == [2])
        }
    }

    @Test("links go in the question where the receiver takes them there, and as files where not")
    func links() async throws {
        let url = "https://example.com/x"
        @Sendable func source() -> MemorySource {
            .file("example.com.url", Array("[InternetShortcut]\r\nURL=\(url)\r\n".utf8), kind: .url, type: "public.url")
        }
        try await AirDropLoopback.run { receiver in
            _ = try await Self.send([source()], flags: .own, to: receiver)
            #expect(receiver.inbox.names == ["example.com.url"])
            #expect(receiver.consent.asked.all.first?.offer.items.first?.kind == .url)
        }
        for (sources, flags) in [([source()], AirDropFlags.standard), ([source(), .file("a", [1])], .own)] {
            try await AirDropLoopback.run { receiver in
                _ = try await Self.send(sources, flags: flags, to: receiver)
                let webloc = try #require(receiver.inbox["example.com.webloc"]?.bytes)
                #expect(PropertyList(message: ByteBuffer(bytes: webloc))?.dictionary?["URL"]?.string == url)
            }
        }
    }

    @Test(
        "a receiver that says no has declined: by a status, by closing, or by a reset of the connection",
        arguments: [401, 403, 406, 500, 0, -1])
    func declined(_ status: Int) async throws {
        try await Rude.run(status) { http in
            let plan = try SendingPlan(Offer.sample(), [MemorySource.file("a", [1])], to: .own)
            let verdict = try await AirDropClient(http, card: AirDropLoopback.card, instance: "0").ask(
                plan, timeout: .seconds(60))
            #expect(verdict.items.map(\.answer) == [.declined])
        }
    }

    @Test("endless interim answers do not make a sender wait for ever, after any request")
    func interimForEver() async throws {
        let short: Duration = .milliseconds(50)
        let plan = try SendingPlan(Offer.sample(), [MemorySource.file("a", [1])], to: .own)
        let questions: [@Sendable (AirDropClient) async throws -> Void] = [
            { _ = try await $0.discover(timeout: short) },
            { _ = try await $0.ask(plan, timeout: short) },
            {
                _ = try await $0.upload(
                    plan, to: .own, timeout: .seconds(3_600), stall: short, cancellation: Cancellation()
                ) { _ in }
            },
        ]
        for question in questions {
            try await Rude.run(100) { http in
                let fault = await #expect(throws: HTTPError.self) {
                    try await question(AirDropClient(http, card: AirDropLoopback.card, instance: "0"))
                }
                #expect(fault == .silence)
            }
        }
    }

    @Test("discovery returns the name of the receiver, and nothing about hidden receivers")
    func discovery() async throws {
        try await AirDropLoopback.run { receiver in
            let card = try await receiver.client { try await $0.discover(timeout: .seconds(60)) }
            var expected = AirDropLoopback.card
            expected.isWaft = true
            #expect(card == expected)
        }
        try await AirDropLoopback.run(isVisible: false) { receiver in
            let card = try await receiver.client { try await $0.discover(timeout: .seconds(60)) }
            #expect(card == nil)
        }
    }

    @Test("an item that AirDrop cannot carry is refused before anything is sent")
    func unfit() {
        let limit = AirDropDialect.largestFile
        #expect(throws: TransferError.self) {
            try SendingPlan(Offer.sample(), [MemorySource.file("a", [], claimed: limit + 1)], to: .own)
        }
        #expect(throws: Never.self) {
            try SendingPlan(Offer.sample(), [MemorySource.file("a", [], claimed: limit)], to: .own)
        }
        #expect(throws: TransferError.self) {
            try SendingPlan(Offer.sample(), [MemorySource.file("a", [1], sizeIsKnown: false)], to: .own)
        }
        let many = (0...AirDropLimits.files).map { MemorySource.file("f\($0)", []) }
        #expect(throws: TransferError.self) { try SendingPlan(Offer(of: many), many, to: .own) }
        #expect(throws: Never.self) { try SendingPlan(Offer(of: many.dropLast()), many.dropLast(), to: .own) }
    }

    @Test("as many files as may be asked about at once are taken, however long their names are", arguments: [0, 250])
    func many(length: Int) async throws {
        try await AirDropLoopback.run(.decline) { receiver in
            let name = String(repeating: "n", count: length)
            let many = (0..<AirDropLimits.files).map { MemorySource.file("\(name)\($0)", []) }
            _ = try await Self.send(many, flags: .own, to: receiver)
            #expect(receiver.consent.asked.all.first?.offer.items.count == AirDropLimits.files)
        }
    }

    @Test("a source that changes, and a wish to stop, break the sending off: nothing arrives")
    func brokenOff() async throws {
        try await AirDropLoopback.run { receiver in
            let (_, outcome) = try await Self.send(
                [.file("first", [1]), .file("a", [UInt8](repeating: 1, count: 2_000_000), fault: .after(1_000_000))],
                flags: .own, to: receiver)
            guard case .lost? = outcome?.items.first, case .unread? = outcome?.items.last else {
                Issue.record("\(String(describing: outcome))")
                return
            }
            let cancellation = Cancellation()
            cancellation.request()
            await #expect(throws: CancellationError.self) {
                _ = try await Self.send([.file("b", [1])], flags: .own, to: receiver, cancellation: cancellation)
            }
            try await receiver.served.element(2)
            #expect(receiver.inbox.stored.isEmpty && receiver.inbox.stagedCount == 0)
        }
    }

    @Test("the question contains only the name of the sender, and uses the same identifier throughout")
    func question() throws {
        let plan = try SendingPlan(Offer.sample(), [MemorySource.file("a", [1])], to: .own)
        let body = try AirDropMessage.question(plan, from: AirDropLoopback.card, instance: "0123456789ab").encoded()
        let message = try #require(PropertyList(message: body)?.dictionary)
        #expect(message["SenderRecordData"] == .data([]))
        #expect(message["TransferID"]?.dictionary?["id"]?.string == plan.identifier)
        #expect(message["TransferType"]?.dictionary?["files"] == .dictionary([:]))
        #expect(plan.identifier.utf8.count == 36 && plan.identifier == plan.identifier.uppercased())
        #expect(message["Items"]?.array == [])
        #expect(message["Files"]?.array?.first?.dictionary?["FileBomPath"]?.string == "./a")
    }

    @Test("a transfer is called by a UUID of version 4, and always by the same one")
    func identifier() throws {
        let pattern = /[0-9A-F]{8}-[0-9A-F]{4}-4[0-9A-F]{3}-[89AB][0-9A-F]{3}-[0-9A-F]{12}/
        for _ in 0..<64 {
            let plan = try SendingPlan(Offer.sample(), [MemorySource.file("a", [1])], to: .own)
            #expect(plan.identifier.wholeMatch(of: pattern) != nil, "\(plan.identifier)")
            #expect(try SendingPlan(plan.offer, plan.sources, to: .standard).identifier == plan.identifier)
        }
    }

    @Test("the question gives a folder the size of all its contents")
    func folderSize() throws {
        let sources: [MemorySource] = [.tree("d", [.file("a", [1, 2]), .folder("b", [.file("c", [3])])])]
        let plan = try SendingPlan(Offer(of: sources), sources, to: .own)
        let body = try AirDropMessage.question(plan, from: AirDropLoopback.card, instance: "0123456789ab").encoded()
        let file = PropertyList(message: body)?.dictionary?["Files"]?.array?.first?.dictionary
        #expect(file?["FileIsDirectory"]?.truth == true && file?["FileSize"]?.unsigned == 3)
    }
}
