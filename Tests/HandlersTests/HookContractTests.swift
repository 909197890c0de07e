import Digests
import Foundation
import HandlerCatalog
import Handlers
import HookSandbox
import Sharing
import TestSupport
import Testing

@Suite("The hook contract", .timeLimit(.minutes(1)))
struct HookContractTests {
    private let recording = """
        printf '%s\\0' "$@" > args
        env -0 > env
        pwd > cwd
        cat > stdin
        """

    private func variables(_ place: HookFolder) -> [String] {
        place.parts("env").filter { $0.hasPrefix("WAFT_") }.sorted()
    }

    @Test("the hook gets its arguments, its folder, its environment and the document")
    func contract() async throws {
        let place = HookFolder()
        let arrival = Arrival.sample(annotation: [
            "note": "für dich\n", "a": "b", SourceApplication.key: "org.waft.send",
        ])
        let outcome = try await place.run(recording, arrival, attempt: 3)
        #expect(outcome == AttemptOutcome(.yes, exitCode: 0))
        #expect(place.parts("args") == ["open-url", "file:///in/the/Inbox/report.pdf"])
        #expect(place.text("cwd") == place.folder.path + "\n")
        let digest = Digest.of(.xxh3_128, Array("hello".utf8)).description
        #expect(
            variables(place) == [
                "WAFT_ATTEMPT=3", "WAFT_DATA=\(place.folder.path)", "WAFT_DIGEST=\(digest)",
                "WAFT_FILE=/in/the/Inbox/report.pdf", "WAFT_NAME=report.pdf",
                "WAFT_PEER_ID=\(PeerID.sample(7).text)", "WAFT_PEER_NAME=study", "WAFT_SIZE=5",
                "WAFT_SOURCE_APPLICATION=org.waft.send", "WAFT_SOURCE_APPLICATION_ID=org.example.hook",
                "WAFT_TRANSFER=\(arrival.transfer)", "WAFT_TYPE=com.adobe.pdf",
                "WAFT_URL=file:///in/the/Inbox/report.pdf", "WAFT_VIA=waft",
            ])
        let document = try #require(place.text("stdin"))
        #expect(
            document == """
                {"annotation":{"a":"b","note":"für dich\\n"},"attempt":3,"call":"open-url","digest":"\(digest)",\
                "file":"/in/the/Inbox/report.pdf","item":2,"kind":"file","name":"report.pdf","number":12,\
                "peer":{"id":"\(PeerID.sample(7).text)","name":"study"},"size":5,"sourceApplication":"org.waft.send",\
                "transfer":"\(arrival.transfer)","type":"com.adobe.pdf","url":"file:///in/the/Inbox/report.pdf","v":1,\
                "via":"waft"}

                """)
    }

    @Test(
        "the facts of the user are the annotation, and those of the sender are beside them, in every form of the call")
    func annotated() async throws {
        let arrival = Arrival.sample(annotation: ["note": "hi", SourceApplication.key: "org.waft.send"])
        let facts = ["a": "b\nc", "ключ": ""]
        let batch = try #require(HookCall.open([(arrival: arrival, attempt: 1)]))
        let url = HookCall.open(try URLParts("todo:x"), received: nil, attempt: 1)
        for call in [HookCall.open(arrival, attempt: 1), batch, url] {
            let place = HookFolder()
            let program = place.program(place.script(recording))
            #expect(try await place.runner().run(program, call.annotated(facts)).answer == .yes)
            #expect(variables(place).contains("WAFT_ANNOTATION={\"a\":\"b\\nc\",\"ключ\":\"\"}"))
            let document = try place.json("stdin")
            #expect(document["annotation"] as? [String: String] == facts)
            #expect(document["sender"] as? [String: String] == (call.url == "todo:x" ? nil : ["note": "hi"]))
        }
        let plain = HookFolder()
        let call = HookCall.open(arrival, attempt: 1).annotated([:])
        _ = try await plain.runner().run(plain.program(plain.script(recording)), call)
        #expect(!variables(plain).contains { $0.hasPrefix("WAFT_ANNOTATION") })
        #expect(try plain.json("stdin")["sender"] == nil)
    }

    @Test("for an item by AirDrop the hook gets the dialect, and no key, for none was proved")
    func unproven() async throws {
        let place = HookFolder()
        var arrival = Arrival.sample(annotation: [SourceApplication.key: "com.apple.finder"])
        (arrival.facts.peer, arrival.facts.dialect) = (.unproven(.keyless), .keyless)
        _ = try await place.run(recording, arrival)
        let variables = variables(place)
        #expect(variables.contains("WAFT_VIA=airdrop"))
        #expect(variables.contains("WAFT_SOURCE_APPLICATION=com.apple.finder"))
        #expect(!variables.contains { $0.hasPrefix("WAFT_PEER_ID") })
        let document = try place.json("stdin")
        #expect(document["via"] as? String == "airdrop")
        #expect((document["peer"] as? [String: Any])?.keys.sorted() == ["name"])
    }

    @Test(
        "a program gets the receiver's variables that all need, those of the session without a sandbox, and no secret")
    func secrets() async throws {
        let place = HookFolder()
        let names = ["TOP_SECRET_TOKEN", "DISPLAY", "LC_NAME", "HTTPS_PROXY"]
        for name in names { setenv(name, "of-\(name)", 1) }
        defer { for name in names { unsetenv(name) } }
        func got(_ program: HandlerProgram) async throws -> [String] {
            _ = try await place.runner().run(program, .open(.sample(), attempt: 1))
            return place.parts("env").compactMap { line in names.first { line == "\($0)=of-\($0)" } }.sorted()
        }
        let script = place.script(recording)
        #expect(try await got(place.program(script, sandbox: .strict)) == ["LC_NAME"])
        #expect(try await got(place.program(script, sandbox: .none)) == ["DISPLAY", "LC_NAME"])
        var naming = place.program(script, sandbox: .strict)
        naming.variables = ProgramVariables(LaunchRules(environment: ["HTTPS_PROXY"]))
        #expect(try await got(naming) == ["HTTPS_PROXY", "LC_NAME"])
    }

    @Test("the rest of the environment is the receiver's own, without the receiver's private variables")
    func environment() async throws {
        let place = HookFolder()
        setenv("NOTIFY_SOCKET", "/run/systemd/notify", 1)
        setenv("WAFT_FILE", "/left/over", 1)
        setenv("WAFT_ITEMS", "7", 1)
        defer { for name in ["NOTIFY_SOCKET", "WAFT_FILE", "WAFT_ITEMS"] { unsetenv(name) } }
        _ = try await place.run(recording)
        let path = try #require(ProcessInfo.processInfo.environment["PATH"])
        #expect(place.parts("env").contains("PATH=" + path))
        #expect(!place.parts("env").contains { $0.hasPrefix("NOTIFY_SOCKET") || $0.hasPrefix("WAFT_ITEMS") })
        let url = try URLParts("https://example.org/a?b#c")
        let program = place.program(place.script(recording))
        _ = try await place.runner().run(program, .open(url, received: nil, attempt: 1))
        #expect(!place.parts("env").contains { $0.hasPrefix("WAFT_FILE") })
    }

    @Test("the URL of a folder ends with a slash")
    func folderURL() async throws {
        let place = HookFolder()
        _ = try await place.run(recording, .sample("tree", kind: .tree))
        #expect(place.parts("args") == ["open-url", "file:///in/the/Inbox/tree/"])
    }

    @Test(
        "no name is ever read by a shell or taken for an option",
        arguments: [
            "$(touch pwned)", "`touch pwned`", "; touch pwned", "| touch pwned", "& touch pwned &", "> pwned",
            "&& touch pwned",
            "\"; touch pwned; \"", "'; touch pwned; '", "\\", "*", "~root", "${PATH}", "%n%s%x", "-rf", "--help", "-",
            "a b  c",
            "🍳 Küche", "#", "=", "!!", "%41", "?query#fragment",
        ])
    func hostileNames(name: String) async throws {
        let place = HookFolder()
        #expect(try await place.run(recording, .sample(name, annotation: [name: name], sender: name)).answer == .yes)
        let arguments = place.parts("args")
        #expect(arguments.count == 2)
        #expect(URL(string: arguments.last ?? "")?.path == "/in/the/Inbox/" + name)
        #expect(arguments.last?.hasPrefix("file:///in/the/Inbox/") == true)
        let environment = place.parts("env")
        #expect(environment.contains("WAFT_NAME=" + name))
        #expect(environment.contains("WAFT_FILE=/in/the/Inbox/" + name))
        #expect(environment.contains("WAFT_PEER_NAME=" + name))
        let document = try place.json("stdin")
        #expect(document["name"] as? String == name)
        #expect(document["annotation"] as? [String: String] == [name: name])
        #expect(place.folder.names == ["args", "cwd", "env", "hook", "stdin"])
    }

    @Test("a sender's name and note arrive with their line ends, escapes and all, and a NUL ends no variable")
    func senderName() async throws {
        let place = HookFolder()
        let name = "a\u{1b}[2J\nWAFT_TYPE=x\0y\"'$(id)"
        _ = try await place.run(recording, .sample(annotation: ["note": name], sender: name))
        let shown = name.replacingOccurrences(of: "\0", with: "\u{FFFD}")
        #expect(place.parts("env").contains("WAFT_PEER_NAME=" + shown))
        #expect(place.parts("env").contains("WAFT_TYPE=com.adobe.pdf"))
        let document = try place.json("stdin")
        #expect((document["peer"] as? [String: String])?["name"] == name)
        #expect((document["annotation"] as? [String: String])?["note"] == name)
        #expect(place.text("stdin")?.split(separator: "\n", omittingEmptySubsequences: false).count == 2)
    }

    @Test("the command line shows the URL and nothing else", arguments: [false, true])
    func commandLine(isSandboxed: Bool) async throws {
        let place = HookFolder()
        let arrival = Arrival.sample(annotation: ["note": "a-secret"], sender: "a-sender")
        let body = "tr '\\0' '\\n' < /proc/$$/cmdline > cmdline"
        _ = try await place.run(body, arrival, sandbox: isSandboxed ? .strict : .none)
        let expected = "/bin/sh\n\(place.folder / "hook")\nopen-url\nfile:///in/the/Inbox/report.pdf\n"
        #expect(place.text("cmdline") == expected)
    }

    @Test("a URL that is opened for its scheme is the argument itself, without a file")
    func plainURL() async throws {
        let place = HookFolder()
        let url = try URLParts("notes://me@host:7/a%20b?q=1&r#end")
        let program = place.program(place.script(recording))
        _ = try await place.runner().run(program, .open(url, received: nil, attempt: 2))
        #expect(place.parts("args") == ["open-url", url.text])
        #expect(
            variables(place) == [
                "WAFT_ATTEMPT=2", "WAFT_DATA=\(place.folder.path)", "WAFT_SOURCE_APPLICATION=org.waft.open",
                "WAFT_SOURCE_APPLICATION_ID=org.example.hook", "WAFT_TYPE=public.url", "WAFT_URL=\(url.text)",
            ])
        let document = try place.json("stdin")
        #expect(document["url"] as? String == url.text)
        #expect(document["file"] == nil && document["peer"] == nil && document["number"] == nil)
        let link = try #require(document["link"] as? [String: Any])
        #expect(link["scheme"] as? String == "notes")
        #expect(link["port"] as? Int == 7)
        #expect(link["pathSegments"] as? [String] == ["a b"])
    }

    @Test("a received URL that is opened for its scheme comes with the file that brought it")
    func receivedPlainURL() async throws {
        let place = HookFolder()
        let url = try URLParts("notes:add")
        let program = place.program(place.script(recording))
        let arrival = Arrival.sample("link.url", kind: .url)
        _ = try await place.runner().run(program, .open(url, received: arrival, attempt: 1))
        #expect(place.parts("args") == ["open-url", "notes:add"])
        #expect(variables(place).contains("WAFT_URL=notes:add"))
        #expect(variables(place).contains("WAFT_FILE=/in/the/Inbox/link.url"))
        #expect(try place.json("stdin")["number"] as? Int == 12)
    }

    @Test("a received URL comes with its parts")
    func link() async throws {
        let place = HookFolder()
        let path = place.inbox + "/example.url"
        let shortcut = "[InternetShortcut]\r\nURL=https://example.org/x?y\r\n"
        try shortcut.write(toFile: path, atomically: true, encoding: .utf8)
        _ = try await place.run(recording, .sample("example.url", kind: .url, path: path))
        let document = try place.json("stdin")
        #expect(document["url"] as? String == "file://" + path)
        #expect((document["link"] as? [String: Any])?["host"] as? String == "example.org")
    }

    @Test("a file without a URL has no parts, whatever its type is")
    func noLink() throws {
        let place = HookFolder()
        let folder = place.folder
        let good = "[InternetShortcut]\nurl=mailto:a@b\n"
        #expect(ReceivedLink.parts(at: folder.file("good", good))?.scheme.text == "mailto")
        symlink(folder / "good", folder / "link")
        place.makePipe("pipe")
        let long = "[InternetShortcut]\nA=" + String(repeating: "x", count: 16 << 10)
        let files = [
            folder.file("empty"), folder.file("other", "URL=https://a\n"),
            folder.file("bad", "[InternetShortcut]\nURL=\n"),
            folder.file("section", "[InternetShortcut]\n[Other]\nURL=https://a\n"),
            folder.file("late", long + "\nURL=https://a\n"),
            folder.file("control", "[InternetShortcut]\nURL=https://a/\u{1b}[2J\n"), folder / "link",
            folder / "missing", folder / "pipe", folder.path,
        ]
        for path in files { #expect(ReceivedLink.parts(at: path) == nil, "\(path)") }
    }

    @Test("a call for several items has them all in its document, and says how many they are")
    func batch() async throws {
        let place = HookFolder()
        let transfer = TransferID()
        let first = Arrival.sample("a.pdf", annotation: ["note": "n"], number: 4, transfer: transfer)
        let second = Arrival.sample("b", kind: .tree, number: 5, transfer: transfer)
        let call = try #require(HookCall.open([(first, 1), (second, 2)]))
        _ = try await place.runner().run(place.program(place.script(recording), mode: .perTransfer), call)
        #expect(place.parts("args") == ["open-url", "file:///in/the/Inbox/a.pdf"])
        #expect(variables(place).contains("WAFT_ITEMS=2"))
        #expect(variables(place).contains("WAFT_NAME=a.pdf"))
        let document = try place.json("stdin")
        #expect(document["name"] == nil)
        #expect(document["transfer"] as? String == transfer.text)
        #expect(document["annotation"] as? [String: String] == ["note": "n"])
        let items = try #require(document["items"] as? [[String: Any]])
        #expect(items.map { $0["number"] as? Int } == [4, 5])
        #expect(items.map { $0["attempt"] as? Int } == [1, 2])
        #expect(items.map { $0["url"] as? String } == ["file:///in/the/Inbox/a.pdf", "file:///in/the/Inbox/b/"])
    }

    @Test("a call for a transfer of one item has its facts at the top too")
    func batchOfOne() async throws {
        let place = HookFolder()
        let call = try #require(HookCall.open([(.sample(), 1)]))
        _ = try await place.runner().run(place.program(place.script(recording), mode: .perTransfer), call)
        let document = try place.json("stdin")
        #expect(document["name"] as? String == "report.pdf")
        #expect((document["items"] as? [[String: Any]])?.count == 1)
        #expect(variables(place).contains("WAFT_ITEMS=1"))
        #expect(HookCall.open([]) == nil)
    }

    @Test("a hook that never reads its input delays no other, however long the input is")
    func neverReads() async throws {
        let place = HookFolder()
        // More bytes than any pipe holds.
        let annotation = ["note": String(repeating: "x", count: 4 << 20)]
        #expect(try await place.run("exit 0", .sample(annotation: annotation)).answer == .yes)
    }

    @Test("each hook can read the document from its beginning to its end")
    func largeDocument() async throws {
        let place = HookFolder()
        let annotation = ["note": String(repeating: "x", count: 1 << 20)]
        for _ in 0..<2 {
            #expect(try await place.run("wc -c > count; exit 0", .sample(annotation: annotation)).answer == .yes)
            let count = Int(place.text("count")?.trimmingCharacters(in: .whitespacesAndNewlines) ?? "") ?? 0
            #expect(count > 1 << 20)
        }
    }

    @Test("a hook inherits no descriptor but its three", arguments: [false, true])
    func descriptors(isSandboxed: Bool) async throws {
        let place = HookFolder()
        let marker = open(place.folder.file("marker"), O_RDONLY)  // no O_CLOEXEC, as a careless library would
        defer { close(marker) }
        let body = "import os; open('descriptors', 'w').write(' '.join(sorted(os.listdir('/proc/self/fd'))))"
        let program = place.program(place.python(body), sandbox: isSandboxed ? .strict : .none)
        #expect(try await place.runner().run(program, .open(.sample(), attempt: 1)).answer == .yes)
        // 3 and 4 are the file that the shell writes and the folder that it reads.
        #expect(place.text("descriptors") == "0 1 2 3 4")
    }

    @Test("a hook's temporary folder is its own, private, and gone after it", arguments: [false, true])
    func temporaryFolder(isSandboxed: Bool) async throws {
        let place = HookFolder()
        let body = """
            stat -c '%a %n' "$TMPDIR" > folder
            mkdir -p "$TMPDIR/a/b"; echo x > "$TMPDIR/a/b/c"; ln -s / "$TMPDIR/a/root"; chmod 0 "$TMPDIR/a/b"
            """
        #expect(try await place.run(body, sandbox: isSandboxed ? .strict : .none).answer == .yes)
        #expect(place.text("folder")?.hasPrefix("700 \(place.scratch)/") == true)
        #expect(place.scratchNames.isEmpty)
    }

    @Test("the remains of calls before a crash are removed, and nothing else")
    func sweep() throws {
        let place = HookFolder()
        var deep = place.scratch + "/call-abcdef"
        for _ in 0..<40 {
            deep += "/" + String(repeating: "d", count: 50)
            try FileManager.default.createDirectory(atPath: deep, withIntermediateDirectories: true)
        }
        try "x".write(toFile: deep + "/file", atomically: false, encoding: .utf8)
        symlink(place.folder.path, place.scratch + "/call-abcdef/link")
        place.folder.file("kept")
        try "x".write(toFile: place.scratch + "/other", atomically: false, encoding: .utf8)
        place.runner().sweep()
        #expect(place.scratchNames == ["other"])
        #expect(place.folder.names == ["kept"])
    }
}
