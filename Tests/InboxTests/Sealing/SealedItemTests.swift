import ContentCheck
import Digests
import Foundation
import Glibc
import Sharing
import TestSupport
import Testing

@testable import Inbox

@Suite("Sealed items")
struct SealedItemTests {
    @Test(
        "a file is sealed from its first byte on, can be received while locked, and read after the unlock",
        arguments: [0, 1, 65_535, 65_536, 65_537, 300_000], ProtectionClass.allCases.filter(\.isSealed))
    func file(size: Int, protection: ProtectionClass) throws {
        let place = try SealedInbox()
        let bytes = noise(size)
        // The class complete is received while unlocked only.
        if protection == .complete { try place.unlock() }
        let arrival = try place.receive(bytes, as: "report.pdf", protection)
        place.lock()
        #expect(arrival.stored.name.text == "report.pdf")
        #expect(arrival.stored.path == place.path + "/report.pdf.age")
        #expect(mode(of: arrival.stored.path) == 0o444 & ~currentUmask)
        let sealed = try #require(contents(of: arrival.stored.path))
        #expect(arrival.facts.digest == .of(.xxh3_128, sealed))
        #expect(sealed.starts(with: "age-encryption.org/v1\n".utf8))
        if size > 64 { #expect(!Data(sealed).range(of: Data(bytes.prefix(64))).exists) }
        #expect(place.inbox.contentDigests(of: arrival) == nil)
        #expect(place.inbox.seemsPresent(arrival))
        #expect(throws: SealedFileError.self) { try place.opened(arrival.stored.path) }
        try place.unlock()
        #expect(try place.opened(arrival.stored.path) == bytes)
        #expect(place.inbox.contentDigests(of: arrival)?.lasting == .of(.lasting, bytes))
        #expect(try place.inbox.digest(of: arrival, .xxh3_128) == .of(.xxh3_128, bytes))
    }

    @Test("a file whose name leaves no room for the ending is stored under a shorter one, numbered if it is taken")
    func longNames() throws {
        let place = try SealedInbox()
        for name in [String(repeating: "あ", count: 84) + ".t", String(repeating: "n", count: 251)] {
            let given = try SafeName(name)
            let names = try (0..<2).map { _ in
                try place.receive(Array("hello".utf8), as: name, .untilFirstUnlock).stored.name
            }
            #expect(Set(names).count == 2)
            for name in names {
                #expect(name.text.utf8.count <= SealedName.maximumBytes)
                #expect(name.isNumbered(given))
                #expect(name.split.suffix == given.split.suffix)
            }
        }
    }

    @Test("an item of the class complete stops at the lock, is kept without its key, and goes on after the unlock")
    func complete() throws {
        let place = try SealedInbox()
        #expect(fault { _ = try place.stage("a", .complete) } == .stopping)
        try place.unlock()
        let staged = try place.stage("a", .complete)
        try staged.beginFile(try entry(nil, size: 200_000))
        try staged.write(noise(100_000))
        place.lock()
        #expect(fault { try staged.write(noise(10)) } == .stopping)
        staged.keep()
        #expect(try !place.inbox.hasKept(place.key("a", .complete)))
        try place.unlock()
        #expect(try place.inbox.hasKept(place.key("a", .complete)))
    }

    private func fault(_ body: () throws -> Void) -> TransferError.Code? {
        do { try body() } catch { return (error as? TransferError)?.code }
        return nil
    }

    @Test("a tree keeps its folders and links; each of its files is sealed, and its digest is that of its contents")
    func tree() throws {
        let place = try SealedInbox()
        let staged = try place.stage("photos", kind: .tree)
        var listing = TreeListing(.lasting)
        // In byte order of the own names, and not of those on the disk.
        let files = [("a", noise(100)), ("a-b", noise(70_000)), ("d/e", noise(3))]
        for (path, bytes) in files {
            let path = try SafeRelativePath(path)
            if let folder = path.parent {
                try staged.makeFolder(folder)
                listing.folder(folder)
            }
            try staged.beginFile(FileEntry(path: path, executable: false, modified: nil, size: UInt64(bytes.count)))
            try staged.write(bytes)
            try staged.endFile()
            listing.file(path, executable: false, digest: .of(.lasting, bytes))
        }
        let link = try SafeRelativePath("link")
        try staged.makeLink(link, target: try SafeLinkTarget("a", of: link))
        listing.link(link, target: try SafeLinkTarget("a", of: link))
        let contents = listing.finalize()
        let arrival = try place.store(staged, as: "photos", kind: .tree, of: contents, size: 70_103)
        #expect(arrival.stored.path == place.path + "/photos")
        #expect(everything(below: arrival.stored.path) == ["a-b.age", "a.age", "d", "d/e.age", "link"])
        #expect(try InboxVerification.verify(arrival, arrived: now(), inbox: place.path).isLocked)
        try place.unlock()
        #expect(try place.inbox.digest(of: arrival, .lasting) == contents)
        #expect(try place.opened(arrival.stored.path + "/a-b.age") == files[1].1)
        let finding = try InboxVerification.verify(
            arrival, arrived: now(), inbox: place.path, keys: FileKeys(place.vault))
        #expect(finding == ItemFinding(state: .ok))
    }

    @Test("a name is taken by a sealed item and by one that is not")
    func names() throws {
        let place = try SealedInbox()
        _ = try place.receive([1], as: "a.txt")
        _ = try place.receive([2], as: "a.txt", .none)
        _ = try place.receive([3], as: "a.txt")
        #expect(listing(of: place.path) == ["a-1.txt", "a-2.txt.age", "a.txt.age"])
    }

    @Test("a liar is found while it is sealed")
    func liar() throws {
        let place = try SealedInbox()
        place.inbox.use(ContentChecker(database: .none))
        let staged = try place.stage("a.png")
        let page = Array("%PDF-1.7\n".utf8) + noise(70_000)
        try staged.beginFile(try entry(nil, size: UInt64(page.count)))
        try staged.write(page)
        try staged.endFile()
        let claim = ContentClaim(kind: .file, type: uniform("public.png"))
        #expect(try staged.contentVerdict(on: claim)?.outcome == .lying)
    }

    @Test("a receiver without keys takes nothing that is to be sealed")
    func noKeys() throws {
        let folder = TemporaryFolder()
        let inbox = try FileInbox(path: folder / "Inbox", reserve: .bytes(0))
        #expect(
            faultCode {
                _ = try inbox.stage(
                    transfer: TransferID(), item: 0, isTree: false, partial: nil, protection: .unlessOpen)
            } == .storage)
    }

