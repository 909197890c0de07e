import Foundation
import Testing

/// `waft share`, with the real programs.
@Suite("The share sheet", .serialized, .timeLimit(.minutes(2)))
struct ShareTests {
    /// A machine without a desktop, whose programs are those of a test.
    private func host(_ folder: String) throws -> Host {
        var host = Host.loopback(folder + "/home")
        try FileManager.default.createDirectory(atPath: folder + "/bin", withIntermediateDirectories: true)
        host.environment.merge([
            "PATH": folder + "/bin:\(BareSystem.programs)", "DISPLAY": "", "WAYLAND_DISPLAY": "", "HOME": folder,
            "XDG_CONFIG_HOME": "", "XDG_PICTURES_DIR": "", "DBUS_SESSION_BUS_ADDRESS": "",
        ]) { $1 }
        return host
    }

    /// A program of the desktop that writes its words to `NAME.words` and its input to `NAME.input`.
    private func addProgram(_ name: String, in folder: String, says text: String = "") throws {
        try writeScript(
            """
            #!/bin/sh
            printf '%s\\n' "$@" >'\(folder)/\(name).words'
            cat >'\(folder)/\(name).input'
            echo '\(text)'
            """,
            to: folder + "/bin/" + name)
    }

    private func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

    /// The lines of `--json`.
    private func documents(_ result: ProgramResult) -> [[String: Any]] {
        result.output.split(separator: "\n").compactMap { line in
            try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        }
    }

    private func types(_ result: ProgramResult) -> [String] {
        documents(result).compactMap { $0["type"] as? String }.map { $0.replacing("org.waft.activity.", with: "") }
    }

    @Test("the list has the activities that take all items, and --all why the others do not")
    func list() async throws {
        try await withTemporaryFolder { folder in
            var host = try host(folder)
            for name in ["lp", "xdg-email"] { try addProgram(name, in: folder) }
            try "x".write(toFile: folder + "/a.txt", atomically: false, encoding: .utf8)
            try Data([0xFF, 0xD8]).write(to: URL(fileURLWithPath: folder + "/b.jpg"))
            func list(_ words: String...) async throws -> [String] {
                let result = try await host.run(arguments: ["share", "--list", "--json"] + words, in: folder)
                #expect(result.exit == 0, "\(result)")
                return types(result)
            }
            #expect(try await list("a.txt") == ["queue", "print", "preview"])
            #expect(try await list("b.jpg") == ["queue", "print", "save-image", "preview"])
            #expect(try await list("a.txt", "b.jpg") == ["queue", "print", "preview"])
            #expect(try await list("--url", "https://example.com") == ["queue"])
            #expect(try await list("b.jpg", "--exclude-activity", "org.waft.activity.print").contains("print") == false)
            host.environment["WAFT_EXCLUDED_ACTIVITIES"] = "org.waft.activity.preview,org.example.gone"
            let all = try await host.run(arguments: ["share", "--list", "--all", "a.txt"], in: folder)
            #expect(all.output.contains("org.waft.activity.preview   Preview  not now: it is excluded\n"), "\(all)")
            #expect(all.output.contains("Mail  not now: there is no desktop here\n"), "\(all)")
            #expect(all.errors.contains("there is no activity org.example.gone at the moment"), "\(all)")
        }
    }

    @Test("without a terminal or a desktop nobody is asked, and nothing possible is 13")
    func refusals() async throws {
        try await withTemporaryFolder { folder in
            let host = try host(folder)
            try "x".write(toFile: folder + "/a.txt", atomically: false, encoding: .utf8)
            for (words, exit, said) in [
                (["a.txt"], 64, "there is no terminal to ask at\n  org.waft.activity.queue "),
                (["a.txt", "--activity", "org.waft.activity.copy"], 13, "no clipboard"),
                (["--window", "a.txt"], 1, "no desktop"),
            ] as [([String], Int, String)] {
                let result = try await host.run(arguments: ["share"] + words, in: folder)
                #expect(result.exit == exit && result.errors.contains(said), "\(words): \(result)")
            }
            let all = ["queue", "preview", "print"].flatMap { ["--exclude-activity", "org.waft.activity." + $0] }
            let none = try await host.run(arguments: ["share", "a.txt", "--list"] + all, in: folder)
            #expect(none.exit == 13, "\(none)")
        }
    }

