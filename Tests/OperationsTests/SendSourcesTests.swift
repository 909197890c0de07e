import Foundation
import Glibc
import ItemSources
import Lines
import Sharing
import TestSupport
import Testing
import UniformTypes

@testable import Operations

@Suite("The items of waft send")
struct SendSourcesTests {
    private let folder = TemporaryFolder()

    private func sources(_ paths: [String], type: String? = nil) -> SendSources {
        var sources = SendSources(paths: paths)
        sources.type = type
        return sources
    }

    private func failure(_ sources: SendSources) -> WaftError? {
        do throws(WaftError) {
            _ = try sources.make()
            return nil
        } catch {
            return error
        }
    }

    @Test("the refusal of a folder for one unsendable file names the options that send the rest")
    func hint() throws {
        try FileManager.default.createDirectory(atPath: folder / "notes", withIntermediateDirectories: true)
        #expect(mkfifo(folder / "notes/pipe", 0o600) == 0)
        try "x".write(toFile: folder / "a", atomically: false, encoding: .utf8)
        var whole = sources([folder / "notes"])
        let refused = failure(whole)
        #expect(refused?.code == .inputMissing)
        #expect(
            refused?.hint == "--skip-unreadable sends the rest; --exclude PATTERN leaves files and folders out by name")
        #expect(failure(sources([folder / "notes/pipe", folder / "a"]))?.hint == refused?.hint)
        // No hint if no files remain, or if the options cannot be used.
        #expect(failure(sources([folder / "notes/pipe"]))?.hint == nil)
        #expect(failure(sources([folder / "none", folder / "a"]))?.hint == nil)
        whole.canLeaveOut = false
        #expect(failure(whole)?.hint == nil)
    }

    @Test("a file that is named twice is sent once, with a word, and one of the same name in another folder is not it")
    func twice() throws {
        try FileManager.default.createDirectory(atPath: folder / "notes", withIntermediateDirectories: true)
        for name in ["a", "notes/a"] { try name.write(toFile: folder / name, atomically: false, encoding: .utf8) }
        let paths = ["a", "notes/a", "./a", "notes//a", "a"].map { folder / $0 }
        var left: [String] = []
        let once = SendSources.once(paths + ["-", "-"]) { left.append($0.message) }
        #expect(once == [folder / "a", folder / "notes/a", "-", "-"])
        #expect(left.count == 3 && left.allSatisfy { $0.hasSuffix(" is named twice; it is sent once") }, "\(left)")
    }

    @Test("a problem that two words have is said once")
    func twiceWrong() {
        let refused = failure(sources(["-", "-"]))
        #expect(refused?.reason == "standard input can be read only once: give one - and one peer")
        #expect(refused?.others == [])
    }

    @Test("a URL that is none is wrong usage")
    func url() {
        var named = sources([])
        named.urls = ["notaurl"]
        let refused = failure(named)
        #expect(
            refused?.code == .usage && refused?.reason.contains("notaurl") == true, "\(String(describing: refused))")
    }

    @Test("an option after -- is reported as a missing file, with the right place for options")
    func optionBehindHyphens() throws {
        try "x".write(toFile: folder / "-x", atomically: false, encoding: .utf8)
        let refused = failure(sources([folder / "-x", "--to", "kitchen"]))
        #expect(refused?.code == .inputMissing)
        #expect(refused?.hint == "each word after -- is the name of a file: put --to and other options in front of it")
    }

    @Test("a --type that is no identifier is 64, with the one of files that are called so")
    func types() throws {
        try "x".write(toFile: folder / "a", atomically: false, encoding: .utf8)
        let nonsense = failure(sources([folder / "a"], type: "nonsense"))
        #expect(nonsense?.code == .usage)
        #expect(nonsense?.reason == "--type nonsense is not a uniform type identifier")
        #expect(nonsense?.hint == "for example: com.adobe.pdf; waft type FILE says which one a file has")
        #expect(
            failure(sources([folder / "a"], type: "pdf"))?.hint
                == "for .pdf files: --type com.adobe.pdf")
        let unknown = try sources([folder / "a"], type: "org.example.thing").make()
        #expect(unknown.first?.offered.type.identifier == "org.example.thing")
    }

    @Test("what cannot be sent is left out on request and reported, and is the failure if nothing else is there")
    func leavingOut() throws {
        #expect(mkfifo(folder / "pipe", 0o600) == 0)
        folder.file("a", "x")
        var some = sources([folder / "pipe", folder / "none", folder / "a"])
        some.skipsUnsendable = true
        var left: [String] = []
        some.leftOut = { left.append($0.message) }
        #expect(try some.make().map(\.offered.name.description) == ["a"])
        #expect(
            left.count == 2 && left[0].contains("named pipe") && left[1].contains("there is no such file"), "\(left)")
        some.paths = [folder / "pipe"]
        #expect(failure(some)?.code == .inputMissing && failure(some)?.reason.contains("named pipe") == true)
    }

    @Test("all items that cannot be sent are named at once, and a name of other bytes is none")
    func faults() {
        var named = sources([folder / "none", folder / "neither", folder / "bad\u{FFFD}"])
        named.isRepaired = { $0.hasSuffix("\u{FFFD}") }
        let refused = failure(named)
        #expect(
            refused?.code == .inputMissing && refused?.reason == "\(folder / "none"): there is no such file or folder")
        #expect(
            refused?.others.count == 2 && refused?.others.last?.hasSuffix("; rename it") == true,
            "\(refused?.others ?? [])")
    }

    @Test("texts and URLs are items with their names, and an excluded name is not sent")
    func kinds() throws {
        for name in ["a.txt", "b.log"] { folder.file(name, "x") }
        var named = sources([folder / "a.txt", folder / "b.log"])
        (named.texts, named.urls) = (["hello"], ["https://example.org/x"])
        named.excluded = ["*.log"]
        #expect(try named.make().map(\.offered.name.description) == ["a.txt", "hello.txt", "example.org.url"])
        var all = sources([folder / "b.log"])
        all.excluded = ["*.log"]
        #expect(failure(all)?.reason == "nothing to send: --exclude leaves out all of it")
        #expect(failure(sources([]))?.reason == "nothing to send")
        var two = sources([folder / "a.txt"])
        (two.texts, two.name) = (["hello"], "x")
        #expect(failure(two)?.reason == "--name and --type need a single item, and there are 2")
        let many = failure(sources(Array(repeating: folder / "a.txt", count: Limits.items + 1)))
        #expect(many?.code == .usage && many?.hint == "send the folder that they are in: it is one item")
    }

    @Test("a program is asked for its item once, unless it says that it can make it for many")
    func programs() throws {
        func program(_ name: String, _ placeholder: String) -> String {
            folder.program(name, "#!/bin/sh\necho '\(placeholder)'\n")
        }
        var made = sources([])
        made.programs = [program("once", #"{"name": "a.txt", "type": "public.plain-text"}"#)]
        #expect(try made.make().map(\.offered.name.description) == ["a.txt"])
        made.peers = 2
        #expect(failure(made)?.code == .usage && failure(made)?.reason.hasSuffix("makes its item once only") == true)
        (made.peers, made.name) = (1, "x")
        #expect(
            failure(made)?.reason == "--name and --type do not go with --source: the program's placeholder has them")
        made.name = nil
        made.programs = [folder.program("nothing", "#!/bin/sh\nexit 0\n")]
        #expect(failure(made)?.code == .inputMissing, "\(String(describing: failure(made)))")
    }
}
