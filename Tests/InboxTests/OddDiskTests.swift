import Digests
import Foundation
import Glibc
import Sharing
import SystemCalls
import TestSupport
import Testing
import UniformTypes

@testable import Inbox

@Suite("An Inbox on a disk of any kind", .serialized)
struct OddDiskTests {
    private let folder = TemporaryFolder()
    private var disk: String { folder / "disk" }

    @Test(
        "is tried on every kind that Waft knows",
        .disabled(
            if: !OddDisk.missing.isEmpty, "not run here: \(OddDisk.missing); Scripts/setup tests has the programs"))
    func all() {}

    /// Mounts a disk. Not by Foundation, which waits for the end of the program that serves the disk.
    private func with(_ kind: OddDisk, _ body: () throws -> Void) throws {
        let back = folder / "back"
        mkdir(disk, 0o755)
        mkdir(back, 0o755)
        let commands = "disk='\(disk)' back='\(back)'; \(kind.mounting)"
        try #require(system("{ \(commands)\n} >/dev/null 2>&1") == 0, "\(commands)")
        defer { for place in [disk, back + "/upper"] { umount2(place, Int32(MNT_DETACH)) } }
        try body()
    }

    private func inbox() throws -> FileInbox {
        try FileInbox(path: disk + "/Inbox", reserve: .bytes(0), memory: MemoryOfInbox())
    }

    /// Stores a folder as a transfer does, with a digest that it computes from what comes.
    private func arrive(in inbox: FileInbox, as name: String) throws -> Arrival {
        var facts = try arrivalFacts(name)
        let staged = try inbox.stagedTree()
        var sums = ListingSums(.xxh3_128, keepsModes: staged.keepsModes)
        for (path, text) in [("a", "1"), ("b.sh", "22"), ("c", String(repeating: "3", count: 70_000))] {
            let entry = try entry(path, executable: path.hasSuffix(".sh"))
            try staged.add(entry, text)
            var contents = ContentSums(.xxh3_128)
            Array(text.utf8).withUnsafeBytes { contents.update($0) }
            sums.file(try place(path), executable: entry.executable, digests: contents.finalize())
        }
        try staged.makeFolder(try place("d"))
        sums.folder(try place("d"))
        facts.digest = sums.finalize().onDisk
        (facts.entries, facts.size) = (5, 70_003)
        return Arrival(number: ArrivalNumber(1), facts: facts, stored: try inbox.store(staged, as: name))
    }

    private func arrivalFacts(_ name: String) throws -> ArrivalFacts {
        ArrivalFacts(
            transfer: TransferID(), itemNumber: 0, itemsInOffer: 1,
            item: OfferedItem(kind: .tree, name: try SafeName(name), type: .data, size: 70_003, entries: 5),
            size: 70_003, digest: .of(.lasting, []), peer: .sample(1), senderName: "study", annotation: [:])
    }

    @Test(
        "stores a folder that is at once as it arrived, is known again, and can be taken and removed",
        arguments: OddDisk.here)
    func storing(kind: OddDisk) throws {
        try with(kind) {
            let inbox = try inbox()
            let arrival = try arrive(in: inbox, as: "notes")
            #expect(try InboxVerification.verify(arrival, arrived: now(), inbox: inbox.path).state == .ok)
            #expect(try inbox.digest(of: arrival, .lasting) == arrival.digest)
            #expect(try arrive(in: inbox, as: "notes").stored.name.text == "notes-1")
            mkdir(folder / "out", 0o755)
            let taken = try InboxLeaving.take(arrival, inbox: inbox.path, to: folder / "out")
            #expect(taken.hasLeft && contents(of: taken.path + "/b.sh") == Array("22".utf8))
            #expect((access(taken.path + "/b.sh", X_OK) == 0) == kind.keepsModes)
            for (text, stored) in [("first", "x.txt"), ("second", "x-1.txt")] {
                #expect(try inbox.store(try inbox.stagedFile(text), as: "x.txt").name.text == stored)
                #expect(contents(of: disk + "/Inbox/" + stored) == Array(text.utf8))
            }
            let file = try inbox.receive("hello", as: "y")
            #expect(try InboxLeaving.remove(file, inbox: inbox.path))
        }
    }