    @Test("an item goes to the peer that is named, as by send, and the last line says how it ended")
    func sending() async throws {
        try await withTemporaryFolder { folder in
            let host = try host(folder)
            let kitchen = Host.loopback(folder + "/kitchen")
            try await kitchen.withReceiver { running in
                let words = ["share", "--text", "hello", "--subject", "S", "--to", running.address, "--json"]
                let result = try await host.run(arguments: words)
                #expect(result.exit == 0 && result.events.map(\.event).suffix(2) == ["done", "completed"], "\(result)")
                let last = try #require(documents(result).last)
                #expect(last["activity"] as? String == "org.waft.activity.airdrop")
                #expect(last["completed"] as? Bool == true && last["exit"] as? Int == 0)
                #expect(try running.names() == ["hello.txt"])
                let shown = try await kitchen.run(arguments: ["inbox", "show", "1", "--json"])
                #expect(documents(shown).first?["sourceApplication"] as? String == "org.waft.share", "\(shown)")
                #expect(try await kitchen.run(arguments: ["history", "--state", "opened"]).exit == 0)
            }
            let failed = try await host.run(arguments: ["share", "--text", "x", "--to", "127.0.0.1:1", "--json"])
            let last = try #require(documents(failed).last)
            #expect(failed.exit == 11 && last["completed"] as? Bool == false && last["exit"] as? Int == 11, "\(failed)")
        }
    }

