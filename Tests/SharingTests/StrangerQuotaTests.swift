import Digests
import Synchronization
import TestSupport
import Testing
import UniformTypes

@testable import Sharing

@Suite("The quota of a stranger")
struct StrangerQuotaTests {
    private struct Occupancy: OccupancyReading {
        var bytes: UInt64? = 0

        func occupied(by peer: PeerID, exactAbove bound: UInt64) throws(JournalError) -> UInt64 {
            guard let bytes else { throw JournalError("the disk has gone") }
            return bytes
        }
    }

    /// Bytes that one file counts in addition to its contents.
    private static let one = Limits.entryBytes

    private func quota(_ limit: UInt64, _ occupancy: Occupancy = Occupancy()) throws -> StrangerQuota {
        let quota = StrangerQuota(limit: limit, isStranger: { $0 == .sample(1) }, occupancy: occupancy)
        return try #require(quota)
    }

    @Test(
        "counts the stored, current and offered items, and does not overflow",
        arguments: [
            (0, 0, 100, true), (50, 25, 25, true), (0, 0, 101, false), (101, 0, 0, false), (50, 25, 26, false),
            (UInt64.max, 0, 0, false), (1, .max, 0, false), (0, 0, .max, false), (.max, .max, .max, false),
            (100, 0, 0, true),
        ] as [(UInt64, UInt64, UInt64, Bool)])
    func judging(lying: UInt64, underWay: UInt64, offered: UInt64, fits: Bool) {
        let verdict = StrangerQuota.judge(offered: offered, lying: lying, underWay: underWay, limit: 100)
        #expect((verdict == nil) == fits)
        #expect(fits || verdict?.answer == .noRoom)
    }

