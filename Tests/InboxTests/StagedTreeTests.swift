import Glibc
import Sharing
import TestSupport
import Testing

@testable import Inbox

@Suite("A staged tree")
struct StagedTreeTests {
    private let folder = TemporaryFolder()

    private func inbox(_ opening: BeneathOpening = .inOneCall) throws -> FileInbox {
        try FileInbox(path: folder / "Inbox", reserve: .bytes(0), opening: opening, placement: .byRename)
    }

    /// The path of the only staged item.
    private func stagedPath() throws -> String {
        let names = listing(of: folder / ".waft-staging/Inbox").filter { $0 != "lock" }
        return folder / ".waft-staging/Inbox/" + (try #require(names.first))
    }

    @Test(
        "is stored with empty folders, hidden files, links, modes and times",
        arguments: [BeneathOpening.inOneCall, .nameByName])
    func wholeTree(opening: BeneathOpening) throws {
        let inbox = try inbox(opening)
        let tree = try inbox.stagedTree()
        let time = Timestamp(seconds: 1_234_567_890, nanoseconds: 5)
        try tree.makeFolder(try place("empty"))
        try tree.closeFolder(try place("empty"), modified: time)
        try tree.makeFolder(try place("src"))
        try tree.add(try entry("src/.hidden", modified: time), "hidden")
        try tree.makeFolder(try place("src/bin"))
        try tree.add(try entry("src/bin/run", executable: true), "#!/bin/sh\n")
        try tree.closeFolder(try place("src/bin"), modified: time)
        // Returns to an earlier folder.
        try tree.add(try entry("src/main.c"), "int main;")
        let link = try place("src/link")
        try tree.makeLink(link, target: try SafeLinkTarget("../empty", of: link))
        try tree.closeFolder(try place("src"), modified: time)
        try tree.closeFolder(nil, modified: time)
        let path = try inbox.store(tree, as: "project").path

        #expect(
            everything(below: path) == [
                "empty", "src", "src/.hidden", "src/bin", "src/bin/run", "src/link", "src/main.c",
            ])
        #expect(contents(of: path + "/src/.hidden") == Array("hidden".utf8))
        #expect(mode(of: path + "/src/main.c") == 0o444 & ~currentUmask)
        #expect(mode(of: path + "/src/bin/run") == 0o555 & ~currentUmask)
        for name in ["", "/empty", "/src", "/src/bin"] {
            #expect(mode(of: path + name) == 0o755 & ~currentUmask)
            #expect(lstatus(of: path + name)?.st_mtim.tv_sec == 1_234_567_890, "\(name)")
        }
        #expect(lstatus(of: path + "/src/.hidden")?.st_mtim.tv_sec == 1_234_567_890)
        var target = [CChar](repeating: 0, count: 64)
        #expect(readlink(path + "/src/link", &target, 63) == 8)
    }

