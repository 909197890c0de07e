import CLinuxShims
import Foundation
import Glibc
import Sharing
import Synchronization
import TestSupport
import Testing

@testable import Inbox

/// A memory of known Inboxes in place of the journal.
private final class Memory: InboxMemory {
    private let known = Mutex<[String: KnownInbox]>([:])

    func knownInbox(at path: String) -> KnownInbox? { known.withLock { $0[path] } }
    func remember(_ inbox: KnownInbox, at path: String) { known.withLock { $0[path] = inbox } }
}

@Suite("The Inbox is known again")
struct RecognitionTests {
    private let folder = TemporaryFolder()
    private let memory = Memory()
    private var path: String { folder / "Inbox" }
    private var mark: String { path + "/.waft-inbox" }

    private func open() throws -> FileInbox { try FileInbox(path: path, reserve: .bytes(0), memory: memory) }

    private func store(_ name: String, in inbox: FileInbox) throws {
        _ = try inbox.freeRoom()
        try inbox.store(try inbox.stagedFile(name), as: name)
    }

    private func id() -> String? { contents(of: mark).map { String(decoding: $0, as: UTF8.self) } }

    @Test("at the first start it is marked with 128 random bits, which no user can write and no list shows")
    func first() throws {
        try store("a", in: try open())
        let text = try #require(id())
        #expect(text.utf8.count == 33 && text.last == "\n")
        #expect(mode(of: mark) == 0o444)
        #expect(memory.knownInbox(at: path)?.id == String(text.dropLast()))
        #expect(try InboxListing.entries(at: path).map(\.name) == ["a"])
        try store("b", in: try open())
        #expect(id() == text)
    }

    @Test(
        "a mark that a handler or a person has removed or damaged is written again",
        arguments: [nil, "", "x\n"] as [String?])
    func markLost(text: String?) throws {
        let before: String?
        do {
            let inbox = try open()
            before = id()
            unlink(mark)
            if let text { makeFile(mark, text) }
            try store("a", in: inbox)
            #expect(id() == before)
            #expect(mode(of: mark) == 0o444)
        }
        unlink(mark)
        try store("b", in: try open())
        #expect(id() == before)
    }

    @Test("a removed Inbox is made again if its disk is there, with the same mark")
    func removed() throws {
        let inbox = try open()
        let before = id()
        try FileManager.default.removeItem(atPath: path)
        try store("a", in: inbox)
        #expect(id() == before)
        #expect(listing(of: path) == [".waft-inbox", "a"])
    }

    @Test("an Inbox that was moved away and back, or restored with its mark, is the same one")
    func restored() throws {
        let inbox = try open()
        let before = try #require(id())
        #expect(rename(path, folder / "old") == 0)
        mkdir(path, 0o700)
        makeFile(mark, before)
        try store("a", in: inbox)
        #expect(id() == before)
    }

    @Test("nothing is stored in another folder, at the start or later, until it is adopted", arguments: [false, true])
    func another(isMarked: Bool) throws {
        let inbox = try open()
        try store("first", in: inbox)
        let begun = try inbox.stagedFile("begun")
        let before = id()
        #expect(rename(path, folder / "old") == 0)
        mkdir(path, 0o700)
        if isMarked { makeFile(mark, String(repeating: "0", count: 32) + "\n") }
        let lying = listing(of: path)
        #expect(fault { _ = try inbox.freeRoom() } == .anotherInbox)
        #expect(fault { try inbox.store(begun, as: "begun") } == .anotherInbox)
        #expect(listing(of: path) == lying)
        try inbox.adopt()
        try store("second", in: inbox)
        #expect(listing(of: path) == [".waft-inbox", "second"])
        #expect(id() != before)
    }

    @Test("a receiver that starts without its Inbox makes nothing there, and stores when it has come")
    func late() async {
        await #expect(processExitsWith: .success) {
            let folder = TemporaryFolder()
            let memory = Memory()
            try inPrivateMounts {
                let (disk, mounted) = (folder / "disk", folder / "mounted")
                for place in [disk, mounted] { mkdir(place, 0o700) }
                #expect(CLinuxShims_mount_tmpfs(mounted, "8m") == 0)
                #expect(CLinuxShims_mount_bind(mounted, disk) == 0)
                defer { umount2(mounted, Int32(MNT_DETACH)) }
                for path in [disk, disk + "/Inbox"] {
                    do {
                        let inbox = try FileInbox(path: path, reserve: .bytes(0), memory: memory)
                        try inbox.store(try inbox.stagedFile("first"), as: "first")
                    }
                    #expect(umount2(disk, Int32(MNT_DETACH)) == 0)
                    let inbox = try FileInbox(path: path, reserve: .bytes(0), memory: memory)
                    #expect(fault { _ = try inbox.freeRoom() } == .anotherInbox)
                    #expect(inbox.partials.count == 0)
                    #expect(everything(below: disk).isEmpty)
                    #expect(CLinuxShims_mount_bind(mounted, disk) == 0)
                    _ = try inbox.freeRoom()
                    try inbox.store(try inbox.stagedFile("second"), as: "second")
                    #expect(Set(listing(of: path)).isSuperset(of: ["first", "second"]))
                }
                #expect(umount2(disk, Int32(MNT_DETACH)) == 0)
                #expect(everything(below: disk).isEmpty)
            }
        }
    }

    @Test("an item of the mark's name does not become the mark")
    func namedLikeIt() throws {
        let inbox = try open()
        let before = id()
        try store(".waft-inbox", in: inbox)
        #expect(id() == before)
        #expect(listing(of: path) == [".waft-inbox", ".waft-inbox-1"])
        unlink(mark)
        let folders = [ItemToCommit(try inbox.stagedFile("x"), as: safe("x"), in: try SafeRelativePath(".waft-inbox"))]
        #expect(throws: TransferError.self) { try inbox.commit(folders)[0].get() }
    }

}

private func fault(_ body: () throws -> Void) -> TransferError? {
    do {
        try body()
        return nil
    } catch {
        return error as? TransferError
    }
}