    @Test("on a terminal a peer or an activity is chosen by number, name or address; giving up is 130")
    func terminal() async throws {
        try await withTemporaryFolder { folder in
            let host = try host(folder)
            try "hello\n".write(toFile: folder + "/a.txt", atomically: false, encoding: .utf8)
            try await Host.loopback(folder + "/kitchen").withReceiver { running in
                let sent = try await host.atTerminal(["share", "a.txt"], in: folder) { terminal in
                    try await terminal.transcript.says("a.txt  Plain text document, 6 bytes")
                    try await terminal.transcript.says("Share with? ")
                    try await terminal.type("nobody\n")
                    try await terminal.transcript.says("\"nobody\" is not in the list")
                    try await terminal.type(running.address + "\n")
                    try await terminal.transcript.says("stored as a.txt")
                }
                #expect(sent.exit == 0, "\(sent.text)")
            }
            let shown = try await host.atTerminal(["share", "a.txt"], in: folder) { terminal in
                try await terminal.transcript.says("Share with? ")
                try await terminal.type("preview\n")
                try await terminal.transcript.says("  hello")
            }
            #expect(shown.exit == 0, "\(shown.text)")
            let given = try await host.atTerminal(["share", "a.txt", "--json"], in: folder) { terminal in
                try await terminal.transcript.says("Share with? ")
                try await terminal.type("q\n")
                try await terminal.transcript.says(#""activity":null,"completed":false,"event":"completed","exit":130"#)
            }
            #expect(given.exit == 130, "\(given.text)")
        }
    }

    @Test("texts, URLs, one image and lists of files are copied in their own form")
    func copying() async throws {
        try await withTemporaryFolder { folder in
            var host = try host(folder)
            host.environment["WAYLAND_DISPLAY"] = "wayland-9"
            try addProgram("wl-copy", in: folder)
            try Data([0x89, 0x50, 0x4E, 0x47]).write(to: URL(fileURLWithPath: folder + "/a b.png"))
            try "x".write(toFile: folder + "/c.txt", atomically: false, encoding: .utf8)
            let file = "file://" + folder
            for (words, form, input) in [
                (
                    ["--text", "one", "--url", "https://example.com/"], "text/plain;charset=utf-8",
                    "one\nhttps://example.com/"
                ),
                (["a b.png"], "image/png", nil),
                (["a b.png", "c.txt"], "text/uri-list", "\(file)/a%20b.png\r\n\(file)/c.txt\r\n"),
            ] as [([String], String, String?)] {
                let result = try await host.run(
                    arguments: ["share", "--activity", "org.waft.activity.copy"] + words, in: folder)
                #expect(result.exit == 0 && result.output.hasSuffix(": copied\n"), "\(result)")
                #expect(try text(folder + "/wl-copy.words") == "--type\n\(form)\n")
                let copied = try Data(contentsOf: URL(fileURLWithPath: folder + "/wl-copy.input"))
                #expect(copied == input.map { Data($0.utf8) } ?? Data([0x89, 0x50, 0x4E, 0x47]))
            }
            host.environment["WAYLAND_DISPLAY"] = ""
            let words = ["share", "--text", "hi", "--activity", "org.waft.activity.copy"]
            let shown = try await host.atTerminal(words) { _ in }
            #expect(shown.exit == 0 && shown.text.contains("\u{1B}]52;c;aGk=\u{7}"), "\(shown.text)")
        }
    }

    @Test("documents and texts are printed by lp, whose answer is shown, and nothing stays behind")
    func printing() async throws {
        try await withTemporaryFolder { folder in
            let host = try host(folder)
            try addProgram("lp", in: folder, says: "request id is office-1 (2 file(s))")
            try "x".write(toFile: folder + "/-o.txt", atomically: false, encoding: .utf8)
            let words = ["share", "./-o.txt", "--text", "note", "--activity", "org.waft.activity.print"]
            let result = try await host.run(arguments: words, in: folder)
            #expect(result.exit == 0 && result.output == "2 items: request id is office-1 (2 file(s))\n", "\(result)")
            let said = try text(folder + "/lp.words").split(separator: "\n")
            #expect(said.prefix(4) == ["-t", "2 items", "--", folder[...] + "/-o.txt"])
            #expect(said.last?.hasSuffix("/note.txt") == true)
            let spool = try FileManager.default.contentsOfDirectory(atPath: host.home + "/run/share")
            #expect(spool == [])
            try writeScript("#!/bin/sh\necho first >&2; echo 'no printer' >&2; exit 1\n", to: folder + "/bin/lp")
            let failed = try await host.run(arguments: words, in: folder)
            #expect(failed.exit == 1 && failed.errors == "waft: lp failed: no printer\n", "\(failed)")
        }
    }

    @Test("items are attached to a new mail with their subject, and texts are its body")
    func mailing() async throws {
        try await withTemporaryFolder { folder in
            var host = try host(folder)
            host.environment["DISPLAY"] = ":9"
            try addProgram("xdg-email", in: folder)
            try "x".write(toFile: folder + "/a.txt", atomically: false, encoding: .utf8)
            let result = try await host.run(
                arguments: [
                    "share", "a.txt", "--text=-x", "--subject", "May", "--activity", "org.waft.activity.mail",
                ], in: folder)
            #expect(result.exit == 0, "\(result)")
            #expect(
                try text(folder + "/xdg-email.words")
                    == "--utf8\n--subject\nMay\n--body\n -x\n--attach\n\(folder)/a.txt\n")
        }
    }