    @Test("is reported with its figures")
    func figures() {
        let verdict = StrangerQuota.judge(
            offered: 2_000_000, lying: 9_000_000, underWay: 500_000, limit: 10_000_000)
        #expect(
            verdict?.reason
                == "the limit for one stranger is 10.0 MB, where each file and folder counts for 16.4 kB more; 9.0 MB stored "
                + "from you, 500.0 kB in transfer; 2.0 MB offered")
    }

    @Test("is none for contacts, nor if it is 0")
    func contacts() throws {
        let offer = Offer.sample(items: 1, size: 1_000)
        let quota = try quota(10, Occupancy(bytes: .max))
        #expect(quota.refusal(of: offer, from: .sample(1), underWay: 0)?.answer == .noRoom)
        #expect(quota.refusal(of: offer, from: .sample(2), underWay: .max) == nil)
        #expect(quota.allowance(for: .sample(1), underWay: 0) == 0)
        #expect(quota.allowance(for: .sample(2), underWay: 0) == nil)
        #expect(StrangerQuota(limit: 0, isStranger: { _ in true }, occupancy: Occupancy()) == nil)
    }

    @Test("that cannot be known lets nothing in")
    func unknown() throws {
        let quota = try quota(1_000_000, Occupancy(bytes: nil))
        #expect(quota.refusal(of: .sample(), from: .sample(1), underWay: 0)?.answer == .busy)
    }

    private func reception(
        _ quota: StrangerQuota, inbox: MemoryInbox = MemoryInbox()
    ) -> Reception {
        Reception(
            inbox: inbox, journal: MemoryJournal(), gate: ScriptedGate(), consent: ScriptedConsent(.accept),
            delivery: RecordingDelivery(),
            quota: quota, observe: { _ in })
    }

    @Test("counts files and folders with nothing in them too, when they are offered and while they come")
    func entries() async throws {
        let reception = reception(try quota(100 * Self.one, Occupancy(bytes: 50 * Self.one)))
        func offer(_ entries: UInt64?) throws -> Offer {
            let item = OfferedItem(
                kind: .tree, name: try SafeName("tree"), type: .folder, size: entries == nil ? nil : 0, entries: entries
            )
            return Offer(items: [item], senderName: "s", dialect: .keyless)
        }
        #expect(await reception.judge(try offer(51), from: .sample(1)).items.map(\.answer) == [.noRoom])
        let unknown = try offer(nil)
        #expect(await reception.judge(unknown, from: .sample(1)).acceptsAnything)
        let transfer = try reception.begin(unknown.transfer, from: .sample(1), binding: .announced)
        try transfer.beginItem(0)
        for number in 0..<50 { try transfer.folder(try SafeRelativePath("\(number)")) }
        let fault = #expect(throws: TransferError.self) { try transfer.folder(try SafeRelativePath("50")) }
        #expect(fault?.code == .noRoom)
        if let fault { reception.end(transfer, transfer.fail(fault), fault: fault) }
        #expect(await reception.judge(try offer(50), from: .sample(1)).acceptsAnything)
    }

    @Test("an offer of more files and folders than the disk has inodes is refused with the reason, to contacts too")
    func inodes() async throws {
        let reception = Reception(
            inbox: MemoryInbox(freeEntries: 100), journal: MemoryJournal(), gate: ScriptedGate(),
            consent: ScriptedConsent(.accept),
            delivery: RecordingDelivery(), observe: { _ in })
        #expect(await reception.judge(.sample(items: 100), from: .sample(1)).acceptsAnything)
        let verdict = await reception.judge(.sample(items: 101), from: .sample(2))
        #expect(verdict.items.allSatisfy { $0.answer == .noRoom })
        #expect(verdict.items[0].reason == "no free inodes: 101 files and folders offered, room for 100")
    }

    @Test("counts accepted items that have not come yet")
    func underWay() async throws {
        let reception = reception(try quota(10 + 2 * Self.one))
        #expect(await reception.judge(.sample(items: 1, size: 6), from: .sample(1)).acceptsAnything)
        let second = await reception.judge(.sample(items: 1, size: 6), from: .sample(1))
        #expect(second.items.map(\.answer) == [.noRoom])
        #expect(await reception.judge(.sample(items: 1, size: 4), from: .sample(1)).acceptsAnything)
        #expect(await reception.judge(.sample(items: 1, size: 600), from: .sample(2)).acceptsAnything)
    }

    @Test("counts what was accepted while an offer waited for its answer")
    func acceptedMeanwhile() async throws {
        let consent = ScriptedConsent(.later)
        let reception = Reception(
            inbox: MemoryInbox(), journal: MemoryJournal(), gate: ScriptedGate(), consent: consent,
            delivery: RecordingDelivery(), quota: try quota(10 + 2 * Self.one), observe: { _ in })
        let answers = await withTaskGroup(of: Verdict.self) { group in
            for _ in 1...2 {
                group.addTask { await reception.judge(.sample(items: 1, size: 6), from: .sample(1)) }
            }
            _ = try? await consent.asked.element(2)
            consent.answer(accept: true)
            return await group.reduce(into: []) { $0.append($1.items[0].answer) }
        }
        #expect(answers.count { $0 == .accepted } == 1)
        #expect(answers.count { $0 == .noRoom } == 1)
        #expect(reception.underWay.count == 1)
    }

    @Test("counts an item once, as stored, when it is stored and others of its transfer still come")
    func storedInPart() async throws {
        /// Counts what the journal knows.
        struct Stored: OccupancyReading {
            let journal: MemoryJournal

            func occupied(by peer: PeerID, exactAbove bound: UInt64) -> UInt64 {
                journal.entries.reduce(0) { $0 + Footprint(bytes: $1.entry.intended.facts.size, entries: 1).bytes }
            }
        }
        let journal = MemoryJournal()
        let quota = StrangerQuota(
            limit: 15 + 3 * Self.one, isStranger: { _ in true }, occupancy: Stored(journal: journal))
        let reception = Reception(
            inbox: MemoryInbox(), journal: journal, gate: ScriptedGate(), consent: ScriptedConsent(.accept),
            delivery: RecordingDelivery(), quota: quota, observe: { _ in })
        let offer = Offer.sample(items: 2, size: 5)
        #expect(await reception.judge(offer, from: .sample(1)).acceptsAnything)
        let transfer = try reception.begin(offer.transfer, from: .sample(1), binding: .scattered)
        let hello = Array("hello".utf8)
        try transfer.beginItem(0)
        try transfer.beginFile(FileEntry(path: nil, executable: false, modified: nil, size: 5))
        try hello.withUnsafeBytes { try transfer.write($0) }
        try transfer.endFile(digest: .of(.xxh3_128, hello))
        try transfer.endItem(digest: .of(.xxh3_128, hello))
        #expect(journal.entries.count == 1)
        func other(_ size: UInt64) throws -> Offer {
            let item = OfferedItem(kind: .file, name: try SafeName("other \(size)"), type: .data, size: size)
            return Offer(items: [item], senderName: "s")
        }
        #expect(await reception.judge(try other(5), from: .sample(1)).acceptsAnything)
        #expect(await reception.judge(try other(1), from: .sample(1)).items[0].answer == .noRoom)
    }

    @Test("counts the kept parts of interrupted items: the oldest go, and current ones stay")
    func kept() async throws {
        let inbox = MemoryInbox()
        let reception = reception(try quota(10 + Self.one), inbox: inbox)
        /// An item of 8 bytes, of which 6 come.
        func breakOff(_ name: String, from peer: PeerID) async throws {
            let item = OfferedItem(kind: .file, name: try SafeName(name), type: .data, size: 8)
            let offer = Offer(transfer: TransferID(), items: [item], senderName: "s")
            #expect(await reception.judge(offer, from: peer).acceptsAnything)
            let transfer = try reception.begin(offer.transfer, from: peer)
            try transfer.beginItem(0)
            try transfer.beginFile(FileEntry(path: nil, executable: false, modified: nil, size: 8))
            try [UInt8](1...6).withUnsafeBytes { try transfer.write($0) }
            let fault = TransferError(.interrupted, "cut")
            reception.end(transfer, transfer.fail(fault), fault: fault)
        }
        try await breakOff("a", from: .sample(1))
        #expect(inbox.kept.count == 1)
        // The same once more: the part that is kept of it is no obstacle.
        try await breakOff("a", from: .sample(1))
        #expect(inbox.kept.count == 1)
        // Six are kept, and eight are coming.
        try await breakOff("b", from: .sample(1))
        #expect(inbox.kept.count == 1)
        for name in ["a", "b", "c"] { try await breakOff(name, from: .sample(2)) }
        #expect(inbox.kept.count == 4)
    }

    /// A journal that has items which people have taken out, and counts the looks at the disk.
    private final class TakenOut: OccupancyReading {
        let looks = Mutex(0)
        private let recorded: UInt64
        private let lying: UInt64

        init(recorded: UInt64, lying: UInt64) { (self.recorded, self.lying) = (recorded, lying) }

        func occupied(by peer: PeerID, exactAbove bound: UInt64) -> UInt64 {
            guard recorded > bound else { return recorded }
            looks.withLock { $0 += 1 }
            return lying
        }
    }

    @Test(
        "looks the earlier items up only for a transfer of unknown size that is about to exceed it",
        arguments: [
            (0, 0, true), (4 * one, 0, true), (4 * one + 1, 1, true), (5 * one, 1, true), (5 * one + 1, 1, false),
        ])
    func lookedUp(bytes: UInt64, looks: Int, fits: Bool) async throws {
        // By the journal five are left, and six by the disk; the file itself counts for one.
        let occupancy = TakenOut(recorded: 3 * Self.one, lying: 2 * Self.one)
        let quota = StrangerQuota(limit: 8 * Self.one, isStranger: { _ in true }, occupancy: occupancy)
        let reception = reception(try #require(quota))
        let offer = Offer.sample(items: 1, size: nil)
        #expect(await reception.judge(offer, from: .sample(1)).acceptsAnything)
        let transfer = try reception.begin(offer.transfer, from: .sample(1))
        try transfer.beginItem(0)
        try transfer.beginFile(FileEntry(path: nil, executable: false, modified: nil, size: nil))
        let contents = [UInt8](repeating: 1, count: Int(bytes))
        if fits {
            try contents.withUnsafeBytes { try transfer.write($0) }
        } else {
            let fault = #expect(throws: TransferError.self) { try contents.withUnsafeBytes { try transfer.write($0) } }
            #expect(fault?.code == .noRoom)
        }
        #expect(occupancy.looks.withLock { $0 } == looks)
    }

    @Test("ends what brings more than that without having said its size")
    func unannounced() async throws {
        let reception = reception(try quota(10 + Self.one, Occupancy(bytes: 4)))
        let offer = Offer.sample(items: 1, size: nil)
        #expect(await reception.judge(offer, from: .sample(1)).acceptsAnything)
        let transfer = try reception.begin(offer.transfer, from: .sample(1))
        try transfer.beginItem(0)
        try transfer.beginFile(FileEntry(path: nil, executable: false, modified: nil, size: nil))
        try [1, 2, 3, 4, 5, 6].withUnsafeBytes { try transfer.write(UnsafeRawBufferPointer(rebasing: $0[..<6])) }
        let fault = #expect(throws: TransferError.self) {
            try [UInt8(7)].withUnsafeBytes { try transfer.write($0) }
        }
        #expect(fault?.code == .noRoom)
        if let fault { reception.end(transfer, transfer.fail(fault), fault: fault) }
    }
}

