import CLinuxShims
import Foundation
import Glibc
import Sharing
import TestSupport
import Testing

@testable import Inbox

@Suite("A commit")
struct CommitTests {
    private let folder = TemporaryFolder()

    private func inbox(_ placement: Placement = .byRename) throws -> FileInbox {
        try FileInbox(path: folder / "Inbox", reserve: .bytes(0), opening: .inOneCall, placement: placement)
    }

    private func makeTree(_ inbox: FileInbox, _ text: String) throws -> any StagedItem {
        let tree = try inbox.stagedTree()
        try tree.add(try entry("content"), text)
        return tree
    }

    @Test(
        "never replaces existing files, folders or links, even empty ones",
        arguments: [Placement.byRename, .byLink, .byLooking])
    func neverReplaces(placement: Placement) throws {
        let inbox = try inbox(placement)
        let path = folder / "Inbox"
        makeFile(path + "/a.txt", "mine")
        mkdir(path + "/b.txt", 0o755)
        symlink("nowhere", path + "/c.txt")
        symlink(folder / "outside", path + "/d.txt")
        mkdir(folder / "outside", 0o755)
        for name in ["a", "b", "c", "d"] {
            #expect(try inbox.store(try inbox.stagedFile("file"), as: name + ".txt").name.text == name + "-1.txt")
            #expect(try inbox.store(try makeTree(inbox, "tree"), as: name + ".txt").name.text == name + "-2.txt")
            #expect(contents(of: path + "/\(name)-1.txt") == Array("file".utf8))
            #expect(contents(of: path + "/\(name)-2.txt/content") == Array("tree".utf8))
        }
        #expect(contents(of: path + "/a.txt") == Array("mine".utf8))
        #expect(listing(of: path + "/b.txt").isEmpty)
        #expect(listing(of: folder / "outside").isEmpty)
        #expect(listing(of: folder / ".waft-staging/Inbox") == ["lock"])
    }

    @Test(
        "numbers a name that is taken before its extension",
        arguments: [
            ("a", "a-1"), ("a.tar.gz", "a-1.tar.gz"), (".bashrc", ".bashrc-1"), ("a.b.c", "a.b-1.c"), ("a.", "a-1."),
            (String(repeating: "x", count: 255), String(repeating: "x", count: 253) + "-1"),
            (String(repeating: "x", count: 251) + ".txt", String(repeating: "x", count: 249) + "-1.txt"),
            (String(repeating: "é", count: 127), String(repeating: "é", count: 126) + "-1"),
        ]
    )
    func numbering(name: String, numbered: String) throws {
        let inbox = try inbox()
        #expect(try inbox.store(try inbox.stagedFile("1"), as: name).name.text == name)
        #expect(try inbox.store(try inbox.stagedFile("2"), as: name).name.text == numbered)
        #expect(contents(of: folder / "Inbox/" + numbered) == Array("2".utf8))
    }

    @Test("stores a batch in order, each item under a name of its own")
    func batch() throws {
        let inbox = try inbox()
        let items = try ["a", "a", "b", "a"].enumerated().map { index, text in
            (staged: try inbox.stagedFile("\(index)"), name: try name(text))
        }
        let names = try inbox.commit(items).map { try $0.get().name.text }
        #expect(names == ["a", "a-1", "b", "a-2"])
        for (index, name) in names.enumerated() {
            #expect(contents(of: folder / "Inbox/" + name) == Array("\(index)".utf8))
        }
    }

    @Test("reports an item that has vanished from its staging folder, whether it is synced alone or with many")
    func vanished() throws {
        let inbox = try inbox()
        for others in [0, 2 * StagedFiles.rememberedPlaces] {
            var items = [(staged: try inbox.stagedFile("lost"), name: try name("lost"))]
            let staging = folder / ".waft-staging/Inbox"
            for name in listing(of: staging) where name != "lock" { unlink(staging + "/" + name) }
            for number in 0..<others { items.append((try inbox.stagedFile("x"), try name("\(number)"))) }
            let results = inbox.commit(items)
            #expect(faultCode { _ = try results[0].get() } == .storage)
            #expect(try results.dropFirst().map { try $0.get().name.text } == (0..<others).map(String.init))
        }
    }

