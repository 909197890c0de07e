import ContentCheck
import Digests
import Journal
import Sharing
import TestSupport
import Testing
import UniformTypes

@Suite("A written entry is read back unchanged")
struct RoundTripTests {
    private let folder = TemporaryFolder()

    private func readBack(_ facts: ArrivalFacts, _ stored: StoredItem = stored("x")) throws -> Arrival? {
        let number: ArrivalNumber
        do {
            let journal = try Journal(folder: folder.path)
            number = try journal.intend([IntendedArrival(facts: facts, identity: nil, isDelivered: false)])[0]
            try journal.settle([(number: number, stored: stored)])
            #expect(try journal.arrival(number) == Arrival(number: number, facts: facts, stored: stored))
        }
        return try JournalReader(folder: folder.path).entry(number)?.arrival
    }

    @Test("every kind of item", arguments: ItemKind.allCases)
    func kinds(kind: ItemKind) throws {
        var facts = sampleFacts(1)
        facts.item.kind = kind
        facts.item.entries = kind == .tree ? Limits.entriesPerItem : 1
        #expect(try readBack(facts)?.facts == facts)
    }

    @Test("every size", arguments: [0, 1, UInt64(Int64.max), UInt64(Int64.max) + 1, .max])
    func sizes(size: UInt64) throws {
        var facts = sampleFacts(1)
        facts.size = size
        facts.item.size = size
        facts.item.entries = max(size, 1)
        #expect(try readBack(facts)?.facts == facts)
        facts.item.size = nil
        #expect(try readBack(facts)?.facts == facts)
    }

    @Test("every digest", arguments: DigestAlgorithm.allCases)
    func digests(algorithm: DigestAlgorithm) throws {
        var facts = sampleFacts(1)
        facts.digest = Digest.of(algorithm, Array("content".utf8))
        #expect(try readBack(facts)?.facts == facts)
    }

    @Test(
        "every content verdict",
        arguments: ContentVerdict.Outcome.allCases, [nil, "public.PNG", "com.Example.type"] as [String?])
    func verdicts(outcome: ContentVerdict.Outcome, type: String?) throws {
        var facts = sampleFacts(1)
        facts.content = ContentVerdict(outcome, type.map(uniform), type == nil ? "" : "it says so")
        let read = try readBack(facts)?.facts
        #expect(read == facts)
        // Types are compared without case; the stored spelling is shown.
        #expect(read?.content?.contentType?.identifier == type)
    }

    @Test(
        "every name, byte by byte",
        arguments: [
            "'; DROP TABLE arrivals; --", "%s $(id) `id` \"q\" \\", "\u{e9}", "e\u{301}", "日本語 👩‍👩‍👧", " ", "-rf",
            ".hidden",
            String(repeating: "x", count: 255),
        ])
    func names(name: String) throws {
        var facts = sampleFacts(1)
        facts.item.name = safe(name)
        let read = try readBack(facts, stored(name))
        #expect(read?.facts == facts)
        #expect(read?.stored == stored(name))
        #expect(try JournalReader(folder: folder.path).entries(named: name).map(\.arrival.stored.name.text) == [name])
    }

    @Test(
        "every text of a peer, with any contents",
        arguments: ["", "\0", "a\0b", "\n\r\t\u{1b}[31m", "\u{feff}x", "\u{202e}gpj", "\u{fffd}\u{10ffff}", "'\"\\/"])
    func texts(text: String) throws {
        var facts = sampleFacts(1)
        facts.senderName = text
        facts.annotation = ["note": text, "a" + text: "", "e\u{301}": "\u{e9}"]
        facts.content = ContentVerdict(.lying, nil, text)
        let read = try #require(try readBack(facts)?.facts)
        #expect(read == facts)
        #expect(Array(read.senderName.utf8) == Array(text.utf8))
        #expect(read.annotation["note"].map { Array($0.utf8) } == Array(text.utf8))
        #expect(read.annotation["e\u{301}"].map { Array($0.utf8) } == Array("\u{e9}".utf8))
    }