    @Test("images are saved in the folder for pictures, and nothing is replaced")
    func saving() async throws {
        try await withTemporaryFolder { folder in
            let host = try host(folder)
            try FileManager.default.createDirectory(atPath: folder + "/.config", withIntermediateDirectories: true)
            try "XDG_PICTURES_DIR=\"$HOME/My Pictures\"\n"
                .write(toFile: folder + "/.config/user-dirs.dirs", atomically: false, encoding: .utf8)
            let png = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) + Data(repeating: 7, count: 300_000)
            try png.write(to: URL(fileURLWithPath: folder + "/a.png"))
            // A process died long ago while it saved.
            let left = folder + "/My Pictures/.waft-saving-1"
            try FileManager.default.createDirectory(atPath: folder + "/My Pictures", withIntermediateDirectories: true)
            try "x".write(toFile: left, atomically: false, encoding: .utf8)
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: 0)], ofItemAtPath: left)
            for name in ["a.png", "a-1.png"] {
                let result = try await host.run(
                    arguments: ["share", "a.png", "--activity", "org.waft.activity.save-image", "--json"], in: folder)
                let saved = folder + "/My Pictures/" + name
                #expect(
                    result.exit == 0 && documents(result).last?["returnedItems"] as? [String] == [saved], "\(result)")
                #expect(try Data(contentsOf: URL(fileURLWithPath: saved)) == png)
            }
            try FileManager.default.copyItem(atPath: "/bin/true", toPath: folder + "/liar.png")
            let liar = try await host.run(
                arguments: ["share", "liar.png", "--activity", "org.waft.activity.save-image"], in: folder)
            #expect(liar.exit == 13 && liar.errors.contains("not what it claims to be"), "\(liar)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder + "/My Pictures").count == 2)
        }
    }

    @Test("a program makes its item for the chosen activity, which it is told, and not before")
    func sources() async throws {
        try await withTemporaryFolder { folder in
            let host = try host(folder)
            try addProgram("lp", in: folder)
            try writeScript(
                """
                #!/bin/sh
                echo "$1 $WAFT_ACTIVITY" >>'\(folder)/calls'
                case $1 in placeholder) echo '{"name": "r.txt"}';; item) echo made;; esac
                """, to: folder + "/source")
            let listed = try await host.run(arguments: ["share", "--list", "--json", "--source", folder + "/source"])
            #expect(types(listed) == ["queue", "print"], "\(listed)")
            #expect(try text(folder + "/calls") == "placeholder \n")
            let printed = try await host.run(
                arguments: ["share", "--source", folder + "/source", "--activity", "org.waft.activity.print"])
            #expect(printed.exit == 0, "\(printed)")
            #expect(
                try text(folder + "/calls").split(separator: "\n").suffix(2)
                    == ["placeholder org.waft.activity.print", "item org.waft.activity.print"])
        }
    }

    @Test("one file opens in an application that the user chooses, and several do not")
    func openIn() async throws {
        try await withTemporaryFolder { folder in
            let shelf = try ApplicationShelf(folder, display: ":99")
            try "x".write(toFile: folder + "/a.txt", atomically: false, encoding: .utf8)
            try "y".write(toFile: folder + "/b.txt", atomically: false, encoding: .utf8)
            try await shelf.add("viewer", name: "Viewer", shelf.noting("viewer"), types: "text/plain;")
            #expect(types(try await shelf.waft("share", "a.txt", "--list", "--json")).contains("open-in"))
            #expect(!types(try await shelf.waft("share", "a.txt", "b.txt", "--list", "--json")).contains("open-in"))
            let end = try await shelf.host.atTerminal(["share", "a.txt"], in: folder) { terminal in
                try await terminal.transcript.says("Share with? ")
                try await terminal.type("org.waft.activity.open-in\n")
                try await terminal.transcript.says("Open in? [1-1] ")
                try await terminal.type("viewer\n")
                try await terminal.transcript.says("a.txt: handed to Viewer")
            }
            #expect(end.exit == 0, "\(end.text)")
        }
    }

    @Test("a handler's activity is offered for its types, does its work in its sandbox, and returns what it has made")
    func handlers() async throws {
        try await withTemporaryFolder { folder in
            let host = try host(folder)
            try host.addHandler(
                "images", activity: "org.example.resize", title: "Resize", itemTypes: "public.image",
                more: "<key>MaximumItems</key><integer>1</integer><key>CanPerform</key><true/>",
                script: """
                    #!/bin/sh
                    test "$1" = can-perform && exit "$(cat "$WAFT_DATA/no" 2>/dev/null || echo 0)"
                    cp "$WAFT_FILE" "$WAFT_DATA/small.png" && echo '{"returnedItems": ["small.png"]}'
                    """)
            try Data([1, 2, 3]).write(to: URL(fileURLWithPath: folder + "/a.png"))
            try "x".write(toFile: folder + "/a.txt", atomically: false, encoding: .utf8)
            func list(_ words: String...) async throws -> [String] {
                types(try await host.run(arguments: ["share", "--list", "--json"] + words, in: folder))
            }
            #expect(try await list("a.png").contains("org.example.resize"))
            #expect(try await !list("a.txt").contains("org.example.resize"))
            let text = try await host.run(
                arguments: ["share", "a.txt", "--activity", "org.example.resize"], in: folder)
            #expect(
                text.exit == 13 && text.errors.contains("it takes public.image, and not public.plain-text"), "\(text)")
            try Data([4]).write(to: URL(fileURLWithPath: folder + "/b.png"))
            #expect(try await !list("a.png", "b.png").contains("org.example.resize"))
            let two = try await host.run(
                arguments: ["share", "a.png", "b.png", "--activity", "org.example.resize"], in: folder)
            #expect(two.exit == 13 && two.errors.contains("it takes 1 item"), "\(two)")
            let done = try await host.run(
                arguments: ["share", "a.png", "--activity", "org.example.resize", "--json"], in: folder)
            let made = host.home + "/handler-data/org.example.images/small.png"
            #expect(done.exit == 0 && documents(done).last?["returnedItems"] as? [String] == [made], "\(done)")
            #expect(try Data(contentsOf: URL(fileURLWithPath: made)) == Data([1, 2, 3]))
            try "1".write(
                toFile: host.home + "/handler-data/org.example.images/no", atomically: false, encoding: .utf8)
            #expect(try await !list("a.png").contains("org.example.resize"))
            let shown = try await host.run(arguments: ["handlers", "show", "images"])
            #expect(shown.output.contains("at most 1  org.example.resize\n"), "\(shown)")
        }
    }

    @Test("a handler's activity reads what is made for it: standard input, a text, a program's item; nothing is left")
    func madeItems() async throws {
        try await withTemporaryFolder { folder in
            let host = try host(folder)
            try host.addHandler(
                "shelf", activity: "org.example.put", title: "Put", itemTypes: "public.data",
                script: """
                    #!/bin/sh
                    cat "$WAFT_FILE" >"$WAFT_DATA/copy"
                    ls "$(dirname "$WAFT_FILE")/../../.." >"$WAFT_DATA/others" 2>&1
                    exit 0
                    """)
            try writeScript(
                """
                #!/bin/sh
                test "$1" = item || { echo '{"name": "made.txt", "type": "public.plain-text"}'; exit; }
                echo made
                """, to: folder + "/maker")
            for (words, contents) in [
                (["-"], "typed"), (["--text", "hello"], "hello"), (["--source", folder + "/maker"], "made\n"),
            ] {
                let done = try await host.run(
                    arguments: ["share", "--activity", "org.example.put"] + words, input: "typed", in: folder)
                #expect(done.exit == 0, "\(done.errors)")
                let data = host.home + "/handler-data/org.example.shelf/"
                #expect(try String(contentsOfFile: data + "copy", encoding: .utf8) == contents)
                // The folder around it is closed as ever.
                #expect(try String(contentsOfFile: data + "others", encoding: .utf8).contains("denied"))
            }
            let left = try FileManager.default.contentsOfDirectory(atPath: host.home + "/run/share")
            #expect(left == [])
        }
    }
}
