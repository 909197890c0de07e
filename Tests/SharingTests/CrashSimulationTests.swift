import Digests
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Sharing

/// Ends the process in the midst of its work: from one call of a port on, none does anything any more.
private final class Crash: Sendable {
    private let left = Mutex<Int?>(nil)

    /// - Parameter calls: how many are still made.
    func schedule(after calls: Int?) { left.withLock { $0 = calls } }

    /// Whether it has come to that.
    var hasCome: Bool { left.withLock { $0.map { $0 <= 0 } ?? false } }

    /// Asked before each call.
    func fault() -> TransferError? {
        left.withLock { left in
            guard let count = left else { return nil }
            if count <= 0 { return TransferError(.storage, "the process is gone") }
            left = count - 1
            return nil
        }
    }
}

/// Disk and journal, which outlive the receivers that use them.
private struct World {
    let crash = Crash()
    let inbox: MemoryInbox
    let journal: MemoryJournal
    let peer = PeerID.sample(1)

    init() {
        let crash = self.crash
        inbox = MemoryInbox { _ in crash.fault() }
        journal = MemoryJournal(fault: { _ in crash.fault() })
    }

    /// A receiver that starts: it settles what the one before was about to store.
    func receiver() throws -> Reception {
        let unsettled = journal.unsettled
        let found = inbox.find(Set(unsettled.compactMap(\.identity)), in: [])
        try journal.settle(unsettled.map { ($0.number, $0.identity.flatMap { found[$0] }) })
        return Reception(
            inbox: inbox, journal: journal, gate: ScriptedGate(), consent: ScriptedConsent(.accept),
            delivery: RecordingDelivery(.none),
            observe: { _ in })
    }

    /// The sentences that do not hold: an item is wholly in the Inbox and in the journal, or not in either.
    func violations(_ goods: [Goods]) -> [String] {
        var broken: [String] = []
        let arrivals = journal.entries.compactMap(\.entry.stored)
        for item in goods {
            let stored = inbox.stored.filter { $0.name == item.name }
            if stored.count > 1 { broken.append("\(item.name) is there \(stored.count) times") }
            if let stored = stored.first, !item.isWhole(stored) { broken.append("\(item.name) is not whole") }
            let known = arrivals.count { $0.name.text == item.name }
            if known != stored.count { broken.append("\(item.name) is there \(stored.count), known \(known) times") }
        }
        if inbox.stored.count > goods.count { broken.append("there is more than was sent: \(inbox.names)") }
        if inbox.stagedCount > 0 { broken.append("something is staged that nobody writes") }
        if !journal.unsettled.isEmpty { broken.append("something is unsettled") }
        return broken
    }
}

/// An item to send: files by their path; one under the empty path is the item.
private struct Goods {
    var name: String
    var files: [(path: String, bytes: [UInt8])]

    var isTree: Bool { files[0].path != "" }

    var offered: OfferedItem {
        OfferedItem(
            kind: isTree ? .tree : .file, name: safe(name), type: uniform(isTree ? "public.folder" : "public.data"),
            size: files.reduce(0) { $0 + UInt64($1.bytes.count) }, entries: isTree ? UInt64(files.count) + 1 : 1)
    }

    var digest: Digest { digest(.xxh3_128) }

    func digest(_ algorithm: DigestAlgorithm) -> Digest {
        guard isTree else { return .of(algorithm, files[0].bytes) }
        var listing = TreeListing(algorithm)
        for file in files {
            guard let path = try? SafeRelativePath(file.path) else { continue }
            listing.file(path, executable: false, digest: .of(algorithm, file.bytes))
        }
        return listing.finalize()
    }

    func isWhole(_ stored: MemoryInbox.Stored) -> Bool {
        let entries = stored.entries.filter { $0.key != "" || !isTree }
        return entries.count == files.count
            && files.allSatisfy { path, bytes in
                // A debug build compares arrays element by element.
                guard let found = entries[path]?.bytes, found.count == bytes.count else { return false }
                return memcmp(found, bytes, bytes.count) == 0
            }
    }

