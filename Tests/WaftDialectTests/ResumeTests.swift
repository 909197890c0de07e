import Digests
import HTTPChannel
import NIOCore
import Sharing
import TestSupport
import Testing

@testable import WaftDialect

/// Bytes in which no two places are alike.
private func noise(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
    var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
    return (0..<count).map { _ in
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return UInt8(truncatingIfNeeded: state >> 56)
    }
}

/// The body that a sender would send if nothing of it were there.
private func body(of sources: [MemorySource]) -> ByteBuffer {
    let writer = ContentsWriter(sources, verdict: Verdict(all: .accepted, count: sources.count))
    var body = ByteBuffer()
    while let piece = writer.nextPiece() { body.writeImmutableBuffer(piece) }
    return body
}

/// Counts the contents in a body.
private final class ContentCount: FrameSink {
    var bytes = 0
    func receive(_ frame: Frame) {}
    func receive(data: UnsafeRawBufferPointer) { bytes += data.count }

    static func of(_ body: ByteBuffer) throws -> Int {
        let count = ContentCount()
        var decoder = FrameDecoder(digest: .xxh3_128)
        try decoder.decode(body, into: count)
        return count.bytes
    }
}

extension WaftLoopback {
    /// Offers, sends so many bytes of the body and vanishes; returns when the receiver has noticed.
    fileprivate func cut(_ sources: [MemorySource], after count: Int, of body: ByteBuffer) async throws {
        let offer = Offer(of: sources)
        _ = try await self.offer(offer)
        try await cut(offer.transfer, after: try #require(body.getSlice(at: 0, length: count)))
    }

    /// Sends as a command does that is run again: under a new transfer id.
    /// - Returns: the outcome, and the bytes of contents that were sent.
    fileprivate func again(
        _ sources: [MemorySource], memory: SendMemory = SendMemory(), offer: Offer? = nil
    ) async throws -> (outcome: SendResult, moved: Int) {
        let offer = offer ?? Offer(of: sources)
        let before = memory.movedBytes
        let outcome = try await client { client in
            let verdict = try await client.offer(offer, timeout: .seconds(60))
            return try await client.send(
                offer, sources, verdict: verdict, memory: memory, timeout: .seconds(60),
                cancellation: Cancellation(), progressed: { _, _ in })
        }
        return (outcome, Int(memory.movedBytes - before))
    }
}

@Suite("A transfer that was cut and comes again", .timeLimit(.minutes(2)))
struct ResumeTests {
    private static let large = noise(3_500_000)
    private static let tree = MemorySource.tree(
        "tree",
        [
            .file("a", noise(200_000, seed: 2)), .file("b", []),
            .folder("d", [.link("l", to: "../a"), .file("run", noise(1_200_000, seed: 3), executable: true)]),
            .file("e", noise(10, seed: 4)),
        ])
    static let sources = [
        MemorySource.file("first", noise(50_000, seed: 5)), tree, .file("large.bin", large),
        // Not a message, which each transfer brings anew.
        MemorySource.file("text.txt", Array("hello".utf8)),
    ]
    static let contents = body(of: sources)
    /// Inside of everything, and around the borders of items: each item is some frames.
    static let cuts: [Int] = {
        let whole = contents.readableBytes
        return [
            0, 1, 8, 60, 49_000, 50_050, 50_100, 50_200, 100_000, 250_500, 260_000, 1_000_000, 1_450_000, 1_460_300,
        ]
            + stride(from: 1_500_000, to: whole, by: 490_001) + [whole - 200, whole - 50, whole - 9, whole - 1]
    }()

