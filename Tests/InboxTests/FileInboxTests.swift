import Glibc
import Sharing
import TestSupport
import Testing

@testable import Inbox

@Suite("An Inbox")
struct FileInboxTests {
    private let folder = TemporaryFolder()

    @Test("is made with the folders above it, for its owner only")
    func makesFolders() throws {
        let path = folder / "a/Documents/Inbox"
        let inbox = try FileInbox(path: path)
        #expect(inbox.path == path)
        for path in ["a", "a/Documents", "a/Documents/Inbox", "a/Documents/.waft-staging"] {
            #expect(mode(of: folder / path) == 0o700 & ~currentUmask)
        }
    }

    @Test("that exists keeps its mode and its contents, and so does the folder around it")
    func leavesAlone() throws {
        mkdir(folder / "Documents", 0o755)
        mkdir(folder / "Documents/Inbox", 0o755)
        chmod(folder / "Documents/Inbox", 0o750)
        makeFile(folder / "Documents/Inbox/mine.txt", "mine")
        makeFile(folder / "Documents/letter.txt", "letter")
        let before = mode(of: folder / "Documents")
        _ = try FileInbox(path: folder / "Documents/Inbox")
        #expect(mode(of: folder / "Documents") == before)
        #expect(mode(of: folder / "Documents/Inbox") == 0o750)
        #expect(listing(of: folder / "Documents") == [".waft-staging", "Inbox", "letter.txt"])
        #expect(contents(of: folder / "Documents/Inbox/mine.txt") == Array("mine".utf8))
    }

    @Test("can be reached by a link, and is staged for where it really lies")
    func followsLink() throws {
        mkdir(folder / "real", 0o700)
        mkdir(folder / "real/Inbox", 0o700)
        mkdir(folder / "other", 0o700)
        symlink("../real/Inbox", folder / "other/link")
        let inbox = try FileInbox(path: folder / "other/link")
        try inbox.store(try inbox.stagedFile("x"), as: "x.txt")
        #expect(listing(of: folder / "real/Inbox") == ["x.txt"])
        #expect(listing(of: folder / "real") == [".waft-staging", "Inbox"])
        #expect(listing(of: folder / "other") == ["link"])
    }

    @Test("that is a file is refused with its path, the reason and the next step")
    func refusesFile() throws {
        makeFile(folder / "Inbox")
        let error = #expect(throws: InboxError.self) { try FileInbox(path: folder / "Inbox") }
        let message = try #require(error).message
        #expect(
            message == "cannot use the Inbox \(folder / "Inbox"): Not a directory; "
                + "set another Inbox, or make it a folder in which this user may write")
        #expect(error?.isInUse == false)
        #expect(throws: InboxError.self) { try FileInbox(path: "") }
    }

    @Test("with a path that is not absolute lies below the working directory, and says where")
    func relativePath() throws {
        let here = try #require(getcwd(nil, 0))
        defer { free(here) }
        // Up to the root and down again, because all tests share the working directory.
        let depth = String(cString: here).split(separator: "/").count
        let up = Array(repeating: "..", count: depth).joined(separator: "/")
        let inbox = try FileInbox(path: up + folder.path + "/Inbox")
        #expect(inbox.path.hasPrefix("/"))
        #expect(listing(of: folder.path) == [".waft-staging", "Inbox"])
    }

    @Test("has the free room of its disk less the reserve, and none where the reserve is more")
    func freeRoom() throws {
        let all = try FileInbox(path: folder / "a/Inbox", reserve: .bytes(0)).freeRoom()
        #expect(all > 1 << 20)
        let less = try FileInbox(path: folder / "b/Inbox", reserve: .bytes(1 << 50)).freeRoom()
        #expect(less == 0)
    }

    @Test("that is removed while it is used is made again for the next arrival")
    func removedMeanwhile() throws {
        let inbox = try FileInbox(path: folder / "Inbox")
        let staged = try inbox.stagedFile("still here")
        rmdir(folder / "Inbox")
        #expect(try inbox.freeRoom() > 0)
        let stored = try inbox.store(staged, as: "a.txt")
        #expect(contents(of: stored.path) == Array("still here".utf8))
    }

    @Test("that is moved away while it is used is not followed: its path is what counts")
    func movedMeanwhile() throws {
        let inbox = try FileInbox(path: folder / "Inbox")
        rename(folder / "Inbox", folder / "Old")
        try inbox.store(try inbox.stagedFile("x"), as: "a.txt")
        #expect(listing(of: folder / "Old").isEmpty)
        #expect(listing(of: folder / "Inbox") == ["a.txt"])
    }

    @Test("takes a file, unchanged, and says where it lies")
    func storesFile() throws {
        let inbox = try FileInbox(path: folder / "Inbox")
        let stored = try inbox.store(try inbox.stagedFile("hello"), as: "a b.txt")
        #expect(stored.name.text == "a b.txt")
        #expect(stored.path == folder / "Inbox/a b.txt")
        #expect(contents(of: stored.path) == Array("hello".utf8))
        #expect(listing(of: folder / ".waft-staging/Inbox") == ["lock"])
    }

    @Test("shows nothing of an item before it is committed")
    func invisibleBefore() throws {
        let inbox = try FileInbox(path: folder / "Inbox")
        let staged = try inbox.stagedFile("hello")
        let tree = try inbox.stagedTree()
        try tree.add(try entry("a"), "a")
        #expect(listing(of: folder / "Inbox").isEmpty)
        staged.discard()
        tree.discard()
        #expect(listing(of: folder / "Inbox").isEmpty)
        #expect(listing(of: folder / ".waft-staging/Inbox") == ["lock"])
    }

    @Test("removes an item when the last reference to it is gone")
    func forgottenItem() throws {
        let inbox = try FileInbox(path: folder / "Inbox")
        do {
            let tree = try inbox.stagedTree()
            try tree.makeFolder(try place("a"))
            try tree.beginFile(try entry("a/b"))
        }
        #expect(listing(of: folder / ".waft-staging/Inbox") == ["lock"])
    }

    @Test("answers a write after a discard with a fault")
    func discardedItem() throws {
        let inbox = try FileInbox(path: folder / "Inbox")
        let staged = try inbox.stage(transfer: TransferID(), item: 0, isTree: false)
        try staged.beginFile(try entry(nil))
        staged.discard()
        staged.discard()
        #expect(faultCode { try staged.write([1]) } == .cancelled)
        #expect(faultCode { try staged.endFile() } == .cancelled)
        #expect(faultCode { try inbox.store(staged, as: "a") } == .cancelled)
        #expect(listing(of: folder / "Inbox").isEmpty)
    }
}
