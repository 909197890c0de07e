import Foundation
import HandlerCatalog
import Lines
import TestSupport
import Testing

@testable import CommandLine

@Suite("waft handlers test")
struct HandlersTestTests {
    private static let png: [UInt8] =
        [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13] + Array("IHDR".utf8)
    private let shelf: HandlerShelf

    init() async throws {
        shelf = HandlerShelf(hook: "on-arrival")
        try await shelf.add("Photos", "public.image")
        try await shelf.add("Viewer", "public.data")
        _ = FileManager.default.createFile(atPath: shelf.folder / "a.png", contents: Data(Self.png))
        _ = FileManager.default.createFile(atPath: shelf.folder / "b.jpg", contents: Data(Self.png))
        shelf.folder.file("evil.jpg", "\u{7F}ELF\u{2}\u{1}\u{1}\0")
    }

    /// The lines of the decision, without the table of the first handler's permissions.
    private func test(_ words: String...) async throws -> [String] {
        Array(try await shelf.run(["test"] + words).results.prefix { !$0.hasSuffix(" may do only this:") })
    }

    @Test("the permissions of the chosen handler follow in a table")
    func permissions() async throws {
        let lines = try await shelf.run("test", "--type", "public.png").results
        let start = try #require(lines.firstIndex(of: "  Photos may do only this:"))
        #expect(
            lines[(start + 1)...] == [
                "    reads         the system's folders, its bundle, the Inbox, and the folders it writes to",
                "                  \(shelf.program)",
                "    writes        its data folder \(shelf.folder.path)/user/handler-data/org.waft.local.photos",
                "                  a temporary folder for each call",
                "    Inbox         deletes items and moves them out; changes none",
                "    network       no",
                "    sockets       no",
                "    signals       only to its own processes",
                "    kernel        \(HandlerShelf.support)",
            ])
        let asked =
            try await shelf.run("test", "--type", "public.png", "--json").documents[0]["asked"] as? [[String: Any]]
        #expect(asked?.first?["sandbox"] as? String == "strict")
        #expect((asked?.first?["permissions"] as? [String: Any])?["sockets"] as? Bool == false)
        let keys = HandlerShelf.keys("org.example.free", ["public.png"], ["WaftSandbox": "none"])
        try shelf.write("Free", keys)
        #expect(
            try await shelf.run("test", "--type", "public.png").results.last
                == "  Free has no sandbox: it has all your permissions")
    }

    @Test("the whole decision is printed: type, content, candidates in order with the reasons, and the chosen handler")
    func transcript() async throws {
        _ = try await shelf.run("add", "--name", "Off", "--type", "public.png", "--run", "import.sh")
        _ = try await shelf.run("disable", "off")
        let path = shelf.folder / "a.png"
        let lines = try await test(path)
        #expect(lines.first == "\(path): public.png (PNG image)")
        #expect(lines[1] == "  contents match: PNG image")
        #expect(
            Array(lines.dropFirst(2)) == [
                "  1. Photos  opens public.image, 1 step up; rank Default, role Viewer",
                "  2. Viewer  opens public.data, 2 steps up; rank Default, role Viewer; behind Photos, "
                    + "which is fewer steps away",
                "  3. hook  gets items that no installed handler opens; behind Viewer, which is installed",
                "  4. Inbox  takes everything else, and keeps it in the Inbox",
                "  not asked: Off: it is disabled",
                "  Photos gets it; if it says no, Viewer is asked",
            ])
    }

    @Test("an item whose content contradicts its type goes to no handler")
    func liar() async throws {
        let lines = try await test(shelf.folder / "evil.jpg")
        #expect(lines[1].hasPrefix("  looks like JPEG image, but is ") && lines[1].hasSuffix(": not opened"))
        #expect(
            lines.last == "  no handler gets it: its content does not match its type; it stays in the Inbox, marked")
        let document = try await shelf.run("test", "--json", shelf.folder / "evil.jpg").documents[0]
        #expect((document["asked"] as? [Any])?.isEmpty == true)
        #expect(document["content"] as? String == "lying")
    }

    @Test("a mislabelled item is handled by its real type")
    func mislabelled() async throws {
        _ = try await shelf.run("add", "--name", "PNG", "--type", "public.png", "--run", "import.sh")
        _ = try await shelf.run("add", "--name", "JPEG", "--type", "public.jpeg", "--run", "import.sh")
        let lines = try await test(shelf.folder / "b.jpg")
        #expect(lines[0].hasSuffix("b.jpg: public.jpeg (JPEG image)"))
        #expect(lines[1] == "  the name says JPEG image, the contents are PNG image")
        #expect(lines[2] == "  handed on as public.png (PNG image)")
        #expect(lines.last == "  PNG gets it; if it says no, Photos is asked")
        #expect(!lines.contains { $0.contains("JPEG  opens") })
    }

    @Test("folders are examined without walking through them, also by way of . and ..")
    func folders() async throws {
        let folder = shelf.folder / "Deep.app"
        mkdir(folder, 0o700)
        chmod(folder, 0)
        #expect(try await test(folder)[0].contains("com.apple.application-bundle"))
        #expect(try await test(shelf.folder.path)[0].hasSuffix(": public.folder (folder)"))
        #expect(try await test(folder + "/../.")[0].contains("public.folder"))
        #expect(try await test("/")[0] == "/: public.folder (folder)")
    }

    @Test("a missing file is exit code 66, with a suggestion; the other files are still answered")
    func missing() async throws {
        let report = try await shelf.run("test", shelf.folder / "none.pdf", shelf.folder / "a.png")
        #expect(report.exit == .inputMissing)
        #expect(report.notes.first?.contains("none.pdf") == true)
        #expect(report.notes.last == "  to test the type of such a file: waft handlers test --type com.adobe.pdf")
        #expect(report.results.first?.contains("a.png: public.png") == true)
        mkfifo(shelf.folder / "fifo", 0o600)
        for path in ["", shelf.folder / "fifo", shelf.folder / "a\u{1B}[2Jb", "/dev/null", "a\0b"] {
            let report = try await shelf.run("test", path)
            #expect(report.exit == .inputMissing, "\(path.debugDescription)")
            #expect(report.isPrintable)
        }
    }

    @Test("--type takes a file for something else, and needs no file")
    func typed() async throws {
        let none = shelf.folder / "none"
        #expect(
            try await test(none, "--type", "public.png")[0]
                == "\(none): public.png (PNG image), by its type only: the file does not exist")
        #expect(try await test("--type", "com.adobe.pdf")[0] == "com.adobe.pdf (PDF document)")
        #expect(try await test("--type", "com.adobe.pdf").last == "  Viewer gets it; if it says no, hook is asked")
        let lines = try await test(shelf.folder / "a.png", "--type", "public.jpeg")
        #expect(lines[0].contains("public.jpeg"))
        #expect(lines[1].contains("the name says JPEG image, the contents are PNG image"))
        #expect(await shelf.failure("test", "--type", "pdf").message.contains("its type is com.adobe.pdf"))
        #expect(await shelf.failure("test", "--type", "pdf").exit == 64)
        #expect(await shelf.failure("test").exit == 64)
    }

    @Test("a type that handlers declare is known by its extension")
    func declared() async throws {
        let declaration: [String: Any] = [
            "UTTypeIdentifier": "org.example.rw2", "UTTypeConformsTo": ["public.image"],
            "UTTypeTagSpecification": ["public.filename-extension": ["rw2x"]],
        ]
        try shelf.write(
            "Raw",
            HandlerShelf.keys("org.example.raw", ["org.example.rw2"], ["UTExportedTypeDeclarations": [declaration]]))
        shelf.folder.file("x.rw2x", "something")
        let lines = try await test(shelf.folder / "x.rw2x")
        #expect(lines[0].contains("org.example.rw2"))
        #expect(lines.last == "  Raw gets it; if it says no, Photos is asked")
    }

    @Test("a type that the user leaves in the Inbox goes to no handler after that")
    func left() async throws {
        _ = try await shelf.run("default", "public.png", "inbox")
        let lines = try await test(shelf.folder / "a.png")
        #expect(lines[2].hasPrefix("  1. Inbox  your default for public.png"))
        #expect(lines.last == "  no handler gets it: it stays in the Inbox")
    }

    @Test("an argument with a scheme is a URL, unless a file has that name")
    func urls() async throws {
        _ = try await shelf.run("add", "--name", "Foo", "--scheme", "foo", "--run", "import.sh")
        _ = try await shelf.run("add", "--name", "Foo2", "--scheme", "foo", "--scheme", "bar", "--run", "import.sh")
        _ = try await shelf.run("add", "--name", "Off", "--scheme", "foo", "--run", "import.sh")
        _ = try await shelf.run("disable", "off")
        _ = try await shelf.run("default", "foo:", "Foo2")
        #expect(
            try await test("FOO:bar") == [
                "FOO:bar: a URL of the scheme foo", "  1. Foo2  your default for foo:; role Viewer",
                "  2. Foo  role Viewer", "  not asked: Off: it is disabled",
                "  Foo2 gets it; if it says no, Foo is asked",
                "  when received: stored, not opened",
            ])
        #expect(try await test("other:x")[1] == "  no handler opens it: handlers here open bar:, foo:")
        for scheme in ["http", "https", "mailto", "tel", "sms", "file"] {
            #expect(try await test(scheme + ":x")[1].contains("\(scheme): is built in"))
        }
        let document = try await shelf.run("test", "foo:a?b=c", "--json").documents[0]
        #expect(document["event"] as? String == "schemeDecision")
        #expect((document["urlParts"] as? [String: Any])?["query"] as? String == "b=c")
        #expect((document["asked"] as? [[String: Any]])?.map { $0["name"] as? String } == ["Foo2", "Foo"])
        let refused = await shelf.failure("test", "foo://a b")
        #expect(refused.exit == 64)
        #expect(refused.message.contains("white space"))
        let file = await shelf.failure("test", "notes: monday.txt")
        #expect(file.exit == 66)
        #expect(file.message.contains("there is no such file"))
        #expect(await !shelf.failure("test", "foo://\u{1B}[2J").message.contains("\u{1B}"))
    }

    @Test("the output states whether a received URL is opened")
    func received() async throws {
        let opened = Set(["https", "foo"].compactMap { URLScheme($0) })
        for (url, isOpened) in [("https://a", true), ("foo:x", true), ("http://a", false), ("bar:x", false)] {
            let lines = try await shelf.run(["test", url], openedSchemes: opened).results
            #expect(lines.contains { $0.contains("opened at once") } == isOpened)
            let document = try await shelf.run(["test", url, "--json"], openedSchemes: opened).documents[0]
            #expect(document["openedWhenReceived"] as? Bool == isOpened)
        }
    }

    @Test("a file whose name looks like a URL is a file")
    func fileOrURL() async throws {
        let path = shelf.folder / "foo:bar.png"
        _ = FileManager.default.createFile(atPath: path, contents: Data(Self.png))
        #expect(try await test(path)[0] == "\(path): public.png (PNG image)")
        #expect(await shelf.failure("test", shelf.folder / "foo:baz.png").exit == 66)
    }

    @Test("with eligibility: handlers it says whether such an item could be sent here at all")
    func eligibility() async throws {
        let shelf = HandlerShelf(rule: .handlers)
        try await shelf.add("Photos", "public.image")
        shelf.folder.file("n.txt", "hello")
        let lines = try await shelf.run("test", shelf.folder / "n.txt").results
        #expect(
            lines.contains("  can be sent here: no: no handler here opens public.plain-text; it opens public.image"))
        #expect(lines.last == "  no handler gets it: it cannot be sent here")
        #expect(try await shelf.run("test", "--type", "public.png").results.contains("  can be sent here: yes"))
        let document = try await shelf.run("test", "--json", "--type", "com.adobe.pdf").documents[0]
        #expect(document["eligible"] as? Bool == false)
        #expect((document["reason"] as? String)?.hasPrefix("no handler here opens com.adobe.pdf") == true)
    }

    @Test("each item is one JSON document, with all that the text has")
    func json() async throws {
        let report = try await shelf.run("test", "--json", shelf.folder / "a.png", shelf.folder.path)
        #expect(report.documents.count == 2)
        let first = report.documents[0]
        #expect(first["v"] as? Int == 1)
        #expect(first["type"] as? String == "public.png")
        #expect(first["content"] as? String == "consistent")
        let claimants = first["claimants"] as? [[String: Any]] ?? []
        #expect(claimants.map { $0["name"] as? String } == ["Photos", "Viewer", "hook", "Inbox"])
        #expect(claimants.map { $0["steps"] as? Int } == [1, 2, 3, 3])
        #expect(claimants[1]["decidedBy"] as? String == "conformanceSteps")
        #expect((first["asked"] as? [[String: Any]])?.count == 3)
        #expect(report.documents[1]["kind"] as? String == "tree")
    }
}