    @Test("it goes on where it stopped, wherever that was, and everything is there once", arguments: cuts)
    func anywhere(count: Int) async throws {
        let had = try ContentCount.of(#require(Self.contents.getSlice(at: 0, length: count)))
        let total = try ContentCount.of(Self.contents)
        try await WaftLoopback.run { loopback in
            try await loopback.cut(Self.sources, after: count, of: Self.contents)
            let (outcome, moved) = try await loopback.again(Self.sources)
            #expect(outcome.items.map(\.word) == ["stored", "stored", "stored", "stored"])
            #expect(loopback.inbox.names == ["first", "tree", "large.bin", "text.txt"])
            #expect(loopback.inbox["large.bin"]?.bytes == Self.large)
            #expect(loopback.inbox["tree"]?.entries["d/run"]?.bytes == noise(1_200_000, seed: 3))
            #expect(loopback.inbox["tree"]?.entries.count == 7)
            #expect(loopback.inbox.stagedCount == 0 && loopback.inbox.kept.isEmpty)
            #expect(moved == total - had)
        }
    }

    @Test("a second cut goes on from the first")
    func twice() async throws {
        let source = [MemorySource.file("large.bin", Self.large)]
        try await WaftLoopback.run { loopback in
            try await loopback.cut(source, after: 2_000_000, of: body(of: source))
            // The second sender does not know the first and begins again, but brings no less.
            try await loopback.cut(source, after: 3_000_000, of: body(of: source))
            let (outcome, moved) = try await loopback.again(source)
            #expect(outcome.items.map(\.word) == ["stored"])
            #expect(loopback.inbox["large.bin"]?.bytes == Self.large)
            #expect(moved < 600_000)
        }
    }

    struct Change: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var bytes: [UInt8]
        var most: Int

        init(_ description: String, most: Int, _ change: (inout [UInt8]) -> Void) {
            testDescription = description
            self.most = most
            bytes = large
            change(&bytes)
        }
    }

    @Test(
        "a source that has changed meanwhile is sent from where it differs, and arrives as it is now",
        arguments: [
            Change("in its first byte", most: 3_500_000) { $0[0] ^= 1 },
            Change("in the second block", most: 2_500_000) { $0[1_500_000] ^= 1 },
            Change("in the last byte that had come", most: 2_500_000) { $0[1_999_000] ^= 1 },
            Change("behind the cut", most: 1_600_000) { $0[3_000_000] ^= 1 },
            Change("by getting longer", most: 2_600_000) { $0 += noise(1_000_000, seed: 9) },
            Change("by getting shorter than what had come", most: 500_000) { $0.removeLast(2_000_000) },
            Change("by getting empty", most: 0) { $0 = [] },
            Change("into something else", most: 3_500_000) { $0 = noise(3_500_000, seed: 8) },
        ])
    func changed(change: Change) async throws {
        let source = [MemorySource.file("large.bin", Self.large)]
        try await WaftLoopback.run { loopback in
            try await loopback.cut(source, after: 2_000_000, of: body(of: source))
            let (outcome, moved) = try await loopback.again([.file("large.bin", change.bytes)])
            #expect(outcome.items.map(\.word) == ["stored"])
            #expect(loopback.inbox["large.bin"]?.bytes == change.bytes)
            #expect(moved <= change.most, "\(moved)")
            #expect(loopback.inbox.kept.isEmpty)
        }
    }

    @Test("a tree that has changed meanwhile arrives as it is now: nothing of before is left in it")
    func changedTree() async throws {
        let before = MemorySource.tree(
            "t",
            [
                .file("a", noise(2_000_000)), .folder("b", [.file("x", noise(100)), .file("gone", noise(100))]),
                .file("c", noise(100)), .folder("folder", [.file("in", [1])]), .link("l", to: "a"),
                .file("z", noise(1_000_000)),
            ])
        let after = MemorySource.tree(
            "t",
            [
                .file("a", noise(2_000_000)), .folder("b", [.file("x", noise(50), executable: true)]),
                .folder("c", [.file("now", [7])]), .file("folder", [9]), .link("l", to: "b/x"),
                .file("new", noise(70)), .file("z", noise(1_000_000)),
            ])
        let contents = body(of: [before])
        try await WaftLoopback.run { loopback in
            try await loopback.cut([before], after: contents.readableBytes - 100_000, of: contents)
            let (outcome, moved) = try await loopback.again([after])
            #expect(outcome.items.map(\.word) == ["stored"])
            #expect(moved < 101_000)
            let entries = try #require(loopback.inbox["t"]).entries
            #expect(Set(entries.keys) == ["", "a", "b", "b/x", "c", "c/now", "folder", "l", "new", "z"])
            #expect(entries["b/x"] == .file(noise(50), executable: true, modified: nil))
            #expect(entries["folder"]?.bytes == [9])
            #expect(entries["l"] == .link(target: "b/x"))
        }
    }

    struct Damage: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var apply: @Sendable (inout [UInt8]) -> Void

        init(_ description: String, _ apply: @escaping @Sendable (inout [UInt8]) -> Void) {
            testDescription = description
            self.apply = apply
        }
    }

