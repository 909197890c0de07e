import Digests
import Foundation
import Glibc
import Sharing
import Synchronization
import SystemCalls
import TestSupport
import Testing

@testable import Inbox

/// Clocks that the test moves. The wall clock is ahead of the system's.
private final class Ahead: Sendable {
    private let seconds = Mutex<(passed: Int64, set: Int64)>((0, 0))

    func pass(_ time: Int64) { seconds.withLock { $0.passed += time } }

    /// Sets the wall clock; no time passes.
    func set(_ time: Int64) { seconds.withLock { $0.set += time } }

    func time(settling: Duration = .zero) -> KeptTime {
        KeptTime(now: { self.now }, steady: { .seconds(self.seconds.withLock { $0.passed }) }, settling: settling)
    }

    var now: Timestamp {
        var now = Timestamp.now
        now.seconds += seconds.withLock { $0.passed + $0.set }
        return now
    }
}

@Suite("The kept parts of interrupted items")
struct PartialTests {
    private let folder = TemporaryFolder()
    private let clock = Ahead()

    private var staging: String { folder / ".waft-staging/Inbox" }

    private func open(
        _ bounds: PartialBounds = .standard, reserve: DiskReserve = .bytes(0), settling: Duration = .zero
    ) throws -> FileInbox {
        try FileInbox(
            path: folder / "Inbox", reserve: reserve, partials: bounds, time: clock.time(settling: settling),
            opening: .inOneCall, placement: .byRename)
    }

    private func key(_ name: String, size: UInt64 = 4_000_000, kind: ItemKind = .file) throws -> PartialKey {
        let item = OfferedItem(kind: kind, name: safe(name), type: uniform("public.data"), size: size)
        return try #require(PartialKey(item, from: .sample(1)))
    }

    /// Writes a part of a file, and lets the Inbox keep it.
    private func keep(_ name: String, _ bytes: [UInt8], in inbox: FileInbox, size: UInt64 = 4_000_000) throws {
        let staged = try inbox.stage(transfer: TransferID(), item: 0, isTree: false, partial: try key(name))
        try staged.beginFile(try entry(nil, size: size))
        try staged.write(bytes)
        staged.keep()
    }

    private func names(_ prefix: String = "p-") -> [String] { listing(of: staging).filter { $0.hasPrefix(prefix) } }

    @Test("keeps to the contract of all Inboxes")
    func contract() throws {
        for opening in [BeneathOpening.inOneCall, .nameByName] {
            let folder = TemporaryFolder()
            let inbox = try FileInbox(
                path: folder / "Inbox", reserve: .bytes(0), opening: opening, placement: .byRename)
            #expect(InboxContract(inbox, names: { listing(of: folder / "Inbox") }).violations() == [])
            #expect(listing(of: folder / ".waft-staging/Inbox") == ["lock"])
        }
    }

