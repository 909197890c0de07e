import Foundation
import Sharing
import TestSupport
import Testing
import UniformTypes

@testable import ItemSources

@Suite("A program as a source of items")
struct ProgramSourceTests {
    private let folder = TemporaryFolder()

    /// A shell script that answers to its call.
    private func program(placeholder: String, item: String = "") -> String {
        let script = """
            #!/bin/sh
            case $1 in
            placeholder) \(placeholder);;
            item) echo ran >>'\(folder / "runs")'; \(item);;
            esac
            """
        return folder.program("source", script)
    }

    private func ask(_ path: String) throws -> ProgramSource? {
        try ProgramSource.asking(path, activity: "org.waft.activity.airdrop")
    }

    private func made(_ placeholder: String, _ item: String) throws -> any ItemSource {
        try #require(try ask(program(placeholder: "echo '\(placeholder)'", item: item)))
    }

    @Test("is offered by its placeholder, and runs for the item when that is opened, and not before")
    func item() throws {
        let source = try made(#"{"name": "a.txt", "size": 6, "subject": "S"}"#, "printf hello; echo")
        #expect(source.offered == OfferedItem(kind: .file, name: try SafeName("a.txt"), type: .plainText, size: 6))
        #expect((source as? ProgramSource)?.subject == "S")
        #expect(!FileManager.default.fileExists(atPath: folder / "runs"))
        #expect(try read(source).contents == ["": Array("hello\n".utf8)])
        #expect(fault { _ = try source.open() }?.message.contains("makes its item once only") == true)
    }

    @Test("gets the activity, and the recipient when it makes the item")
    func variables() throws {
        let path = program(
            placeholder: #"printf '{"name": "a", "subject": "%s"}' "$WAFT_ACTIVITY""#,
            item: #"printf '%s ' "$WAFT_ACTIVITY" "$WAFT_PEER_ID" "$WAFT_PEER_NAME" "$WAFT_TRANSFER""#)
        let source = try #require(try ask(path))
        #expect(source.subject == "org.waft.activity.airdrop")
        let recipient = ItemRecipient(peer: .sample(1), name: "study", transfer: TransferID())
        let contents = try read(source.made { recipient }).contents[""] ?? []
        #expect(
            String(decoding: contents, as: UTF8.self)
                == "org.waft.activity.airdrop \(PeerID.sample(1).text) study \(recipient.transfer.text) ")
    }

    @Test("makes the item as often as it is asked, if it says that it can")
    func repeatable() throws {
        let source = try made(#"{"name": "a", "repeatable": true}"#, "echo x")
        for _ in 1...2 { #expect(try read(source).contents == ["": Array("x\n".utf8)]) }
    }

    @Test("makes the file of a URL from the URL that it prints")
    func link() throws {
        let source = try made(#"{"name": "a.url", "kind": "url", "type": "public.url"}"#, "echo https://example.com/")
        let contents = try #require(try read(source).contents[""])
        #expect(InternetShortcut.url(in: contents) == "https://example.com/")
    }

    @Test("makes a folder from a tar archive, with times, rights and links, as a folder on the disk is read")
    func tree() throws {
        let name = "ü " + String(repeating: "long ", count: 40)
        try FileManager.default.createDirectory(
            atPath: folder / "trip/\(name)/empty", withIntermediateDirectories: true)
        try "hello".write(toFile: folder / "trip/\(name)/a.txt", atomically: false, encoding: .utf8)
        try "run".write(toFile: folder / "trip/run", atomically: false, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder / "trip/run")
        try FileManager.default.createSymbolicLink(atPath: folder / "trip/link", withDestinationPath: "run")
        let disk = try read(ItemSources.make(path: folder / "trip"))
        let source = try made(
            #"{"name": "trip", "kind": "tree", "size": 8, "entries": 6}"#,
            "tar --format=pax -C '\(folder / "trip")' -c .")
        #expect(source.offered.kind == .tree && source.offered.entries == 6 && source.offered.type == .folder)
        let made = try read(source)
        #expect(made.contents == disk.contents && Set(made.steps) == Set(disk.steps))
        #expect(made.entries == disk.entries && made.closed == disk.closed)
    }

    @Test(
        "that makes no folder as it has promised gives none",
        arguments: [
            ("echo no archive", SourceError.Code.unreadable, "whole tar archive"),
            ("tar -c a.txt b.txt | head -c 700", .unreadable, "whole tar archive"),
            ("tar -c a.txt", .changed, "less than it had promised"),
            ("tar -c a.txt b.txt c.txt", .changed, "more than it had promised"),
            ("tar -c d/a.txt a.txt", .unreadable, "before its folder"),
            ("tar -c --transform 's,a,../a,' -P a.txt b.txt", .unreadable, "cannot be sent"),
            ("tar -c -P \"$PWD/a.txt\" b.txt", .unreadable, "cannot be sent"),
            ("ln -f a.txt h; tar -c a.txt h", .unreadable, "neither a file"),
            ("mkfifo -m 600 p; tar -c a.txt p", .unreadable, "neither a file"),
            ("tar -c a.txt b.txt; exit 3", .unreadable, "exit code 3"),
        ])
    func brokenTree(item: String, code: SourceError.Code, reason: String) throws {
        try FileManager.default.createDirectory(atPath: folder / "d", withIntermediateDirectories: true)
        for name in ["a.txt", "b.txt", "c.txt", "d/a.txt"] { _ = folder.file(name, "hello") }
        let source = try made(
            #"{"name": "trip", "kind": "tree", "size": 10, "entries": 3}"#, "cd '\(folder / "")'; \(item)")
        let fault = fault { _ = try read(source) }
        #expect(fault?.code == code && fault?.message.contains(reason) == true, "\(fault?.message ?? "no fault")")
    }

    @Test("with nothing to share is no source")
    func nothing() throws {
        #expect(try ask(program(placeholder: "exit 1")) == nil)
    }

    @Test(
        "whose placeholder is not as it should be is refused with the reason",
        arguments: [
            ("exit 3", "exit code 3"), ("kill -9 $$", "signal 9"), ("echo x", "not as it should be"),
            (":", "not as it should be"),
            (#"echo '{"size": 1}'"#, #"no "name""#), (#"echo '{"name": "a", "size": -1}'"#, "not as it should be"),
            (#"echo '{"name": 5}'"#, #""name" of its document has another form"#),
            (#"echo '{"name": "../a"}'"#, "its name cannot be sent"),
            (#"echo '{"name": "a", "type": "pdf"}'"#, "no uniform type identifier"),
            (#"echo '{"name": "a", "kind": "url", "type": "public.jpeg"}'"#, "cannot be of the type"),
            ("cat /dev/zero", "more than 65536 bytes"),
            (#"echo '{"name": "a", "kind": "tree", "size": 1}'"#, "counts the folder too"),
            (#"echo '{"name": "a", "kind": "tree", "size": 1, "entries": 0}'"#, "counts the folder too"),
        ])
    func refused(placeholder: String, reason: String) throws {
        let path = program(placeholder: placeholder)
        let fault = fault { _ = try ask(path) }
        #expect(fault?.message.contains(reason) == true, "\(fault?.message ?? "no fault")")
    }

    @Test("that is missing, or is no program, is refused")
    func absent() {
        #expect(fault { _ = try ask(folder / "no") }?.code == .missing)
        let file = folder.file("text", "x")
        #expect(fault { _ = try ask(file) }?.message.contains("executable file") == true)
    }

    @Test(
        "that fails, or does not keep its promise, gives no item",
        arguments: [
            ("echo x; exit 2", SourceError.Code.unreadable, "exit code 2"), ("kill -9 $$", .unreadable, "signal 9"),
            ("echo x", .changed, "2 bytes of the 5"), ("echo 123456", .changed, "more bytes than the 5"),
        ])
    func failing(item: String, code: SourceError.Code, reason: String) throws {
        let source = try made(#"{"name": "a", "size": 5}"#, item)
        let fault = fault { _ = try read(source) }
        #expect(fault?.code == code && fault?.message.contains(reason) == true, "\(fault?.message ?? "no fault")")
    }

    @Test("is ended, with all that it has started, when its item is not read on")
    func abandoned() throws {
        let source = try made(#"{"name": "a"}"#, "sleep 600 & echo $! $$; wait")
        var pids: [pid_t] = []
        do {
            let reading = try source.open()
            _ = try reading.next()
            var bytes = [UInt8](repeating: 0, count: 100)
            let count = try bytes.withUnsafeMutableBytes { try reading.read(into: $0) }
            pids = String(decoding: bytes[..<count], as: UTF8.self).split { !$0.isNumber }.compactMap { pid_t($0) }
        }
        #expect(pids.count == 2)
        // The child of the program is not ours to wait for: it is gone when it gets its signal.
        for pid in pids { while kill(pid, 0) == 0, isAlive(pid) {} }
    }

    /// Whether a process still runs: a zombie has ended.
    private func isAlive(_ pid: pid_t) -> Bool {
        let text = (try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)) ?? ""
        return !text.isEmpty && !text.contains(") Z ")
    }
}