    @Test("can be moved out and deleted by its owner")
    func movedOut() async {
        await #expect(processExitsWith: .success) {
            let folder = TemporaryFolder()
            chmod(folder.path, 0o777)
            // Not as root, which may do anything.
            #expect(seteuid(65_534) == 0)
            let inbox = try FileInbox(path: folder / "Inbox")
            let tree = try inbox.stagedTree()
            try tree.makeFolder(try place("a"))
            try tree.add(try entry("a/b"), "b")
            let path = try inbox.store(tree, as: "tree").path
            #expect(open(path + "/a/b", O_WRONLY) == -1 && errno == EACCES)
            mkdir(folder / "elsewhere", 0o700)
            #expect(rename(path, folder / "elsewhere/tree") == 0)
            #expect(unlink(folder / "elsewhere/tree/a/b") == 0)
            #expect(rmdir(folder / "elsewhere/tree/a") == 0)
            #expect(seteuid(0) == 0)
        }
    }

    @Test(
        "holds all entries under names that other systems or shells would reject",
        arguments: [
            "-rf", "--", "$(id)", "`id`", "a b", " ", "con", "NUL", "a:b", "a\\b", "..a", "...", "~", "*", "<img>",
            "%00",
            "\u{E9}", "e\u{301}", "日本語", "👨‍👩‍👧", ".waft-staging", "lock", String(repeating: "x", count: 255),
        ] + SampleNames.joining
    )
    func oddNames(name: String) throws {
        let inbox = try inbox()
        let tree = try inbox.stagedTree()
        try tree.makeFolder(try place(name))
        try tree.add(try entry(name + "/" + name), "x")
        let path = try inbox.store(tree, as: name).path
        #expect(listing(of: folder / "Inbox").map { Array($0.utf8) } == [Array(name.utf8)])
        #expect(contents(of: path + "/" + name + "/" + name) == [0x78])
    }

    @Test("tells names apart by their bytes: two that look the same are two folders")
    func lookAlikes() throws {
        let inbox = try inbox()
        let tree = try inbox.stagedTree()
        try tree.makeFolder(try place("\u{E9}"))
        try tree.makeFolder(try place("e\u{301}"))
        try tree.add(try entry("\u{E9}/a"), "composed")
        try tree.add(try entry("e\u{301}/a"), "decomposed")
        try tree.add(try entry("A"), "upper")
        try tree.add(try entry("a"), "lower")
        let path = try inbox.store(tree, as: "tree").path
        #expect(contents(of: path + "/\u{E9}/a") == Array("composed".utf8))
        #expect(contents(of: path + "/e\u{301}/a") == Array("decomposed".utf8))
        #expect(contents(of: path + "/A") == Array("upper".utf8))
        #expect(contents(of: path + "/a") == Array("lower".utf8))
    }

    @Test("refuses an entry that exists already, whatever it is, and keeps the existing one")
    func duplicates() throws {
        let inbox = try inbox()
        let tree = try inbox.stagedTree()
        let link = try place("link")
        try tree.makeFolder(try place("folder"))
        try tree.makeLink(link, target: try SafeLinkTarget("folder", of: link))
        try tree.add(try entry("file"), "first")
        for path in ["folder", "link", "file"] {
            #expect(faultCode { try tree.beginFile(try entry(path)) } == .unsafeName)
            #expect(faultCode { try tree.makeFolder(try place(path)) } == .unsafeName)
            let target = try SafeLinkTarget("folder", of: try place(path))
            #expect(faultCode { try tree.makeLink(try place(path), target: target) } == .unsafeName)
        }
        #expect(contents(of: try stagedPath() + "/file") == Array("first".utf8))
    }

    @Test(
        "refuses a place whose folder is not there, is a file, or is a link",
        arguments: [BeneathOpening.inOneCall, .nameByName]
    )
    func missingFolder(opening: BeneathOpening) throws {
        let inbox = try inbox(opening)
        let tree = try inbox.stagedTree()
        let link = try place("link")
        try tree.makeFolder(try place("folder"))
        try tree.makeLink(link, target: try SafeLinkTarget("folder", of: link))
        try tree.add(try entry("file"), "x")
        for path in ["missing/a", "file/a", "link/a", "folder/b/c"] {
            #expect(faultCode { try tree.beginFile(try entry(path)) } == .unsafeName, "\(path)")
            #expect(faultCode { try tree.makeFolder(try place(path)) } == .unsafeName, "\(path)")
            let target = try SafeLinkTarget("x", of: try place(path))
            #expect(faultCode { try tree.makeLink(try place(path), target: target) } == .unsafeName, "\(path)")
        }
        for path in ["missing", "file", "link"] {
            #expect(
                faultCode { try tree.closeFolder(try place(path), modified: Timestamp(seconds: 1, nanoseconds: 0)) }
                    == .unsafeName, "\(path)")
        }
        #expect(everything(below: try stagedPath()) == ["file", "folder", "link"])
    }

    @Test(
        "writes nothing outside when one of its folders is swapped for a link between two files",
        arguments: [BeneathOpening.inOneCall, .nameByName]
    )
    func linkSwap(opening: BeneathOpening) throws {
        let inbox = try inbox(opening)
        mkdir(folder / "outside", 0o755)
        let tree = try inbox.stagedTree()
        try tree.makeFolder(try place("a"))
        try tree.makeFolder(try place("a/b"))
        try tree.makeFolder(try place("c"))
        try tree.add(try entry("a/b/first"), "1")
        let staged = try stagedPath()
        // The open folder, then a folder on the way to another one, then the item itself.
        rename(staged + "/a/b", staged + "/moved")
        symlink(folder / "outside", staged + "/a/b")
        _ = faultCode { try tree.add(try entry("a/b/second"), "2") }
        try tree.add(try entry("c/other"), "leaves the open folder")
        #expect(faultCode { try tree.add(try entry("a/b/third"), "3") } == .unsafeName)
        #expect(faultCode { try tree.makeFolder(try place("a/b/folder")) } == .unsafeName)
        #expect(
            faultCode { try tree.closeFolder(try place("a/b"), modified: Timestamp(seconds: 1, nanoseconds: 0)) }
                == .unsafeName)
        rename(staged + "/c", staged + "/moved too")
        symlink("../../../outside", staged + "/c")
        #expect(faultCode { try tree.add(try entry("a/x"), "4") } == nil)
        #expect(faultCode { try tree.add(try entry("c/fourth"), "4") } == .unsafeName)
        rename(staged, folder / "gone")
        symlink(folder / "outside", staged)
        #expect(faultCode { try tree.makeFolder(try place("c/d")) } == .unsafeName)
        #expect(listing(of: folder / "outside").isEmpty)
        #expect(lstatus(of: folder / "outside")?.st_mtim.tv_sec != 1)
        tree.discard()
        #expect(listing(of: folder / "outside").isEmpty)
        #expect(lstatus(of: folder / "outside") != nil)
    }

    @Test("is as deep as a safe path can be, and is removed again")
    func deepest() throws {
        let inbox = try inbox()
        let tree = try inbox.stagedTree()
        var path = try place("d")
        try tree.makeFolder(path)
        for _ in 1..<(SafeRelativePath.maximumDepth - 1) {
            path = try path.appending(try name("d"))
            try tree.makeFolder(path)
        }
        try tree.add(FileEntry(path: try path.appending(try name("f")), executable: false, modified: nil, size: 1), "x")
        let stored = try inbox.store(tree, as: "deep")
        #expect(contents(of: stored.path + "/" + path.text + "/f") == [0x78])

        let long = try inbox.stagedTree()
        var longPath = try place(String(repeating: "l", count: 255))
        try long.makeFolder(longPath)
        while let longer = try? longPath.appending(try name(String(repeating: "l", count: 255))) {
            longPath = longer
            try long.makeFolder(longPath)
        }
        #expect(longPath.text.utf8.count == 12 * 256 - 1)
        long.discard()
        #expect(listing(of: folder / ".waft-staging/Inbox") == ["lock"])
    }

    @Test("of 20,000 files is stored with few descriptors open, and names every file")
    func manyFiles() throws {
        let inbox = try inbox()
        let before = openDescriptors(below: folder.path)
        let tree = try inbox.stagedTree()
        var most = 0
        for number in 0..<20_000 {
            if number % 1_000 == 0 { try tree.makeFolder(try place("\(number / 1_000)")) }
            try tree.beginFile(try entry("\(number / 1_000)/file \(number)", size: 4))
            try tree.write([1, 2, 3, 4])
            if number % 997 == 0 { most = max(most, openDescriptors(below: folder.path) - before) }
            try tree.endFile()
        }
        // The folder, the file, and small files that are not written yet.
        #expect(most <= 2 + WriteBehindQueue.maximumFiles)
        let path = try inbox.store(tree, as: "many").path
        #expect(openDescriptors(below: folder.path) == before)
        #expect((0..<20).allSatisfy { listing(of: path + "/\($0)").count == 1_000 })
        #expect(contents(of: path + "/19/file 19999") == [1, 2, 3, 4])
    }
}