    static let all = [
        Goods(name: "first", files: [("", noise(3_000, 1))]),
        Goods(name: "large", files: [("", noise(2_600_000, 2))]),
        Goods(name: "tree", files: [("a", noise(500, 3)), ("b", noise(1_200_000, 4)), ("c", []), ("d", noise(7, 5))]),
        Goods(name: "last", files: [("", noise(10, 6))]),
    ]

    private static func noise(_ count: Int, _ seed: UInt64) -> [UInt8] {
        var state = seed
        return (0..<count).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 56)
        }
    }
}

/// The steps of a sender that keeps to the protocol, without a wire.
private struct Sending {
    let world: World
    let goods: [Goods]
    /// Called before each step; a fault ends the connection there.
    var cut: () -> TransferError? = { nil }

    /// One attempt.
    /// - Returns: the receipt; nil where the receiver's process ended, or did not want the offer.
    func attempt(_ reception: Reception, _ transfer: TransferID) async throws -> Receipt? {
        let offer = Offer(transfer: transfer, items: goods.map(\.offered), senderName: "a test")
        let judged = await reception.judge(offer, from: world.peer)
        guard judged.acceptsAnything else {
            return await reception.receipt(of: transfer, from: world.peer, answered: false)
        }
        let verdict = reception.known.recognising(offer, judged, from: world.peer)
        var kept: [Int: [UInt64: KeptFile]] = [:]
        try? reception.readKept(of: transfer, from: world.peer) { item, file in
            kept[item, default: [:]][file.pathHash] = file
            return true
        }
        guard let incoming = try? reception.begin(transfer, from: world.peer) else { return nil }
        do throws(TransferError) {
            for (number, item) in goods.enumerated() {
                if verdict.items[number].present == item.digest {
                    try incoming.present(number, digest: item.digest(.lasting))
                } else {
                    try send(item, number, kept[number] ?? [:], to: incoming)
                }
            }
            try step()
            let receipt = try incoming.finish()
            if world.crash.hasCome { return nil }
            return reception.end(incoming, receipt, fault: nil)
        } catch {
            // A process that is gone does nothing more.
            if world.crash.hasCome { return nil }
            return reception.end(incoming, incoming.fail(error), fault: error)
        }
    }

    private func step() throws(TransferError) {
        if let fault = cut() { throw fault }
    }

    private func send(
        _ item: Goods, _ number: Int, _ kept: [UInt64: KeptFile], to incoming: IncomingTransfer
    ) throws(TransferError) {
        try step()
        try incoming.beginItem(number)
        for file in item.files {
            try step()
            let path = item.isTree ? try? SafeRelativePath(file.path) : nil
            var entry = FileEntry(path: path, executable: false, modified: nil, size: UInt64(file.bytes.count))
            entry.offset = kept[KeptFile.pathHash(file.path)].map { same($0, file.bytes) } ?? 0
            try incoming.beginFile(entry)
            var rest = file.bytes.dropFirst(Int(entry.offset))
            while !rest.isEmpty {
                try step()
                let piece = Array(rest.prefix(300_000))
                rest = rest.dropFirst(piece.count)
                var fault: TransferError?
                piece.withUnsafeBytes { bytes in
                    do throws(TransferError) { try incoming.write(bytes) } catch { fault = error }
                }
                if let fault { throw fault }
            }
            try incoming.endFile(digest: .of(.xxh3_128, file.bytes))
        }
        if item.isTree { try incoming.folderClosed(nil, modified: nil) }
        try incoming.endItem(digest: item.digest)
    }

    /// Bytes from the beginning on whose blocks are the same.
    private func same(_ kept: KeptFile, _ bytes: [UInt8]) -> UInt64 {
        var good = 0
        for digest in kept.digests {
            let end = min(Int(kept.size), good + 1 << kept.blockExponent)
            guard end <= bytes.count, Digest.of(.lasting, bytes[good..<end]) == digest else { break }
            good = end
        }
        return UInt64(good)
    }
}

