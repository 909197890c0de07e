import CLinuxShims
import Foundation
import Glibc
import ItemSources
import Sharing
import TestSupport
import Testing
import UniformTypes

@Suite("A folder as a source")
struct TreeSourceTests {
    private let folder = TemporaryFolder()

    /// A small tree with everything that can be sent.
    private func makeTree() -> String {
        let root = folder / "project"
        for path in ["", "/empty", "/src", "/src/deep"] { mkdir(root + path, 0o755) }
        makeFile(root + "/.hidden", "hidden")
        makeFile(root + "/src/run", "#!/bin/sh\n")
        chmod(root + "/src/run", 0o755)
        makeFile(root + "/src/deep/b", "bb")
        makeFile(root + "/src/deep/a", "")
        symlink("../empty", root + "/src/link")
        return root
    }

    @Test("is offered with its contents, and read folder by folder, in the byte order of the names")
    func wholeTree() throws {
        let root = makeTree()
        var times = [timespec(tv_sec: 0, tv_nsec: 0), timespec(tv_sec: 1_000_000, tv_nsec: 42)]
        for path in ["", "/src", "/src/run"] { utimensat(AT_FDCWD, root + path, &times, 0) }
        let source = try make(root)
        var expected = OfferedItem(kind: .tree, name: try SafeName("project"), type: .folder, size: 18, entries: 9)
        expected.needs = DiskNeeds()
        expected.needs?.links = true
        #expect(source.offered == expected)
        for _ in 0..<2 {
            let yield = try read(source)
            #expect(
                yield.steps == [
                    "f .hidden", "d empty", "c empty", "d src", "d src/deep", "f src/deep/a", "f src/deep/b",
                    "c src/deep",
                    "l src/link -> ../empty", "f src/run", "c src", "c ",
                ])
            #expect(yield.contents["src/deep/b"] == Array("bb".utf8))
            #expect(yield.contents["src/deep/a"] == [])
            let time = Timestamp(seconds: 1_000_000, nanoseconds: 42)
            #expect(yield.closed["src"] == time)
            #expect(yield.closed[""] == time)
            let run = FileEntry(path: try SafeRelativePath("src/run"), executable: true, modified: time, size: 10)
            #expect(yield.entries["src/run"] == run)
            #expect(yield.entries[".hidden"]?.executable == false)
        }
        #expect(openDescriptors(below: folder.path) == 0)
    }

    @Test("tells which abilities of a disk it needs, and nothing if it needs none")
    func needs() throws {
        mkdir(folder / "odd", 0o755)
        for name in ["plain", "sub"] { mkdir(folder / "odd/" + name, 0o755) }
        makeFile(folder / "odd/sub/Plain", "x")
        #expect(try make(folder / "odd").offered.needs == nil)
        makeFile(folder / "odd/sub/a:b", "x")
        makeFile(folder / "odd/PLAIN", "x")
        let needs = try #require(try make(folder / "odd").offered.needs)
        #expect(needs.characters == ":" && needs.alike && !needs.links && needs.longestName == 0)
    }

    @Test("that is empty is one entry")
    func empty() throws {
        mkdir(folder / "empty", 0o755)
        let source = try make(folder / "empty")
        #expect(source.offered.entries == 1)
        #expect(source.offered.size == 0)
        #expect(try read(source).steps == ["c "])
    }

    @Test("has a name however its path is written", arguments: ["", "/", "///", "/.", "/src/..", "/src/../"])
    func paths(suffix: String) throws {
        let root = makeTree()
        #expect(try make(root + suffix).offered.name.text == "project")
    }

    @Test("may be the working directory, and the one above it")
    func workingDirectory() async {
        await #expect(processExitsWith: .success) {
            let folder = TemporaryFolder()
            mkdir(folder / "outer", 0o755)
            mkdir(folder / "outer/inner", 0o755)
            makeFile(folder / "outer/inner/a", "x")
            #expect(chdir(folder / "outer/inner") == 0)
            for (path, name) in [(".", "inner"), ("./", "inner"), ("..", "outer"), ("../inner", "inner"), ("a", "a")] {
                let source = try make(path)
                #expect(source.offered.name.text == name)
                _ = try read(source)
            }
        }
    }

    @Test("that has no name of its own needs one")
    func root() throws {
        mkdir(folder / "x", 0o755)
        let found = fault { _ = try ItemSources.make(path: "/", canName: true) }
        #expect(found == SourceError(.unreadable, "/: has no name of its own; give it one with --name"))
    }

    @Test("reached by a link has the link's name, and the names of its files are not lost")
    func link() throws {
        let root = makeTree()
        symlink(root, folder / "link.app")
        for path in ["link.app", "link.app/"] {
            let source = try make(folder / path)
            #expect(source.offered.name.text == "link.app")
            #expect(source.offered.type == .applicationBundle)
            #expect(try read(source).contents.count == 4)
        }
    }

    @Test(
        "with an extension for packages has its type, one for files has not",
        arguments: [
            ("Thing.app", "com.apple.application-bundle"), ("photo.jpg", "public.folder"), ("plain", "public.folder"),
        ])
    func packageTypes(name: String, type: String) throws {
        mkdir(folder / name, 0o755)
        #expect(try make(folder / name).offered.type == UniformType(type))
    }

    @Test(
        "with a name in it that cannot be sent is refused with path, reason and advice",
        arguments: [
            ("a\u{1B}[2Jb", "a\\u{1B}[2Jb"), ("a\nb", "a\\nb"), ("gpj\u{202E}exe", "gpj\\u{202E}exe"),
            ("\u{FEFF}x", "\\u{FEFF}x"), ("\u{85}", "\\u{85}"),
        ]
    )
    func unfitNames(name: String, shown: String) throws {
        let root = makeTree()
        makeFile(root + "/src/" + name)
        #expect(
            fault { _ = try make(root) }
                == SourceError(
                    .unreadable,
                    "\(root)/src/\(shown): the name contains control or direction-changing characters; rename it, or leave it out"
                ))
    }

    @Test("with a name in it that is not UTF-8 is refused")
    func notUTF8() throws {
        let root = makeTree()
        makeStrange(root + "/src", nameBytes: [0x61, 0xFF, 0x62])
        #expect(
            fault { _ = try make(root) }
                == SourceError(
                    .unreadable, "\(root)/src/a\u{FFFD}b: the name is not UTF-8; rename it, or leave it out"))
    }

    @Test(
        "keeps names that only look strange",
        arguments: ["-rf", "a\\b", "...", " ", "e\u{301}", "con", "$(id)"] + SampleNames.joining)
    func oddNames(name: String) throws {
        mkdir(folder / "tree", 0o755)
        makeFile(folder / "tree/" + name, "x")
        let yield = try read(try make(folder / "tree"))
        #expect(yield.contents.keys.map { Array($0.utf8) } == [Array(name.utf8)])
        #expect(try make(folder / "tree/" + name).offered.name.text.utf8.elementsEqual(name.utf8))
    }

    @Test("is refused for everything in it that cannot be sent, in its order, and never for more than 20 things")
    func manyProblems() throws {
        let root = makeTree()
        for name in ["a\nb", "c\u{1B}", "\u{301}\u{7}"] { makeFile(root + "/" + name) }
        mkfifo(root + "/empty/pipe", 0o600)
        makeStrange(root + "/src/deep", nameBytes: [0xFF])
        let found = try #require(fault { _ = try make(root) })
        let beginnings = ["/a\\nb: ", "/c\\u{1B}: ", "/empty/pipe: ", "/src/deep/\u{FFFD}: ", "/\\u{301}\\u{7}: "]
        let lines = [found.message] + found.others
        #expect(lines.count == beginnings.count)
        for (line, beginning) in zip(lines, beginnings) { #expect(line.hasPrefix(root + beginning), "\(line)") }
        for number in 0..<30 { makeFile("\(root)/n\(number)\u{7F}") }
        #expect(fault { _ = try make(root) }?.others.count == 19)
        #expect(openDescriptors(below: folder.path) == 0)
    }

    @Test(
        "with a link that leads out of it is refused",
        arguments: [
            ("../../x", "the link leads out of its folder"), ("/etc/passwd", "the path is absolute"),
            ("deep/../../../x", "the link leads out of its folder"),
        ]
    )
    func leavingLinks(target: String, why: String) throws {
        let root = makeTree()
        symlink(target, root + "/src/out")
        #expect(
            fault { _ = try make(root) }
                == SourceError(
                    .unreadable,
                    "\(root)/src/out: the link cannot be sent (to \(target)): \(why); "
                        + "replace it by its target, or leave it out"))
    }

    @Test("with links that stay in it keeps them as links, even those that lead nowhere or to folders")
    func stayingLinks() throws {
        let root = makeTree()
        symlink("../src", root + "/src/around")
        symlink("missing", root + "/src/nowhere")
        symlink(".", root + "/here")
        let yield = try read(try make(root))
        #expect(
            yield.steps.filter { $0.hasPrefix("l") } == [
                "l here -> .", "l src/around -> ../src", "l src/link -> ../empty", "l src/nowhere -> missing",
            ])
    }

    @Test("with a pipe or a socket in it is refused")
    func special() throws {
        let root = makeTree()
        mkfifo(root + "/src/pipe", 0o600)
        #expect(
            fault { _ = try make(root) }
                == SourceError(
                    .unreadable, "\(root)/src/pipe: is a named pipe and cannot be sent; leave it out"))
        unlink(root + "/src/pipe")
        mknod(root + "/src/socket", S_IFSOCK | 0o600, 0)
        #expect(fault { _ = try make(root) }?.message.contains("is a socket") == true)
        unlink(root + "/src/socket")
        mknod(root + "/src/device", S_IFCHR | 0o600, 0x103)  // /dev/null
        #expect(fault { _ = try make(root) }?.message.contains("is a device") == true)
    }

    @Test("with a file or folder in it that may not be read is refused before it is offered")
    func unreadable() async {
        await #expect(processExitsWith: .success) {
            let folder = TemporaryFolder()
            chmod(folder.path, 0o755)
            mkdir(folder / "tree", 0o755)
            makeFile(folder / "tree/file", "x")
            mkdir(folder / "tree/sub", 0o755)
            makeFile(folder / "tree/sub/file", "x")
            // Not as root, which may read everything.
            #expect(seteuid(65_534) == 0)
            _ = try make(folder / "tree")
            for path in ["tree/file", "tree/sub", "tree/sub/file"] {
                #expect(seteuid(0) == 0)
                let mode = path == "tree/sub" ? 0o755 : 0o644
                chmod(folder / path, 0o000)
                #expect(seteuid(65_534) == 0)
                #expect(
                    fault { _ = try make(folder / "tree") }
                        == SourceError(
                            .unreadable,
                            "\(folder / path): may not be read (Permission denied); check its permissions, or leave it out"
                        ))
                #expect(seteuid(0) == 0)
                chmod(folder / path, mode_t(mode))
            }
            // The owner may read the file only if the mode allows it.
            chown(folder / "tree/file", 65_534, 65_534)
            for (mode, mayRead) in [(0o000, false), (0o044, false), (0o400, true), (0o644, true)] {
                chmod(folder / "tree/file", mode_t(mode))
                #expect(seteuid(65_534) == 0)
                #expect(fault { _ = try make(folder / "tree") }?.code == (mayRead ? nil : .unreadable))
                #expect(seteuid(0) == 0)
            }
            // A folder that allows listing its names, but not reading its files.
            chmod(folder / "tree/sub", 0o744)
            #expect(seteuid(65_534) == 0)
            #expect(fault { _ = try make(folder / "tree") }?.code == .unreadable)
            #expect(seteuid(0) == 0)
        }
    }

    @Test("as deep as a safe path can be is sent, with one descriptor a level, and one level more is refused")
    func depth() throws {
        mkdir(folder / "deep", 0o755)
        var path = folder / "deep"
        for _ in 0..<SafeRelativePath.maximumDepth {
            path += "/d"
            mkdir(path, 0o755)
        }
        let source = try make(folder / "deep")
        #expect(source.offered.entries == 129)
        var most = 0
        let yield = try read(source) { _, _ in most = max(most, openDescriptors(below: folder.path)) }
        #expect(yield.steps.count == 2 * SafeRelativePath.maximumDepth + 1)
        #expect(most <= SafeRelativePath.maximumDepth + 1)
        makeFile(path + "/f")
        let found = fault { _ = try make(folder / "deep") }
        #expect(found?.code == .unreadable)
        #expect(found?.message.contains("deeper than 128 folders") == true)
    }

    @Test("of 20,000 files is read with three descriptors open at most, every file with its bytes")
    func manyFiles() throws {
        let root = folder / "many"
        mkdir(root, 0o755)
        for number in 0..<20_000 { makeFile(root + "/\(number)", "\(number)") }
        let source = try make(root)
        #expect(source.offered.entries == 20_001)
        #expect(source.offered.size == 88_890)
        var most = 0
        var seen = 0
        let yield = try read(source) { _, pieces in
            seen += 1
            if seen % 997 == 0 { most = max(most, openDescriptors(below: folder.path)) }
        }
        // The file, its folder, and that folder once more if read-ahead requests files that are not in memory.
        #expect((2...3).contains(most))
        #expect(yield.contents.count == 20_000)
        #expect(yield.contents.allSatisfy { Array($0.key.utf8) == $0.value })
        #expect(
            yield.steps.dropLast().map { Array($0.utf8) }
                == (0..<20_000).map { Array("f \($0)".utf8) }
                .sorted { $0.lexicographicallyPrecedes($1) })
    }
}
