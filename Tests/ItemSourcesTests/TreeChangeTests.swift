import Foundation
import Glibc
import ItemSources
import Sharing
import TestSupport
import Testing

@Suite("A folder that changes after it was offered")
struct TreeChangeTests {
    private let folder = TemporaryFolder()
    private var root: String { folder / "tree" }

    init() {
        mkdir(root, 0o755)
        mkdir(root + "/m", 0o755)
        mkdir(root + "/z", 0o755)
        makeFile(root + "/a", "aaaa")
        makeFile(root + "/b", "bbbb")
        makeFile(root + "/m/c", "cccc")
        makeFile(root + "/z/d", "dddd")
        symlink("a", root + "/y")
    }

    /// Reads the tree. `change` happens before the first step, or when `a` has begun.
    private func code(early: Bool, _ change: () -> Void) throws -> SourceError.Code? {
        let source = try make(root)
        if early { change() }
        let found = fault {
            _ = try read(source) { step, pieces in
                if case .file(let entry) = step, entry.path?.text == "a", pieces == 0, !early { change() }
            }
        }
        #expect(openDescriptors(below: folder.path) == 0)
        return found?.code
    }

    @Test("is read when it did not")
    func unchanged() throws {
        #expect(try code(early: true) {} == nil)
        #expect(try code(early: false) {} == nil)
    }

    @Test("by a file more has changed", arguments: [true, false])
    func added(early: Bool) throws {
        #expect(try code(early: early) { makeFile(root + "/z/e") } == .changed)
    }

    @Test("by a folder more has changed", arguments: [true, false])
    func addedFolder(early: Bool) throws {
        #expect(try code(early: early) { mkdir(root + "/z/e", 0o755) } == .changed)
    }

    @Test("by a file less has changed, or the file is missing", arguments: [true, false])
    func removed(early: Bool) throws {
        #expect(try code(early: early) { unlink(root + "/b") } == (early ? .changed : .missing))
        #expect(try code(early: early) { unlink(root + "/z/d") } == .changed)
    }

    @Test("by a folder less has changed, or the folder is missing", arguments: [true, false])
    func removedFolder(early: Bool) throws {
        #expect(
            try code(early: early) { _ = (unlink(root + "/z/d"), rmdir(root + "/z")) } == (early ? .changed : .missing))
    }

    @Test("by a file that has another size has changed", arguments: [true, false])
    func resized(early: Bool) throws {
        #expect(try code(early: early) { makeFile(root + "/b", "bbbbbb") } == .changed)
        #expect(try code(early: early) { truncate(root + "/m/c", 1) } == .changed)
    }

    @Test("by the file that is being read has changed")
    func rewritten() throws {
        #expect(try code(early: false) { truncate(root + "/a", 2) } == .changed)
        #expect(try code(early: false) { makeFile(root + "/a", "AAAAAA") } == .changed)
    }

    @Test(
        "by a file that is now a pipe has changed, and the sender does not wait for a writer", arguments: [true, false])
    func pipe(early: Bool) throws {
        #expect(try code(early: early) { _ = (unlink(root + "/b"), mkfifo(root + "/b", 0o600)) } == .changed)
    }

    @Test("by a file that is a link now has changed, and the link is not followed", arguments: [true, false])
    func swappedForLink(early: Bool) throws {
        makeFile(folder / "outside", "bbbb")
        #expect(
            try code(early: early) { _ = (unlink(root + "/b"), symlink(folder / "outside", root + "/b")) } == .changed)
    }

    @Test("by a folder that is a link now has changed, and the link is not followed", arguments: [true, false])
    func folderSwappedForLink(early: Bool) throws {
        mkdir(folder / "outside", 0o755)
        makeFile(folder / "outside/d", "dddd")
        #expect(
            try code(early: early) {
                _ = (rename(root + "/z", folder / "z"), symlink(folder / "outside", root + "/z"))
            } == .changed)
    }

    @Test("by a file that is a folder now has changed", arguments: [true, false])
    func swappedForFolder(early: Bool) throws {
        #expect(try code(early: early) { _ = (unlink(root + "/b"), mkdir(root + "/b", 0o755)) } == .changed)
    }

    @Test("by a folder that is a file now has changed", arguments: [true, false])
    func folderSwappedForFile(early: Bool) throws {
        #expect(
            try code(early: early) {
                _ = (rename(root + "/z", folder / "z"), makeFile(root + "/z", "dddd"))
            } == .changed)
    }

    @Test("by a link that leads out now has changed", arguments: [true, false])
    func linkLeavesNow(early: Bool) throws {
        #expect(try code(early: early) { _ = (unlink(root + "/y"), symlink("/etc/passwd", root + "/y")) } == .changed)
    }

    @Test("by a name that cannot be sent has changed")
    func unfitName() throws {
        #expect(try code(early: true) { _ = rename(root + "/b", root + "/b\n") } == .changed)
    }

    @Test("until it is gone is missing")
    func gone() throws {
        let source = try make(root)
        rename(root, folder / "elsewhere")
        #expect(fault { _ = try read(source) }?.code == .missing)
    }

    @Test("by being moved as a whole while it is read is read to its end")
    func movedWhole() throws {
        #expect(try code(early: false) { rename(root, folder / "elsewhere") } == nil)
    }
}