    @Test("into an Inbox that is now on another disk is a storage fault")
    func otherDisk() async {
        await #expect(processExitsWith: .success) {
            let folder = TemporaryFolder()
            try inPrivateMounts {
                let inbox = try FileInbox(path: folder / "Inbox")
                let staged = try inbox.stagedFile("x")
                #expect(CLinuxShims_mount_tmpfs(folder / "Inbox", "1m") == 0)
                defer { umount2(folder / "Inbox", Int32(MNT_DETACH)) }
                #expect(faultCode { try inbox.store(staged, as: "x") } == .storage)
                #expect(listing(of: folder / "Inbox").isEmpty)
            }
        }
    }

    @Test(
        "announces each item before it can be seen, and finds it by the announcement afterwards, whatever its name is then"
    )
    func announcing() throws {
        let inbox = try inbox()
        let items = try ["a", "a", "b"].map { (staged: try inbox.stagedFile($0), name: try name($0)) }
        var announced: [FileIdentity?] = []
        let results = inbox.commit(items) { identities in
            announced = identities
            #expect(listing(of: folder / "Inbox").isEmpty)
        }
        #expect(try results.map { try $0.get().name.text } == ["a", "a-1", "b"])
        let identities = announced.compactMap(\.self)
        #expect(Set(identities).count == 3)
        #expect(rename(folder / "Inbox/b", folder / "Inbox/c") == 0)
        #expect(unlink(folder / "Inbox/a") == 0)
        let found = try inbox.find(Set(identities))
        #expect(identities.map { found[$0]?.name.text } == [nil, "a-1", "c"])
        #expect(found[identities[1]]?.path == folder / "Inbox/a-1")
    }

    @Test("moves nothing in if the announcement is refused, and leaves nothing behind")
    func notAnnounced() throws {
        let inbox = try inbox()
        let fault = TransferError(.noRoom, "the journal is full")
        let results = inbox.commit([(staged: try inbox.stagedFile("x"), name: try name("x"))]) {
            _ throws(TransferError) in throw fault
        }
        #expect(results.map { $0.map(\.name.text) } == [.failure(fault)])
        #expect(listing(of: folder / "Inbox").isEmpty)
        #expect(listing(of: folder / ".waft-staging/Inbox") == ["lock"])
    }

    @Test("of nothing does nothing")
    func nothing() throws {
        #expect(try inbox().commit([ItemToCommit]()).isEmpty)
    }

    @Test("puts an item into the folder below the Inbox that was asked for, makes it, and finds the item there")
    func folders() throws {
        let inbox = try inbox()
        let photos = try SafeRelativePath("Photos/2026")
        mkdir(folder / "Inbox/Notes", 0o755)
        let notes = try SafeRelativePath("Notes")
        let items = try [("a", photos), ("a", photos), ("a", nil), ("a", notes)].map { text, place in
            ItemToCommit(try inbox.stagedFile("x"), as: try name(text), in: place)
        }
        var announced: [FileIdentity] = []
        let results = inbox.commit(items) { announced = $0.compactMap(\.self) }
        let paths = ["Photos/2026/a", "Photos/2026/a-1", "a", "Notes/a"].map { folder / "Inbox/" + $0 }
        #expect(try results.map { try $0.get().path } == paths)
        #expect(paths.map { contents(of: $0) } == Array(repeating: Array("x".utf8), count: 4))
        let missing = try SafeRelativePath("Missing")
        let found = try inbox.find(Set(announced), in: [photos, notes, missing])
        #expect(announced.map { found[$0]?.path } == paths)
        #expect(try inbox.find(Set(announced)).count == 1)
        var status = stat()
        #expect(stat(folder / "Inbox/Photos", &status) == 0 && status.st_mode & 0o777 == 0o700)
    }

    @Test("puts nothing into a folder that a file or a link stands for, or that is Waft's own; others are stored")
    func foldersInTheWay() throws {
        let inbox = try inbox()
        makeFile(folder / "Inbox/file", "mine")
        mkdir(folder / "outside", 0o755)
        symlink(folder / "outside", folder / "Inbox/link")
        let places = ["file", "link", "link/deeper", ".waft-staging", ".waft-staging/x"]
        var items = try places.map {
            ItemToCommit(try inbox.stagedFile("x"), as: try name("x"), in: try SafeRelativePath($0))
        }
        items.append(ItemToCommit(try inbox.stagedFile("x"), as: try name("good")))
        var announced: [FileIdentity?] = []
        let results = inbox.commit(items) { announced = $0 }
        for result in results.dropLast() { #expect(faultCode { _ = try result.get() } == .storage) }
        #expect(announced.map { $0 == nil } == [true, true, true, true, true, false])
        #expect(try results[5].get().path == folder / "Inbox/good")
        #expect(listing(of: folder / "outside").isEmpty)
        #expect(listing(of: folder / "Inbox") == ["file", "good", "link"])
        #expect(listing(of: folder / ".waft-staging/Inbox") == ["lock"])
    }

    @Test("reports the fault of one item and stores the others")
    func oneFault() throws {
        let inbox = try inbox()
        let other = try FileInbox(path: folder / "Other")
        let gone = try inbox.stagedFile("gone")
        let half = try inbox.stage(transfer: TransferID(), item: 0, isTree: false)
        try half.beginFile(try entry(nil))
        let empty = try inbox.stage(transfer: TransferID(), item: 0, isTree: false)
        let staging = folder / ".waft-staging/Inbox"
        let vanished = Set(listing(of: staging))
        let lost = try inbox.stagedFile("lost")
        for name in listing(of: staging) where !vanished.contains(name) { unlink(staging + "/" + name) }
        gone.discard()
        let twice = try inbox.stagedFile("twice")
        let results = inbox.commit([
            (try inbox.stagedFile("1"), try name("first")),
            (gone, try name("gone")),
            (half, try name("half")),
            (empty, try name("empty")),
            (lost, try name("lost")),
            (try other.stagedFile("x"), try name("other")),
            (twice, try name("twice")),
            (twice, try name("twice")),
            (try inbox.stagedFile("2"), try name("last")),
        ])
        let codes = results.map { result -> TransferError.Code? in
            if case .failure(let fault) = result { fault.code } else { nil }
        }
        #expect(codes[0] == nil && codes[6] == nil && codes[8] == nil)
        #expect(codes[1] == .cancelled)
        #expect(codes[2] == .unexpected)
        #expect(codes[3] == .unexpected)
        #expect(codes[4] == .storage)
        #expect(codes[5] == .unexpected)
        #expect(codes[7] == .cancelled)
        #expect(listing(of: folder / "Inbox") == ["first", "last", "twice"])
        #expect(listing(of: staging) == ["lock"])
    }

    @Test("of 20,000 files of one name gives each its number without trying all numbers for each")
    func equalNames() throws {
        let inbox = try inbox()
        let sameName = try name("photo.jpg")
        var last = ""
        for _ in 0..<40 {
            let items = try (0..<500).map { _ in (staged: try inbox.stagedFile("x"), name: sameName) }
            for result in inbox.commit(items) { last = try result.get().name.text }
        }
        #expect(last == "photo-19999.jpg")
        #expect(listing(of: folder / "Inbox").count == 20_000)
        #expect(listing(of: folder / ".waft-staging/Inbox") == ["lock"])
    }

    @Test("gives the plain name again when it is free")
    func freedName() throws {
        let inbox = try inbox()
        try inbox.store(try inbox.stagedFile("1"), as: "a")
        try inbox.store(try inbox.stagedFile("2"), as: "a")
        unlink(folder / "Inbox/a")
        #expect(try inbox.store(try inbox.stagedFile("3"), as: "a").name.text == "a")
    }

    @Test("numbers a name from 1 again after everything of that name has left the Inbox")
    func numbersAnew() throws {
        let inbox = try inbox()
        for expected in ["tree", "tree-1", "tree-2"] {
            #expect(try inbox.store(try makeTree(inbox, "x"), as: "tree").name.text == expected)
        }
        for name in ["tree", "tree-1", "tree-2"] {
            chmod(folder / "Inbox/\(name)", 0o755)
            try FileManager.default.removeItem(atPath: folder / "Inbox/\(name)")
        }
        for expected in ["tree", "tree-1"] {
            #expect(try inbox.store(try makeTree(inbox, "x"), as: "tree").name.text == expected)
        }
    }

    @Test("from several threads at once loses nothing and replaces nothing", arguments: [Placement.byRename, .byLink])
    func race(placement: Placement) async throws {
        let inbox = try inbox(placement)
        let stored = try await withThrowingTaskGroup(of: [String].self) { group in
            for task in 0..<4 {
                group.addTask {
                    try (0..<100).map { round in
                        let isTree = round % 5 == 0
                        let text = "\(task).\(round)"
                        let item: any StagedItem
                        if isTree {
                            item = try inbox.stagedTree()
                            try item.add(try entry("content"), text)
                        } else {
                            item = try inbox.stagedFile(text)
                        }
                        let path = try inbox.store(item, as: "same.txt").path
                        #expect(contents(of: isTree ? path + "/content" : path) == Array(text.utf8))
                        return path
                    }
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(Set(stored).count == 400)
        #expect(listing(of: folder / "Inbox").count == 400)
    }

    @Test("does not move into an Inbox that has become a file, and leaves nothing behind")
    func inboxGone() throws {
        let inbox = try inbox()
        let items = try (0..<3).map { (staged: try inbox.stagedFile("\($0)"), name: try name("\($0)")) }
        rmdir(folder / "Inbox")
        makeFile(folder / "Inbox", "a file")
        for result in inbox.commit(items) {
            guard case .failure(let fault) = result else {
                Issue.record("stored in a file")
                continue
            }
            #expect(fault.code == .storage)
            #expect(fault.message == "the Inbox cannot be used: its path is not a folder")
        }
        #expect(contents(of: folder / "Inbox") == Array("a file".utf8))
        #expect(listing(of: folder / ".waft-staging/Inbox") == ["lock"])
    }

    @Test("into an Inbox that may not be written to any more is a fault of storage, and leaves nothing behind")
    func notWritable() async {
        await #expect(processExitsWith: .success) {
            let folder = TemporaryFolder()
            chmod(folder.path, 0o777)
            // Not as root, which may do anything.
            #expect(seteuid(65_534) == 0)
            let inbox = try FileInbox(path: folder / "Inbox")
            let staged = try inbox.stagedFile("x")
            let tree = try inbox.stagedTree()
            chmod(folder / "Inbox", 0o500)
            #expect(faultCode { try inbox.store(staged, as: "x") } == .storage)
            #expect(faultCode { try inbox.store(tree, as: "x") } == .storage)
            #expect(listing(of: folder / "Inbox").isEmpty)
            #expect(listing(of: folder / ".waft-staging/Inbox") == ["lock"])
            chmod(folder / "Inbox", 0o700)
            try inbox.store(try inbox.stagedFile("y"), as: "y")
            #expect(seteuid(0) == 0)
        }
    }

    @Test("has no Inbox to go to on a read-only disk")
    func readOnlyDisk() async {
        await #expect(processExitsWith: .success) {
            let folder = TemporaryFolder()
            try inPrivateMounts {
                mkdir(folder / "disk", 0o700)
                #expect(CLinuxShims_mount_tmpfs(folder / "disk", "8m") == 0)
                defer { umount2(folder / "disk", 0) }
                mkdir(folder / "disk/Inbox", 0o700)
                #expect(mount("none", folder / "disk", nil, UInt(MS_REMOUNT | MS_RDONLY), nil) == 0)
                let error = #expect(throws: InboxError.self) { try FileInbox(path: folder / "disk/Inbox") }
                #expect(error?.message.contains("Read-only file system") == true)
            }
        }
    }

    @Test("of trees of any size stores them whole", arguments: [0, 1, StagedFiles.rememberedPlaces, 100])
    func treeSizes(count: Int) throws {
        let inbox = try inbox()
        let tree = try inbox.stagedTree()
        for number in 0..<count { try tree.add(try entry("\(number)"), "x") }
        let path = try inbox.store(tree, as: "tree").path
        #expect(listing(of: path).count == count)
    }
}