@Suite("Conflicts of names")
struct ConflictRuleTests {
    private struct Answers: ConsentAsking {
        var verdicts: [ItemVerdict]

        func consent(
            to offer: Offer, from peer: PeerID, freeRoom: UInt64, waits: @escaping @Sendable () -> Void
        ) async -> [ItemVerdict] { verdicts }
    }

    @Test("decline an accepted item that exists at its destination, and no other peer learns it")
    func skip() async throws {
        let folder = try SafeRelativePath("Photos")
        let answers = [
            ItemVerdict.accepted, ItemVerdict(.declined, reason: "no"),
            ItemVerdict(.accepted, destination: .init(handler: nil, folder: folder)),
            .accepted,
        ]
        let consent = ConflictConsent(asking: Answers(verdicts: answers)) { name, place in
            (name.text == "file-0" && place == nil) || (name.text == "file-1")
                || (name.text == "file-2" && place == nil)
        }
        let verdicts = await consent.consent(to: .sample(items: 4), from: .sample(1), freeRoom: 0)
        #expect(verdicts.map(\.answer) == [.declined, .declined, .accepted, .accepted])
        #expect(verdicts[0].reason == "the name exists already")
        #expect(verdicts[1].reason == "no")
        let tooFew = ConflictConsent(asking: Answers(verdicts: [])) { _, _ in true }
        #expect(await tooFew.consent(to: .sample(items: 2), from: .sample(1), freeRoom: 0).isEmpty)
    }
}

@Suite("A receipt")
struct ReceiptFailureTests {
    @Test("report in one line that nothing was stored")
    func failures() {
        func receipt(_ outcomes: [ItemReceipt.Outcome]) -> Receipt {
            Receipt(transfer: TransferID(), items: outcomes.map { ItemReceipt($0) })
        }
        let fault = TransferError(.storage, "the disk has gone")
        #expect(receipt([.notSent]).failures == nil)
        #expect(receipt([.notSent, .failed(fault)]).failures == "the disk has gone")
        #expect(
            receipt([.failed(fault), .notSent, .failed(fault)]).failures == "the disk has gone (and 1 more failed)")
    }
}
