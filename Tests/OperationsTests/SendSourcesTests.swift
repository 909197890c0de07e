import Foundation
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
}