    @Test("an annotation and a name of the greatest size")
    func greatest() throws {
        var facts = sampleFacts(1)
        facts.annotation = ["note": String(repeating: "\u{1}", count: Limits.annotationBytes)]
        facts.itemNumber = Limits.items - 1
        facts.itemsInOffer = Limits.items
        #expect(try readBack(facts)?.facts == facts)
    }

    @Test("every identity of an unsettled arrival, and its name")
    func identities() throws {
        let identities: [FileIdentity?] = [
            nil, FileIdentity(device: 0, inode: 0), FileIdentity(device: .max, inode: .max),
            FileIdentity(device: 1 << 63, inode: (1 << 63) - 1),
        ]
        let numbers = try Journal(folder: folder.path).intend(
            identities.enumerated().map { index, identity in
                IntendedArrival(facts: sampleFacts(index), identity: identity, isDelivered: true)
            })
        let unsettled = try Journal(folder: folder.path).unsettled()
        #expect(unsettled.map(\.number) == numbers)
        #expect(unsettled.map(\.identity) == identities)
        #expect(unsettled.map(\.name.text) == ["item-0.txt", "item-1.txt", "item-2.txt", "item-3.txt"])
    }

    @Test("every outcome of an attempt, with the end of a long standard error")
    func outcomes() throws {
        let journal = try Journal(folder: folder.path)
        let number = try journal.arrive(1)[0]
        let outcomes = [
            AttemptOutcome(.yes, exitCode: 0, reason: "exit code 0", standardError: "a\0b\u{1b}"),
            AttemptOutcome(.no, exitCode: 1, standardError: String(repeating: "e", count: 4_096)),
            AttemptOutcome(.later, signal: 9, reason: "out of time after 60 s"),
            AttemptOutcome(.failed, exitCode: .min, signal: .max),
        ]
        for (index, outcome) in outcomes.enumerated() {
            _ = try journal.began([number], handler: "org.example.\(index)\0", at: time(Int64.min))
            try journal.ended([number], outcome, next: .again, at: time(Int64.max))
        }
        let attempts = try #require(try JournalReader(folder: folder.path).entry(number)?.attempts)
        #expect(attempts.map(\.outcome) == outcomes)
        #expect(attempts.map(\.number) == [1, 2, 3, 4])
        #expect(attempts.map(\.handler) == (0..<4).map { "org.example.\($0)\0" })
        #expect(attempts.allSatisfy { $0.began == time(.min) && $0.ended == time(.max) })
    }

    @Test("an attempt that a person asked for, which changes the delivery only if it says so")
    func asked() throws {
        let journal = try Journal(folder: folder.path)
        let number = try journal.arrive(1)[0]
        _ = try journal.began([number], handler: "org.example.a", at: time(1))
        try journal.ended([number], AttemptOutcome(.failed, exitCode: 3), next: .ended(.failed), at: time(2))
        for (outcome, step, state) in [
            (AttemptOutcome(.no, exitCode: 1), DeliveryStep.unchanged, DeliveryState.failed),
            (AttemptOutcome(.yes, exitCode: 0), .ended(.yes), .yes),
        ] {
            _ = try journal.began([number], handler: "org.example.b", isAsked: true, at: time(3))
            try journal.ended([number], outcome, next: step, at: time(4))
            #expect(try JournalReader(folder: folder.path).entry(number)?.state == state)
        }
        let attempts = try #require(try JournalReader(folder: folder.path).entry(number)?.attempts)
        #expect(attempts.map(\.isAsked) == [false, true, true])
    }

    @Test("of a text that is too long as much as is kept, cut between characters")
    func longTexts() throws {
        let journal = try Journal(folder: folder.path)
        let number = try journal.arrive(1)[0]
        _ = try journal.began([number], handler: "h", at: time(0))
        let outcome = AttemptOutcome(
            .failed, reason: String(repeating: "é", count: 9_999),
            standardError: "begin" + String(repeating: "€", count: 9_999))
        try journal.ended([number], outcome, next: .again, at: time(1))
        let kept = try #require(try JournalReader(folder: folder.path).entry(number)?.attempts.first?.outcome)
        #expect(kept.standardError == String(repeating: "€", count: AttemptOutcome.standardErrorBytes / 3))
        #expect(kept.reason == String(repeating: "é", count: 512))
    }
}