@Suite("A receiver whose process ends", .timeLimit(.minutes(5)))
struct CrashSimulationTests {
    @Test(
        "after any call to disk or journal, everything is wholly there or not, and comes once in the end",
        arguments: [true, false])
    func everywhere(sameTransfer: Bool) async throws {
        let goods = Goods.all
        var calls = 0
        while true {
            let world = World()
            let sending = Sending(world: world, goods: goods)
            let transfer = TransferID()
            let first = try world.receiver()
            world.crash.schedule(after: calls)
            let receipt = try await sending.attempt(first, transfer)
            let hasCome = world.crash.hasCome
            world.crash.schedule(after: nil)
            if hasCome {
                world.inbox.crash()
            } else {
                #expect(receipt?.items.allSatisfy { $0.isStored } == true)
            }
            let second = try world.receiver()
            #expect(world.violations(goods) == [], "after \(calls) calls")
            let again = try await sending.attempt(second, sameTransfer ? transfer : TransferID())
            #expect(again?.items.allSatisfy { $0.isStored } == true, "after \(calls) calls")
            #expect(world.violations(goods) == [] && world.inbox.stored.count == goods.count, "after \(calls) calls")
            #expect(world.inbox.kept.isEmpty, "after \(calls) calls")
            guard hasCome else { break }
            calls += 1
        }
        // Every write, begin and end of every file, and every step of the commit.
        #expect(calls > 40)
    }

    @Test(
        "in any order of events, everything is there once in the end", arguments: 0..<150 as Range<UInt64>)
    func anyOrder(seed: UInt64) async throws {
        var random = Seeded(state: seed)
        let goods = Goods.all
        let world = World()
        var transfer = TransferID()
        var reception = try world.receiver()
        let faults: [TransferError.Code] = [
            .interrupted, .cancelled, .stopping, .noRoom, .storage, .unexpected, .protocolViolation, .notKept,
        ]
        for round in 0..<Int.random(in: 1...7, using: &random) {
            var left = Int.random(in: 0...45, using: &random)
            let code = faults.randomElement(using: &random) ?? .interrupted
            let crashes = Bool.random(using: &random)
            if crashes { world.crash.schedule(after: Int.random(in: 0...70, using: &random)) }
            let countdown = Mutex(left)
            left = 0
            var sending = Sending(world: world, goods: goods)
            sending.cut = {
                countdown.withLock { left in
                    left -= 1
                    return left < 0 && !crashes ? TransferError(code, "cut") : nil
                }
            }
            _ = try await sending.attempt(reception, transfer)
            let hasCome = world.crash.hasCome
            world.crash.schedule(after: nil)
            if hasCome {
                world.inbox.crash()
                reception = try world.receiver()
            } else if Bool.random(using: &random) {
                reception = try world.receiver()
            }
            #expect(world.violations(goods) == [], "seed \(seed), round \(round)")
            if Bool.random(using: &random) { transfer = TransferID() }
            if Int.random(in: 0..<4, using: &random) == 0 {
                let place = Int.random(in: 0..<400, using: &random)
                world.inbox.damage { entries in
                    for (path, entry) in entries {
                        guard case .file(var bytes, let executable, let modified) = entry, bytes.count > place else {
                            continue
                        }
                        bytes[place] ^= 1
                        entries[path] = .file(bytes, executable: executable, modified: modified)
                    }
                }
            }
        }
        let receipt = try await Sending(world: world, goods: goods).attempt(reception, transfer)
        #expect(receipt?.items.allSatisfy { $0.isStored } == true, "seed \(seed)")
        #expect(world.violations(goods) == [] && world.inbox.stored.count == goods.count, "seed \(seed)")
        #expect(world.inbox.kept.isEmpty, "seed \(seed)")
    }
}

/// Random numbers that are the same in each run.
private struct Seeded: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