    @Test("a flipped bit, swapped chunks, a lost end and another file's header are changes", arguments: 0..<5)
    func changes(kind: Int) throws {
        let place = try SealedInbox()
        let arrival = try place.receive(noise(200_000), as: "a")
        let other = try place.receive(noise(200_000, seed: 2), as: "b")
        var bytes = try #require(contents(of: arrival.stored.path))
        let start = bytes.count - 200_000 - 4 * 16
        let chunk = 65_552
        switch kind {
        case 0: bytes[start + 100_000] ^= 1
        case 1:
            let (first, second) = (bytes[start..<start + chunk], bytes[start + chunk..<start + 2 * chunk])
            bytes.replaceSubrange(start..<start + 2 * chunk, with: second + first)
        case 2: bytes.removeLast(bytes.count - start - 2 * chunk)
        case 3:
            bytes.replaceSubrange(..<start, with: try #require(contents(of: other.stored.path)).prefix(start))
        default: bytes += [0]
        }
        unlink(arrival.stored.path)
        #expect(FileManager.default.createFile(atPath: arrival.stored.path, contents: Data(bytes)))
        #expect(try InboxVerification.verify(arrival, arrived: now(), inbox: place.path).state == .changed)
        try place.unlock()
        #expect(throws: SealedFileError.self) { try place.opened(arrival.stored.path) }
        // A thief who could also change the journal is found by the seal.
        var forged = arrival
        forged.facts.digest = .of(.xxh3_128, bytes)
        let finding = try InboxVerification.verify(
            forged, arrived: now(), inbox: place.path, keys: FileKeys(place.vault))
        #expect(finding.state == .changed)
        mkdir(place.folder / "out", 0o755)
        #expect(throws: LeavingError.self) {
            _ = try InboxLeaving.take(
                forged, inbox: place.path, to: place.folder / "out", keys: FileKeys(place.vault))
        }
        #expect(listing(of: place.folder / "out") == [])
    }

