import CLinuxShims
import Foundation
import Glibc
import Sharing
import TestSupport
import Testing

@testable import Inbox

/// Only root can mount another file system. If the mount is impossible, the tests fail; they are not skipped.
@Suite("Leaving the Inbox", .serialized)
struct LeavingTests {
    private let folder = TemporaryFolder()
    private var path: String { folder / "Inbox" }

    init() {
        mkdir(folder / "out", 0o755)
    }

    private func code(_ body: () throws -> Void) -> LeavingError.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? LeavingError)?.code
        }
    }

    /// Mounts a small file system at `out`, visible to every process; runs `body`; unmounts it.
    private func withOtherDisk(_ size: String = "8m", _ body: () throws -> Void) throws {
        try #require(CLinuxShims_mount_tmpfs(folder / "out", size) == 0, "mounting needs root")
        defer { umount2(folder / "out", Int32(MNT_DETACH)) }
        try body()
    }

    private static let files = ["a": "1", "b/c.sh": "22", "b/d/e": String(repeating: "3", count: 700_000)]

    /// Checks an item that has been taken.
    private func check(_ arrival: Arrival, at name: String, isGone: Bool = true) throws {
        let target = folder / "out/" + name
        let mask = currentUmask
        if arrival.item.kind == .tree {
            #expect(mode(of: target) == 0o777 & ~mask)
            #expect(mode(of: target + "/b/d") == 0o777 & ~mask)
            #expect(mode(of: target + "/a") == 0o666 & ~mask)
            #expect(mode(of: target + "/b/c.sh") == 0o777 & ~mask)
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: target + "/link") == "a")
        } else {
            #expect(mode(of: target) == 0o666 & ~mask)
        }
        #expect((lstatus(of: arrival.stored.path) == nil) == isGone)
        var moved = arrival
        moved.stored.path = target
        #expect(try InboxVerification.verify(moved, arrived: now(), inbox: path).state == .ok)
        #expect(listing(of: folder / "out").allSatisfy { !$0.hasPrefix(".waft") })
    }

    @Test("by a rename gives normal modes, and moves the very file")
    func rename() throws {
        let inbox = try FileInbox(path: path, reserve: .bytes(0))
        let file = try inbox.receive("text", as: "a.txt")
        let inode = lstatus(of: path + "/a.txt")?.st_ino
        let taken = try InboxLeaving.take(file, inbox: path, to: folder / "out")
        #expect(taken == InboxLeaving.Taken(path: folder / "out/a.txt"))
        #expect(lstatus(of: folder / "out/a.txt")?.st_ino == inode)
        try check(file, at: "a.txt")
        let tree = try inbox.receiveTree(Self.files, as: "tree")
        #expect(try InboxLeaving.take(tree, inbox: path, to: folder / "out/").path == folder / "out/tree")
        try check(tree, at: "tree")
        let program = try inbox.receive("#!", as: "run", executable: true)
        _ = try InboxLeaving.take(program, inbox: path, to: folder / "out")
        #expect(mode(of: folder / "out/run") == 0o777 & ~currentUmask)
    }

    @Test("to another file system copies, compares and deletes")
    func copy() throws {
        let inbox = try FileInbox(path: path, reserve: .bytes(0))
        try withOtherDisk {
            let modified = Timestamp(seconds: 1_000_000_000, nanoseconds: 0)
            let staged = try inbox.stagedFile("text", modified: modified)
            try inbox.store(staged, as: "old.txt")
            let file = try inbox.receive(String(repeating: "x", count: 1_000_000), as: "a.txt")
            ExtendedAttributes.set([(name: Provenance.peer, value: Array("somebody".utf8))], on: try descriptor(file))
            var bytes = 0
            let taken = try InboxLeaving.take(file, inbox: path, to: folder / "out") { bytes += $0 }
            #expect(taken == InboxLeaving.Taken(path: folder / "out/a.txt"))
            #expect(bytes == 1_000_000)
            try check(file, at: "a.txt")
            #expect(ExtendedAttributes.read(Provenance.peer, of: taken.path) == Array("somebody".utf8))
            let tree = try inbox.receiveTree(Self.files, as: "tree")
            _ = try InboxLeaving.take(tree, inbox: path, to: folder / "out")
            try check(tree, at: "tree")
            let again = try inbox.receiveTree(Self.files, as: "tree")
            #expect(try InboxLeaving.take(again, inbox: path, to: folder / "out").path == folder / "out/tree-1")
            try check(again, at: "tree-1")
        }
    }

    private func descriptor(_ arrival: Arrival) throws -> Int32 {
        let file = open(arrival.stored.path, O_RDONLY | O_CLOEXEC)
        try #require(file >= 0)
        return file
    }

    @Test("never replaces anything: it gets a number, or a name of its own is refused", arguments: [false, true])
    func names(isOtherDisk: Bool) throws {
        let inbox = try FileInbox(path: path, reserve: .bytes(0))
        func run() throws {
            makeFile(folder / "out/a.txt", "mine")
            mkdir(folder / "out/a-1.txt", 0o755)
            symlink("nowhere", folder / "out/a-2.txt")
            let file = try inbox.receive("text", as: "a.txt")
            for taken in ["a.txt", "a-1.txt", "a-2.txt"] {
                let wanted = try name(taken)
                #expect(
                    code { _ = try InboxLeaving.take(file, inbox: path, to: folder / "out", name: wanted) }
                        == .nameTaken)
            }
            #expect(contents(of: path + "/a.txt") == Array("text".utf8))
            #expect(mode(of: path + "/a.txt") == 0o444 & ~currentUmask)
            #expect(try InboxLeaving.take(file, inbox: path, to: folder / "out").path == folder / "out/a-3.txt")
            #expect(contents(of: folder / "out/a.txt") == Array("mine".utf8))
            #expect(listing(of: folder / "out/a-1.txt").isEmpty)
            let other = try inbox.receive("text", as: "a.txt")
            let taken = try InboxLeaving.take(other, inbox: path, to: folder / "out", name: try name("b"))
            #expect(taken.path == folder / "out/b")
            try check(other, at: "b")
        }
        if isOtherDisk { try withOtherDisk { try run() } } else { try run() }
    }

    @Test("to a full disk leaves everything in the Inbox and nothing there")
    func fullDisk() throws {
        let inbox = try FileInbox(path: path, reserve: .bytes(0))
        try withOtherDisk("512k") {
            for arrival in [
                try inbox.receive(String(repeating: "x", count: 1_000_000), as: "a.txt"),
                try inbox.receiveTree(Self.files, as: "tree"),
            ] {
                #expect(code { _ = try InboxLeaving.take(arrival, inbox: path, to: folder / "out") } == .noRoom)
                #expect(listing(of: folder / "out").isEmpty)
                #expect(try InboxVerification.verify(arrival, arrived: now(), inbox: path).state == .ok)
            }
        }
    }

    @Test("to a place that is none is refused, and so is the Inbox itself")
    func destinations() throws {
        let inbox = try FileInbox(path: path, reserve: .bytes(0))
        let file = try inbox.receive("text", as: "a.txt")
        mkdir(path + "/sub", 0o755)
        symlink(path + "/sub", folder / "way in")
        makeFile(folder / "file")
        for place in ["none", "file", "Inbox", "Inbox/sub", "way in", "Inbox/../Inbox"] {
            let fault = code { _ = try InboxLeaving.take(file, inbox: path, to: folder / place) }
            #expect(fault == (place == "none" ? .noDestination : .destination))
        }
        #expect(contents(of: path + "/a.txt") == Array("text".utf8))
    }

    @Test("of something that was gone, or is something else, is refused")
    func gone() throws {
        let inbox = try FileInbox(path: path, reserve: .bytes(0))
        let file = try inbox.receive("text", as: "a.txt")
        Glibc.rename(path + "/a.txt", folder / "b.txt")
        #expect(code { _ = try InboxLeaving.take(file, inbox: path, to: folder / "out") } == .gone)
        #expect(try !InboxLeaving.remove(file, inbox: path))
        symlink(folder / "b.txt", path + "/a.txt")
        #expect(code { _ = try InboxLeaving.take(file, inbox: path, to: folder / "out") } == .different)
        #expect(code { _ = try InboxLeaving.remove(file, inbox: path) } == .different)
        #expect(contents(of: folder / "b.txt") == Array("text".utf8))
    }

    @Test("of an edited item moves its current state", arguments: [false, true])
    func edited(isOtherDisk: Bool) throws {
        let inbox = try FileInbox(path: path, reserve: .bytes(0))
        func run() throws {
            let file = try inbox.receive("text", as: "a.txt")
            chmod(path + "/a.txt", 0o644)
            makeFile(path + "/a.txt", "mine now")
            #expect(try InboxLeaving.take(file, inbox: path, to: folder / "out").path == folder / "out/a.txt")
            #expect(contents(of: folder / "out/a.txt") == Array("mine now".utf8))
            #expect(lstatus(of: path + "/a.txt") == nil)
        }
        if isOtherDisk { try withOtherDisk { try run() } } else { try run() }
    }

    @Test("to a folder in which the system makes no files reports it, and does not report the item as gone")
    func unfitTarget() throws {
        let inbox = try FileInbox(path: path, reserve: .bytes(0))
        let arrivals = [try inbox.receive("text", as: "a.txt"), try inbox.receiveTree(Self.files, as: "tree")]
        for arrival in arrivals {
            let why = "nothing can be put there (No such file or directory)"
            let words = "cannot copy \(arrival.stored.name) to /proc: \(why)"
            #expect(throws: LeavingError(.destination, words)) {
                try InboxLeaving.take(arrival, inbox: path, to: "/proc")
            }
            #expect(lstatus(of: arrival.stored.path) != nil)
        }
    }

    @Test("by removal deletes files and trees, follows no link, and nothing shows up beside them")
    func removal() throws {
        let inbox = try FileInbox(path: path, reserve: .bytes(0))
        makeFile(folder / "out/kept", "kept")
        let file = try inbox.receive("text", as: "a.txt")
        let tree = try inbox.receiveTree(Self.files, as: "tree")
        symlink(folder / "out", path + "/tree/b/out")
        var deep = path + "/tree"
        for _ in 0..<400 {
            deep += "/deep"
            guard mkdir(deep, 0o755) == 0 else { break }
        }
        #expect(try InboxLeaving.remove(file, inbox: path))
        #expect(try InboxLeaving.remove(tree, inbox: path))
        #expect(listing(of: path).isEmpty)
        #expect(contents(of: folder / "out/kept") == Array("kept".utf8))
    }

    @Test("by an ordinary user works as for root")
    func ordinaryUser() throws {
        try #require(geteuid() == 0, "as root only: another user is needed")
        for place in [folder.path, folder / "out"] { chmod(place, 0o777) }
        let inbox = try FileInbox(path: path, reserve: .bytes(0))
        let file = try inbox.receive("text", as: "a.txt")
        let tree = try inbox.receiveTree(Self.files, as: "tree")
        let other = try inbox.receiveTree(Self.files, as: "tree")
        lchown(path, 65_534, 65_534)
        for name in everything(below: path) { lchown(path + "/" + name, 65_534, 65_534) }
        try asOrdinaryUser {
            #expect(try InboxLeaving.take(file, inbox: path, to: folder / "out").remark == nil)
            #expect(try InboxLeaving.take(tree, inbox: path, to: folder / "out").remark == nil)
            try check(file, at: "a.txt")
            try check(tree, at: "tree")
            #expect(try InboxLeaving.remove(other, inbox: path))
            #expect(listing(of: path).isEmpty)
        }
    }
}