    @Test("gives a folder to such a disk, or says before the copy why it cannot", arguments: OddDisk.here)
    func takingThere(kind: OddDisk) throws {
        try with(kind) {
            let inbox = try FileInbox(path: folder / "Inbox", reserve: .bytes(0))
            let taken = try InboxLeaving.take(try arrive(in: inbox, as: "notes"), inbox: inbox.path, to: disk)
            #expect(taken.path == disk + "/notes" && taken.hasLeft)
            #expect(contents(of: taken.path + "/b.sh") == Array("22".utf8))
            for (files, isTaken) in [
                (["a:b"], kind.refusedCharacters.isEmpty), (["a.txt", "A.TXT"], kind.tellsCase),
                (["link"], kind.hasLinks),
            ] {
                let arrival =
                    files == ["link"]
                    ? try inbox.receiveTree([:], as: "odd")
                    : try inbox.receiveTree(
                        Dictionary(files.map { ($0, "1") }) { first, _ in first }, as: "odd", link: false)
                do throws(LeavingError) {
                    let taken = try InboxLeaving.take(
                        arrival, inbox: inbox.path, to: disk, name: safe("odd-\(files[0].utf8.count)"))
                    #expect(isTaken, "\(files)")
                    #expect(Set(listing(of: taken.path)) == Set(files))
                } catch {
                    #expect(!isTaken && error.code == .destination, "\(files): \(error)")
                    #expect(error.message.contains("the disk of \(disk)"), "\(error)")
                    _ = try InboxLeaving.remove(arrival, inbox: inbox.path)
                }
            }
            #expect(!listing(of: disk).contains { $0.hasPrefix(".waft-") })
        }
    }

    @Test("is asked what it can, and refuses the rest before the contents come", arguments: OddDisk.here)
    func abilities(kind: OddDisk) throws {
        try with(kind) {
            let inbox = try inbox()
            let abilities = try #require(inbox.staging).abilities
            #expect(abilities == DiskAbilities.ofInbox(at: inbox.path))
            #expect(abilities.hasLinks == kind.hasLinks && abilities.tellsCase == kind.tellsCase)
            #expect(abilities.refusedCharacters == kind.refusedCharacters)
            #expect(abilities.keepsModes == kind.keepsModes)
            func isTaken(_ name: String = "a", _ change: (inout DiskNeeds) -> Void = { _ in }) throws -> Bool {
                var (item, needs) = (
                    OfferedItem(kind: .tree, name: try SafeName(name), type: .data, size: 1), DiskNeeds()
                )
                change(&needs)
                item.needs = needs
                return inbox.refusal(of: item, isSealed: false) == nil
            }
            let (hasOddName, hasLinks, isAlike) = (
                try isTaken { $0.add("x?") }, try isTaken { $0.links = true }, try isTaken { $0.alike = true }
            )
            #expect(try isTaken())
            #expect(try isTaken("a:b") == kind.refusedCharacters.isEmpty)
            #expect(hasOddName == kind.refusedCharacters.isEmpty)
            #expect(hasLinks == kind.hasLinks && isAlike == kind.tellsCase)
            var long = OfferedItem(kind: .tree, name: safe("a"), type: .data, size: 1)
            long.needs = DiskNeeds()
            for (bytes, isSealed, isTaken) in [(251, true, true), (252, true, false), (255, false, true)] {
                long.needs?.longestName = bytes
                #expect((inbox.refusal(of: long, isSealed: isSealed) == nil) == isTaken, "\(bytes)")
            }
            #expect(listing(of: disk + "/.waft-staging/Inbox") == ["lock"], "nothing stays of the trial")
        }
    }

    @Test(
        "ends a folder that it cannot hold at once, with the reason, if its sender did not say", arguments: OddDisk.here
    )
    func unsaid(kind: OddDisk) throws {
        try with(kind) {
            let inbox = try inbox()
            func fault(_ body: (any StagedItem) throws -> Void) throws -> TransferError? {
                let staged = try inbox.stagedTree()
                defer { staged.discard() }
                do {
                    try body(staged)
                    return nil
                } catch let fault as TransferError {
                    return fault
                }
            }
            let link = try fault {
                try $0.makeLink(try place("l"), target: try SafeLinkTarget("a", of: try place("l")))
            }
            let name = try fault { try $0.add(try entry("a:b"), "1") }
            let alike = try fault { staged in
                try staged.add(try entry("A.TXT"), "1")
                try staged.add(try entry("a.txt"), "1")
            }
            #expect((link == nil) == kind.hasLinks && (alike == nil) == kind.tellsCase)
            #expect((name == nil) == kind.refusedCharacters.isEmpty)
            for (fault, words) in [
                (link, "has no symbolic links"), (name, "takes no names with :"), (alike, "capital"),
            ] {
                guard let fault else { continue }
                #expect(fault.code == .unsafeName && fault.message.contains("the disk of the Inbox"), "\(fault)")
                #expect(fault.message.contains(words), "\(fault)")
            }
            let single = Result { try inbox.store(try inbox.stagedFile("1"), as: "a:b") }
            #expect(((try? single.get()) != nil) == kind.refusedCharacters.isEmpty)
            if case .failure(let fault as TransferError) = single { #expect(fault.code == .unsafeName, "\(fault)") }
        }
    }
}

private final class MemoryOfInbox: InboxMemory {
    func knownInbox(at path: String) throws(JournalError) -> KnownInbox? { nil }
    func remember(_ inbox: KnownInbox, at path: String) throws(JournalError) {}
}