    @Test("it is found again by the next receiver, and everything else is swept")
    func nextReceiver() throws {
        do { try keep("a", Array(repeating: 7, count: 2_500_000), in: try open()) }
        makeFile(staging + "/0123.0", "x")
        makeFile(staging + "/p-not-a-key", "x")
        makeFile(staging + "/o-0123456789ABCDEF0123456789ABCDEF", "x")
        let inbox = try open()
        #expect(names().count == 1 && listing(of: staging).count == 2)
        #expect(inbox.partials.count == 1)
        var files: [KeptFile] = []
        inbox.readKept(try key("a"), .xxh3_128) {
            files.append($0)
            return true
        }
        #expect(files.map(\.size) == [2_500_000])
        #expect(
            files.first?.digests == [
                .of(.xxh3_128, Array(repeating: 7, count: 1 << 20)),
                .of(.xxh3_128, Array(repeating: 7, count: 1 << 20)),
                .of(.xxh3_128, Array(repeating: 7, count: 2_500_000 - 2 << 20)),
            ])
    }

    @Test("room that was put aside for the rest of a file is given back")
    func givesRoomBack() throws {
        let inbox = try open()
        try keep("a", Array(repeating: 7, count: 100_000), in: inbox, size: 64 << 20)
        let status = try #require(lstatus(of: staging + "/" + names()[0]))
        #expect(status.st_blocks * 512 < 1 << 20)
        #expect(inbox.partials.bytes < 1 << 20)
    }

    @Test(
        "a resumed file has the mode of a new one, whatever its mode was before", arguments: [true, false],
        [true, false])
    func modes(before: Bool, now: Bool) throws {
        let inbox = try open()
        let first = try inbox.stage(transfer: TransferID(), item: 0, isTree: false, partial: try key("a"))
        try first.beginFile(try entry(nil, size: 9, executable: before))
        try first.write([1, 2, 3])
        first.keep()
        let again = try inbox.stage(transfer: TransferID(), item: 0, isTree: false, partial: try key("a"))
        var resumed = try entry(nil, size: 4, executable: now, modified: Timestamp(seconds: 1_000, nanoseconds: 0))
        resumed.offset = 3
        try again.resumeFile(resumed) { _ in }
        try again.write([4])
        try again.endFile()
        try inbox.store(again, as: "a")
        #expect(mode(of: folder / "Inbox/a") == (now ? 0o555 : 0o444) & ~currentUmask)
        #expect(contents(of: folder / "Inbox/a") == [1, 2, 3, 4])
        #expect(lstatus(of: folder / "Inbox/a")?.st_mtim.tv_sec == 1_000)
    }

    @Test("a kept item that was changed on the disk is not resumed", arguments: ["folder", "link", "pipe"])
    func somethingElse(what: String) throws {
        let inbox = try open()
        try keep("a", [1, 2, 3], in: inbox)
        let path = staging + "/" + names()[0]
        unlink(path)
        switch what {
        case "folder": mkdir(path, 0o700)
        case "link": symlink("/etc/passwd", path)
        default: mkfifo(path, 0o600)
        }
        var files = 0
        inbox.readKept(try key("a"), .xxh3_128) { _ in
            files += 1
            return true
        }
        #expect(files == 0)
        let again = try inbox.stage(transfer: TransferID(), item: 0, isTree: false, partial: try key("a"))
        try again.add(try entry(nil, size: 1), "x")
        try inbox.store(again, as: "a")
        #expect(contents(of: folder / "Inbox/a") == Array("x".utf8))
    }

    @Test("leftovers of a tree go, and the times of its folders stay as they were set")
    func leftovers() throws {
        let inbox = try open()
        let treeKey = try key("t", kind: .tree)
        let first = try inbox.stage(transfer: TransferID(), item: 0, isTree: true, partial: treeKey)
        try first.makeFolder(try place("d"))
        try first.add(try entry("d/keep", size: 1), "k")
        try first.add(try entry("d/go", size: 1), "g")
        try first.makeFolder(try place("d/deep"))
        try first.makeFolder(try place("d/deep/er"))
        try first.add(try entry("d/deep/er/f", size: 1), "f")
        first.keep()
        let again = try inbox.stage(transfer: TransferID(), item: 0, isTree: true, partial: treeKey)
        try again.makeFolder(try place("d"))
        var resumed = try entry("d/keep", size: 1)
        resumed.offset = 1
        try again.resumeFile(resumed) { _ in }
        try again.endFile()
        try again.closeFolder(try place("d"), modified: Timestamp(seconds: 5_000, nanoseconds: 6))
        try again.closeFolder(nil, modified: Timestamp(seconds: 7_000, nanoseconds: 8))
        try again.removeLeftovers()
        try inbox.store(again, as: "t")
        #expect(everything(below: folder / "Inbox/t") == ["d", "d/keep"])
        #expect(lstatus(of: folder / "Inbox/t/d")?.st_mtim.tv_sec == 5_000)
        #expect(lstatus(of: folder / "Inbox/t")?.st_mtim.tv_sec == 7_000)
        #expect(listing(of: staging) == ["lock"])
    }

    // MARK: Bounds

    @Test("it lives for its lifetime, counted from its last use, also over a restart")
    func lifetime() throws {
        let bounds = PartialBounds(lifetime: .seconds(1_000), quota: 1 << 40)
        do {
            let inbox = try open(bounds)
            try keep("old", [1], in: inbox)
            clock.pass(600)
            try keep("new", [1], in: inbox)
            #expect(inbox.partials.count == 2)
            clock.pass(600)
            #expect(inbox.partials.count == 1)
            #expect(try ["old", "new"].map { inbox.hasKept(try key($0)) } == [false, true])
        }
        // The disk records the time of a write by the system's clock, which has not moved.
        #expect(try open(bounds).partials.count == 0)
        #expect(names().isEmpty)
    }

    @Test("a wall clock that jumps, forward or back, makes nothing too old", arguments: [40, -40])
    func clockJumps(days: Int64) throws {
        let bounds = PartialBounds(lifetime: .seconds(7 * 86_400), quota: 1 << 40)
        do { try keep("earlier", [1], in: try open(bounds)) }
        // A receiver that starts with a wrong clock finds the leftovers of an earlier receiver.
        clock.set(days * 86_400)
        let inbox = try open(bounds, settling: CautiousClock.settling)
        try keep("now", [1], in: inbox)
        #expect(inbox.partials.count == 2)
        clock.set(-days * 86_400)
        clock.pass(660)
        #expect(inbox.partials.count == 2)
        // The clock jumps later, and stays wrong.
        clock.set(days * 86_400)
        for _ in 0..<24 {
            clock.pass(3_600)
            #expect(inbox.partials.count == 2)
        }
        // The clock jumps back, or further ahead.
        clock.set(-2 * days * 86_400)
        #expect(inbox.partials.count == 2)
        clock.set(days * 86_400)
        clock.pass(7 * 86_400)
        #expect(inbox.partials.count == 0)
    }

    @Test("the kept items of one peer have their own limit, the oldest go first, and other peers lose nothing")
    func oneOwner() throws {
        let inbox = try open()
        for name in ["a", "b", "c"] {
            try keep(name, Array(repeating: 1, count: 100_000), in: inbox)
            clock.pass(1)
        }
        let coming = OfferedItem(kind: .file, name: safe("a"), type: uniform("public.data"), size: 4_000_000)
        inbox.boundKept(of: .sample(2), to: 0, besides: [])
        #expect(inbox.partials.count == 3)
        inbox.boundKept(of: .sample(1), to: 150_000, besides: [coming])
        #expect(try ["a", "b", "c"].map { inbox.hasKept(try key($0)) } == [true, false, true])
        // More is kept than is coming, so the kept part would not count.
        let small = OfferedItem(kind: .file, name: safe("c"), type: uniform("public.data"), size: 1)
        inbox.boundKept(of: .sample(1), to: 1 << 40, besides: [small])
        #expect(try ["a", "c"].map { inbox.hasKept(try key($0)) } == [true, false])
        #expect(names().count == 1)
    }

    @Test("a time that the sender has set makes it neither older nor younger")
    func senderTimes() throws {
        let bounds = PartialBounds(lifetime: .seconds(1_000), quota: 1 << 40)
        do {
            let inbox = try open(bounds)
            let staged = try inbox.stage(transfer: TransferID(), item: 0, isTree: false, partial: try key("a"))
            try staged.beginFile(try entry(nil, size: 1, modified: Timestamp(seconds: 1, nanoseconds: 0)))
            try staged.write([1])
            try staged.endFile()
            staged.keep()
            utimensat(AT_FDCWD, staging + "/" + names()[0], nil, 0)
        }
        #expect(try open(bounds).partials.count == 1)
    }

    @Test("over its quota the oldest goes first, and the latest stays whatever its size")
    func quota() throws {
        let inbox = try open(PartialBounds(lifetime: .seconds(1_000), quota: 250_000))
        for name in ["a", "b", "c"] {
            try keep(name, Array(repeating: 1, count: 100_000), in: inbox)
            clock.pass(1)
        }
        #expect(try ["a", "b", "c"].map { inbox.hasKept(try key($0)) } == [false, true, true])
        try keep("huge", Array(repeating: 1, count: 1_000_000), in: inbox)
        #expect(try ["b", "c", "huge"].map { inbox.hasKept(try key($0)) } == [false, false, true])
        #expect(names().count == 1)
    }

    @Test("with a quota of nothing, nothing is kept")
    func noQuota() throws {
        let inbox = try open(PartialBounds(lifetime: .seconds(1_000), quota: 0))
        try keep("a", [1], in: inbox)
        #expect(names().isEmpty && inbox.partials.count == 0)
    }

    @Test("it counts as free room, and goes, oldest first, when room is needed")
    func makesRoom() throws {
        let inbox = try open()
        let before = try inbox.freeRoom()
        try keep("a", Array(repeating: 1, count: 3_000_000), in: inbox)
        clock.pass(1)
        try keep("b", Array(repeating: 1, count: 3_000_000), in: inbox)
        // A lower bound, because other programs use this disk too.
        #expect(inbox.staging?.partials.removable.bytes ?? 0 >= 6_000_000)
        #expect(try inbox.freeRoom() + (1 << 30) > before)
        let disk = try DiskRoom.free(onFileSystemOf: try #require(inbox.staging).folder.raw)
        _ = try inbox.stage(
            transfer: TransferID(), item: 0, isTree: false, partial: try key("large", size: disk + (8 << 30)))
        #expect(try ["a", "b"].map { inbox.hasKept(try key($0)) } == [false, false])
    }

    @Test("an item that is being written is never removed to make room")
    func inUse() throws {
        let inbox = try open(PartialBounds(lifetime: .seconds(10), quota: 1))
        let staged = try inbox.stage(transfer: TransferID(), item: 0, isTree: false, partial: try key("a"))
        try staged.beginFile(try entry(nil, size: 3))
        try staged.write([1, 2, 3])
        clock.pass(100)
        inbox.staging?.partials.trim()
        #expect(inbox.staging?.partials.removeOldest() == false)
        try staged.endFile()
        try inbox.store(staged, as: "a")
        #expect(contents(of: folder / "Inbox/a") == [1, 2, 3])
    }

    @Test("is not resumed if it is in the Inbox too, as after a crash between two links")
    func secondName() throws {
        let (whole, name) = ([UInt8]([1, 2, 3]), Partials.name(of: try key("a", size: 3)))
        do {
            let inbox = try open()
            try keep("a", whole, in: inbox, size: 3)
            #expect(names() == [name])
            #expect(link(staging + "/" + name, folder / "Inbox/a") == 0)
            let staged = try inbox.stage(transfer: TransferID(), item: 0, isTree: false, partial: try key("a", size: 3))
            var resumed = try entry(nil, size: 4)
            resumed.offset = 2
            #expect(faultCode { try staged.resumeFile(resumed) { _ in } } == .notKept)
            staged.keep()
        }
        makeFile(folder / "Inbox/b")
        #expect(link(folder / "Inbox/b", staging + "/" + Partials.name(of: try key("b"))) == 0)
        _ = try open()
        #expect(names().isEmpty)
        #expect(contents(of: folder / "Inbox/a") == whole && contents(of: folder / "Inbox/b") == [])
    }

    // MARK: Consents

    @Test("a consent is remembered with its count over a restart, until it is taken back or too old")
    func consents() throws {
        let offer = Offer.sample(items: 3)
        let consent = ConsentKey(offer, from: .sample(1))
        let bounds = PartialBounds(lifetime: .seconds(1_000), quota: 1 << 30)
        let begun = ConsentMark(stored: 2, begun: .init(offer.transfer, from: .sample(1), arrivals: 1))
        do {
            let inbox = try open(bounds)
            #expect(inbox.mark(of: consent) == nil)
            inbox.setMark(of: consent, ConsentMark(stored: 0))
            #expect(inbox.mark(of: consent) == ConsentMark(stored: 0))
            inbox.setMark(of: consent, begun)
        }
        do {
            let inbox = try open(bounds)
            #expect(inbox.mark(of: consent) == begun)
            inbox.changeMarks { mark in
                #expect(mark == begun)
                return ConsentMark(stored: 3)
            }
            #expect(inbox.mark(of: consent) == ConsentMark(stored: 3))
            #expect(inbox.mark(of: ConsentKey(offer, from: .sample(2))) == nil)
            // An empty file, as after a power cut.
            makeFile(staging + "/" + Partials.name(of: consent))
            #expect(inbox.mark(of: consent) == ConsentMark(stored: 0))
            inbox.changeMarks { $0 }
            #expect(inbox.mark(of: consent) == nil)
            inbox.setMark(of: consent, nil)
            inbox.setMark(of: consent, ConsentMark(stored: 1))
            clock.pass(1_001)
            #expect(inbox.mark(of: consent) == nil)
        }
        #expect(try open(bounds).mark(of: consent) == nil)
        #expect(names("o-").isEmpty)
    }

    @Test("consents that are too old are removed also while the receiver runs on")
    func consentsOfMonths() throws {
        let inbox = try open(PartialBounds(lifetime: .seconds(1_000), quota: 1 << 30))
        let offer = Offer.sample(items: 3)
        let keys = (0..<Partials.consentsBetweenLooks).map { ConsentKey(offer, from: .sample(UInt8($0))) }
        for key in keys.dropLast() { inbox.setMark(of: key, ConsentMark(stored: 0)) }
        clock.pass(1_001)
        // It has been counted.
        inbox.setMark(of: keys[0], ConsentMark(stored: 1))
        #expect(names("o-").count == keys.count - 1)
        inbox.setMark(of: keys[keys.count - 1], ConsentMark(stored: 0))
        #expect(names("o-").isEmpty)
    }
}