    @Test(
        "another file that was sealed to the same keys is not opened as the item that arrived",
        arguments: [false, true])
    func replaced(_ isTree: Bool) throws {
        let place = try SealedInbox()
        let (bytes, evil) = (noise(70_000), noise(70_000, seed: 2))
        func receive(_ bytes: [UInt8], _ name: String) throws -> Arrival {
            guard isTree else { return try place.receive(bytes, as: name) }
            let staged = try place.stage(name, kind: .tree)
            try staged.beginFile(try entry("b", size: UInt64(bytes.count)))
            try staged.write(bytes)
            try staged.endFile()
            var listing = TreeListing(.xxh3_128)
            listing.file(try SafeRelativePath("b"), executable: false, digest: .of(.xxh3_128, bytes))
            return try place.store(staged, as: name, kind: .tree, of: listing.finalize(), size: bytes.count)
        }
        let arrival = try receive(bytes, "a")
        let other = try receive(evil, "o")
        try place.unlock()
        let keys = FileKeys(place.vault)
        let clear = try #require(ClearFolder(candidates: ["/dev/shm/waft-test-\(getpid())-\(isTree)"]))
        defer { clear.end() }
        _ = clear.folder(of: "reader")
        _ = try clear.copy(arrival, inbox: place.path, keys: keys, for: "reader")
        // Under the other's name, with its size.
        let below = isTree ? "/b.age" : ""
        #expect(rename(other.stored.path + below, arrival.stored.path + below) == 0)
        func code(_ body: () throws -> Void) -> LeavingError.Code? {
            do { try body() } catch { return (error as? LeavingError)?.code }
            return nil
        }
        #expect(code { _ = try clear.copy(arrival, inbox: place.path, keys: keys, for: "reader") } == .mismatch)
        #expect(listing(of: clear.path + "/reader") == [])
        mkdir(place.folder / "out", 0o755)
        #expect(
            code { _ = try InboxLeaving.take(arrival, inbox: place.path, to: place.folder / "out", keys: keys) }
                == .mismatch)
        #expect(listing(of: place.folder / "out") == [])
        guard !isTree else { return }
        #expect(ItemReader(inbox: place.path, keys: keys).beginning(of: arrival, limit: 100_000) == nil)
        let sink = open("/dev/null", O_WRONLY | O_CLOEXEC)
        defer { close(sink) }
        #expect(code { try ItemReader(inbox: place.path, keys: keys).write(arrival, to: sink) } == .mismatch)
    }

    @Test("an item leaves the Inbox in the clear, and only while it can be opened")
    func taking() throws {
        let place = try SealedInbox()
        let bytes = noise(150_000)
        let arrival = try place.receive(bytes, as: "a.bin")
        mkdir(place.folder / "out", 0o755)
        let locked = #expect(throws: LeavingError.self) {
            _ = try InboxLeaving.take(
                arrival, inbox: place.path, to: place.folder / "out", keys: FileKeys(place.vault))
        }
        #expect(locked?.code == .locked)
        #expect(listing(of: place.folder / "out") == [])
        try place.unlock()
        _ = try InboxLeaving.take(arrival, inbox: place.path, to: place.folder / "out", keys: FileKeys(place.vault))
        #expect(contents(of: place.folder / "out/a.bin") == bytes)
        #expect(listing(of: place.path).filter { !$0.hasPrefix(".") } == [])
    }
}

extension Optional {
    fileprivate var exists: Bool { self != nil }
}