    @Test(
        "data that is damaged on the receiver's disk is sent again",
        arguments: [
            Damage("a flipped byte") { $0[100] ^= 1 },
            Damage("zeros at its end") { bytes in for place in 1_500_000..<bytes.count { bytes[place] = 0 } },
            Damage("cut short") { $0.removeLast(500_000) }, Damage("grown") { $0 += noise(3_000_000, seed: 7) },
            Damage("empty") { $0 = [] },
        ])
    func damaged(damage: Damage) async throws {
        let source = [MemorySource.file("large.bin", Self.large)]
        try await WaftLoopback.run { loopback in
            try await loopback.cut(source, after: 2_000_000, of: body(of: source))
            loopback.inbox.damage { entries in
                guard case .file(var bytes, let executable, let modified) = entries[""] else { return }
                damage.apply(&bytes)
                entries[""] = .file(bytes, executable: executable, modified: modified)
            }
            let (outcome, _) = try await loopback.again(source)
            #expect(outcome.items.map(\.word) == ["stored"])
            #expect(loopback.inbox["large.bin"]?.bytes == Self.large)
        }
    }

    @Test("another peer goes on from nothing of it")
    func otherPeer() async throws {
        let source = [MemorySource.file("large.bin", Self.large)]
        try await WaftLoopback.run { loopback in
            try await loopback.cut(source, after: 2_000_000, of: body(of: source))
            let verdict = try await loopback.offer(Offer(of: source), as: WaftLoopback.other)
            #expect(verdict.items.map(\.hasKept) == [false])
            let mine = try await loopback.offer(Offer(of: source))
            #expect(mine.items.map(\.hasKept) == [true])
        }
    }

    @Test("contents from a pipe are not kept")
    func pipe() async throws {
        let source = [MemorySource.file("pipe", Self.large, sizeIsKnown: false)]
        try await WaftLoopback.run { loopback in
            try await loopback.cut(source, after: 2_000_000, of: body(of: source))
            #expect(loopback.inbox.kept.isEmpty && loopback.inbox.stagedCount == 0)
        }
    }

    @Test("the same transfer is offered again, and its receipt is one")
    func sameTransfer() async throws {
        let sources = (0..<5).map { MemorySource.file("file-\($0)", noise(2_000, seed: UInt64($0 + 1))) }
        let offer = Offer(of: sources)
        let contents = body(of: sources)
        let opened = sources[0].openedCount
        try await WaftLoopback.run { loopback in
            _ = try await loopback.offer(offer)
            try await loopback.cut(
                offer.transfer, after: try #require(contents.getSlice(at: 0, length: 6_000)))
            #expect(loopback.inbox.names == ["file-0", "file-1"])
            let memory = SendMemory()
            let receipt = try await loopback.client { client in
                try await client.receipt(of: offer, answered: false, timeout: .seconds(60))
            }
            #expect(receipt.items.map(\.isStored) == [true, true, false, false, false])
            memory.note(receipt)
            let (outcome, moved) = try await loopback.again(sources, memory: memory, offer: offer)
            #expect(outcome.items.map(\.word) == Array(repeating: "stored", count: 5))
            #expect(moved < 6_000 && sources[0].openedCount == opened)
            #expect(loopback.inbox.names == sources.map(\.offered.name.text))
            let last = try await loopback.client { client in
                try await client.receipt(of: offer, answered: false, timeout: .seconds(60))
            }
            #expect(last.items.allSatisfy { $0.isStored && !$0.isAlready })
        }
    }

    @Test("a sender that has lost its memory too stores nothing twice under the same transfer")
    func sameTransferForgotten() async throws {
        let sources = (0..<3).map { MemorySource.file("file-\($0)", noise(2_000, seed: UInt64($0 + 1))) }
        let offer = Offer(of: sources)
        let contents = body(of: sources)
        try await WaftLoopback.run { loopback in
            _ = try await loopback.offer(offer)
            try await loopback.cut(
                offer.transfer, after: try #require(contents.getSlice(at: 0, length: 5_000)))
            // A handler has taken it away: it was stored all the same.
            loopback.inbox.remove("file-0")
            let (outcome, _) = try await loopback.again(sources, offer: offer)
            #expect(outcome.items.map(\.word) == ["stored", "stored", "stored"])
            #expect(loopback.inbox.names == ["file-1", "file-2"])
        }
    }
}

@Suite("An item that is there already", .timeLimit(.minutes(1)))
struct PresentTests {
    private static let sources: [MemorySource] = [
        .file("a.bin", noise(1_000_000)), .file("text.txt", Array("hello".utf8)),
        .tree("tree", (0..<500).map { .file("file-\($0 + 1_000)", noise(10, seed: UInt64($0 + 1))) }),
    ]

    private func isAlready(_ outcome: SendResult) -> [Bool] {
        outcome.items.map { item in
            if case .acknowledged(let receipt, _) = item { receipt.isAlready } else { false }
        }
    }

    @Test("it is not sent again: no contents move, nothing is stored, no handler is asked")
    func again() async throws {
        try await WaftLoopback.run { loopback in
            _ = try await loopback.again(Self.sources)
            let arrivals = loopback.delivery.arrivals.count
            let (outcome, moved) = try await loopback.again(Self.sources)
            #expect(outcome.items.map(\.word) == ["stored", "stored", "stored"])
            #expect(isAlready(outcome) == [true, true, true])
            #expect(moved == 0)
            #expect(loopback.inbox.names == ["a.bin", "text.txt", "tree"])
            #expect(loopback.delivery.arrivals.count == arrivals)
        }
    }

    @Test("it is sent if the stored item differs: another source, a changed file, an item that was taken out")
    func different() async throws {
        let source = MemorySource.file("a.bin", noise(1_000))
        try await WaftLoopback.run { loopback in
            _ = try await loopback.again([source])
            let (outcome, moved) = try await loopback.again([.file("a.bin", noise(1_000, seed: 2))])
            #expect(isAlready(outcome) == [false] && moved == 1_000)
            #expect(loopback.inbox.names == ["a.bin", "a-1.bin"])
            loopback.inbox.remove("a.bin")
            loopback.inbox.remove("a-1.bin")
            let (third, all) = try await loopback.again([source])
            #expect(isAlready(third) == [false] && all == 1_000)
        }
    }

    @Test("an item that was changed in the Inbox is reported as missing, and is sent in the next attempt")
    func changedThere() async throws {
        let source = MemorySource.file("a.bin", noise(1_000))
        let offer = Offer(of: [source])
        try await WaftLoopback.run { loopback in
            _ = try await loopback.again([source])
            loopback.inbox.replace("a.bin", with: noise(1_000, seed: 3))
            let memory = SendMemory()
            let (outcome, moved) = try await loopback.again([source], memory: memory, offer: offer)
            #expect(outcome.items.map(\.word) == ["failed: notKept"] && moved == 0)
            let (second, all) = try await loopback.again([source], memory: memory, offer: offer)
            #expect(second.items.map(\.word) == ["stored"] && all == 1_000)
            #expect(loopback.inbox.names == ["a.bin", "a-1.bin"])
        }
    }

    @Test("a file is sent whole if one with its checksum, and other contents, is there")
    func forgedThere() async throws {
        let (genuine, forged) = (ForgedPair.genuine, ForgedPair.forged)
        let offer = Offer(of: [.file("update.sh", genuine)])
        try await WaftLoopback.run { loopback in
            _ = try await loopback.again([.file("update.sh", forged)])
            let memory = SendMemory()
            let source = [MemorySource.file("update.sh", genuine)]
            let (outcome, moved) = try await loopback.again(source, memory: memory, offer: offer)
            #expect(outcome.items.map(\.word) == ["failed: notKept"] && moved == 0)
            let (second, all) = try await loopback.again(source, memory: memory, offer: offer)
            #expect(second.items.map(\.word) == ["stored"] && all == genuine.count)
            #expect(loopback.inbox["update.sh"]?.bytes == forged && loopback.inbox["update-1.sh"]?.bytes == genuine)
        }
    }

    @Test("a file does not continue a kept part that has its checksum, and other contents")
    func forgedPart() async throws {
        let end = noise(900_000, seed: 9)
        let (genuine, forged) = (ForgedPair.genuine + end, ForgedPair.forged + end)
        try await WaftLoopback.run { loopback in
            let bad = [MemorySource.file("update.sh", forged)]
            try await loopback.cut(bad, after: 500_000, of: body(of: bad))
            let (outcome, moved) = try await loopback.again([.file("update.sh", genuine)])
            #expect(outcome.items.map(\.word) == ["stored"] && moved == genuine.count)
            #expect(loopback.inbox["update.sh"]?.bytes == genuine)
        }
    }

    @Test("it is there for its sender alone")
    func otherPeer() async throws {
        try await WaftLoopback.run { loopback in
            _ = try await loopback.again([Self.sources[0]])
            let verdict = try await loopback.offer(Offer(of: [Self.sources[0]]), as: WaftLoopback.other)
            #expect(verdict.items.map(\.present) == [nil])
        }
    }
}

@Suite("Resuming with peers that violate the protocol", .timeLimit(.minutes(3)))
struct HostileResumeTests {
    private static let bytes = noise(3_000_000)

    private func frames(_ write: (inout ByteBuffer) throws -> Void) rethrows -> ByteBuffer {
        var frames = ByteBuffer()
        try write(&frames)
        return frames
    }

    private func entry(_ offset: UInt64, size: UInt64? = 3_000_000) -> FileEntry {
        var entry = FileEntry(path: nil, executable: false, modified: nil, size: size)
        entry.offset = offset
        return entry
    }

    @Test(
        "an offset that nothing is kept for is refused, and nothing is stored",
        arguments: [
            (1, 3_000_000, TransferError.Code.notKept), (3_000_000, 3_000_000, .notKept),
            (3_000_001, 3_000_000, .sizeMismatch),
            (.max, 3_000_000, .protocolViolation), (5, nil, .protocolViolation),
        ] as [(UInt64, UInt64?, TransferError.Code)])
    func offsets(offset: UInt64, size: UInt64?, code: TransferError.Code) async throws {
        let offer = Offer(of: [.file("f", Self.bytes)])
        try await WaftLoopback.run { loopback in
            _ = try await loopback.offer(offer)
            let answer = try await loopback.post(
                frames {
                    $0.writeFrame(.item(0))
                    $0.writeFrame(.file(entry(offset, size: size)))
                }, to: offer.transfer)
            #expect(answer.fault?.code == code, "\(answer.fault?.message ?? "none")")
            #expect(loopback.inbox.names.isEmpty && loopback.inbox.stagedCount == 0)
        }
    }

    @Test("an offset beyond the kept part is refused, and the kept part stays")
    func beyond() async throws {
        let source = MemorySource.file("f", Self.bytes)
        let offer = Offer(of: [source])
        try await WaftLoopback.run { loopback in
            try await loopback.cut([source], after: 1_000_000, of: body(of: [source]))
            _ = try await loopback.offer(offer)
            let answer = try await loopback.post(
                frames {
                    $0.writeFrame(.item(0))
                    $0.writeFrame(.file(entry(2_000_000)))
                }, to: offer.transfer)
            #expect(answer.fault?.code == .notKept)
            let (outcome, moved) = try await loopback.again([source])
            #expect(outcome.items.map(\.word) == ["stored"] && moved < 2_100_000)
        }
    }

    @Test("an offset to contents that are others than the digest says is found out")
    func spliced() async throws {
        let offer = Offer(of: [.file("f", Self.bytes)])
        let source = MemorySource.file("f", Self.bytes)
        try await WaftLoopback.run { loopback in
            try await loopback.cut([source], after: 1_500_000, of: body(of: [source]))
            _ = try await loopback.offer(offer)
            var other = Self.bytes
            other[7] ^= 1
            let answer = try await loopback.post(
                frames {
                    $0.writeFrame(.item(0))
                    $0.writeFrame(.file(entry(1_000_000)))
                    for start in stride(from: 1_000_000, to: 3_000_000, by: 500_000) {
                        $0.writeData(Array(other[start..<start + 500_000]))
                    }
                    $0.writeFrame(.fileEnd(.of(.xxh3_128, other)))
                }, to: offer.transfer)
            #expect(answer.fault?.code == .digestMismatch)
            #expect(loopback.inbox.names.isEmpty && loopback.inbox.kept.isEmpty)
        }
    }

    @Test("an item that is missing although it was reported as stored fails, and the others are stored")
    func falselyPresent() async throws {
        let offer = Offer(of: [.file("f", [1]), .file("g", [2])])
        try await WaftLoopback.run { loopback in
            _ = try await loopback.offer(offer)
            let answer = try await loopback.post(
                frames {
                    $0.writeFrame(.present(0, .of(.lasting, [1] as [UInt8])))
                    $0.writeFileItem(1, [2])
                    $0.writeFrame(.end)
                }, to: offer.transfer)
            #expect(answer.status == 200)
            #expect(answer.receipt?.map(\.state) == ["failed", "stored"])
            #expect(answer.receipt?.first?.fault == "not-kept")
        }
    }

    @Test(
        "a list of kept parts is read as the protocol defines it, or refused",
        arguments: [
            ("nothing", [], true),
            ("half a record", Array(repeating: 0, count: 20), false),
            (
                "another item's",
                [0, 0, 0, 1] + Array(repeating: 0, count: 15) + [1, 20] + Array(repeating: 7, count: 32), false
            ),
            ("a file of no bytes", Array(repeating: 0, count: 20) + [20], false),
            ("blocks too small", Array(repeating: 0, count: 19) + [1, 19] + Array(repeating: 7, count: 32), false),
            ("blocks too large", Array(repeating: 0, count: 19) + [1, 61] + Array(repeating: 7, count: 32), false),
            ("too many blocks", Array(repeating: 0, count: 12) + Array(repeating: 255, count: 8) + [20], false),
            ("a digest cut short", Array(repeating: 0, count: 19) + [1, 20] + Array(repeating: 7, count: 31), false),
            ("a file of one block", Array(repeating: 0, count: 19) + [1, 20] + Array(repeating: 7, count: 32), true),
            (
                "a gigantic file",
                Array(repeating: 0, count: 12) + [255, 255, 255, 255, 255, 255, 255, 255, 60]
                    + Array(repeating: 7, count: 512), true
            ),
        ] as [(String, [UInt8], Bool)])
    func lists(what: String, bytes: [UInt8], isGood: Bool) throws {
        if isGood {
            _ = try KeptList(ByteBuffer(bytes: bytes), items: 1)
        } else {
            let fault = #expect(throws: TransferError.self) {
                _ = try KeptList(ByteBuffer(bytes: bytes), items: 1)
            }
            #expect(fault?.code == .protocolViolation)
        }
    }

    @Test("a list that says more than there is costs a comparison, and the file is sent as it is")
    func lyingList() throws {
        var list = ByteBuffer()
        let source = MemorySource.file("f", Self.bytes)
        var kept = KeptFile(pathHash: KeptFile.pathHash(""), size: .max, blockExponent: 60, digests: [])
        kept.digests = Array(repeating: .of(.lasting, []), count: 16)
        _ = list.writeKept(kept, item: 0)
        let writer = ContentsWriter(
            [source], verdict: Verdict(all: .accepted, count: 1),
            kept: try KeptList(list, items: 1))
        var body = ByteBuffer()
        while let piece = writer.nextPiece() { body.writeImmutableBuffer(piece) }
        try #expect(ContentCount.of(body) == Self.bytes.count)
    }

    @Test("each of many files of many items is found in a list, and no other; files that do not fit are left out")
    func manyFiles() throws {
        var list = ByteBuffer()
        let digest = Digest.of(.lasting, [])
        var count = 0
        var hasRoom = true
        while hasRoom {
            let path = KeptFile.pathHash("\(count / 3)")
            hasRoom = list.writeKept(
                KeptFile(pathHash: path, size: UInt64(count) + 1, blockExponent: 20, digests: [digest]),
                item: count % 3)
            count += 1
        }
        #expect(list.readableBytes <= Limits.keptListBytes)
        #expect(count > 75_000)
        let kept = try KeptList(list, items: 3)
        for number in stride(from: 0, to: count - 3, by: 97) {
            let path = try SafeRelativePath("\(number / 3)")
            #expect(kept.file(path, ofItem: number % 3)?.size == UInt64(number) + 1)
        }
        #expect(kept.file(try SafeRelativePath("x"), ofItem: 0) == nil)
        #expect(kept.file(try SafeRelativePath("1"), ofItem: 3) == nil)
    }

    @Test("random bytes are a list or are refused, and never more")
    func fuzz() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<3_000 {
            var bytes = (0..<Int.random(in: 0...200, using: &generator)).map { _ in
                UInt8.random(in: 0...255, using: &generator)
            }
            // Often enough near to a good one.
            if Bool.random(using: &generator), bytes.count > 20 {
                bytes.replaceSubrange(0..<4, with: [0, 0, 0, 0])
                bytes.replaceSubrange(12..<17, with: [0, 0, 0, 0, 0])
                bytes[20] = UInt8.random(in: 18...62, using: &generator)
            }
            guard let list = try? KeptList(ByteBuffer(bytes: bytes), items: 3) else { continue }
            let file = list.file(nil, ofItem: 0)
            _ = file?.digest(of: 0)
            _ = file?.digest(of: 65_536)
        }
    }
}
