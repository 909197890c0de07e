import Foundation
import Testing

/// `waft open-in`, with the real programs and applications of the test's own.
@Suite("Opening a file in an application", .serialized, .timeLimit(.minutes(2)))
struct OpenInTests {
    private func withShelf(
        display: String = ":99", _ body: @Sendable (ApplicationShelf) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let shelf = try ApplicationShelf(folder, display: display)
            try "hello\n".write(toFile: folder + "/a.txt", atomically: false, encoding: .utf8)
            try await shelf.add("first", name: "First", shelf.noting("first"), types: "text/plain;")
            try await shelf.add("second", name: "The Second", shelf.noting("second"), types: "text/plain;")
            try await shelf.add(
                "bad", name: "Bad", "echo one >&2; printf 'no \\033[31mdisplay\\n\\n' >&2; exit 3", types: "text/plain;"
            )
            try await shelf.add(
                "shell", name: "Shell", "read line; echo \"got $line of $1\"", types: "text/plain;", "Terminal=true\n")
            try shelf.makeDefault("second", for: "text/plain")
            try await body(shelf)
        }
    }

    @Test("without an application and without a terminal there is the list, with the default first, and 64")
    func list() async throws {
        try await withShelf { shelf in
            let list = try await shelf.waft("open-in", "a.txt")
            let lines = list.output.split(separator: "\n").map(String.init)
            #expect(list.exit == 64 && list.errors.contains("name one of these programs"), "\(list)")
            #expect(lines.first == "a.txt  public.plain-text")
            #expect(lines.dropFirst().first == "  1  The Second    application, the default", "\(list)")
            #expect(lines.count == 4 && !list.output.contains("Shell"), "\(list)")
            let json = try await shelf.waft("open-in", "a.txt", "--json")
            #expect(json.exit == 0 && json.events.map(\.event) == ["openIn", "openIn", "openIn"], "\(json)")
            #expect(
                json.output.contains(#""application":"second.desktop","event":"openIn","isDefault":true"#), "\(json)")
        }
    }

    @Test("an application is named by its number, its name in any case or its desktop id; an unknown one is 64")
    func words() async throws {
        try await withShelf { shelf in
            for word in ["1", "the second", "SECOND", "second.desktop"] {
                try? FileManager.default.removeItem(atPath: shelf.folder + "/out/second")
                let opened = try await shelf.waft("open-in", "a.txt", word)
                #expect(opened.exit == 0 && opened.output == "a.txt: handed to The Second\n", "\(word) \(opened)")
                try await eventually { shelf.noted("second") == shelf.folder + "/a.txt|" }
            }
            for word in ["9", "0", "-1", "third", "org.example.none"] {
                let wrong = try await shelf.waft("open-in", "a.txt", "--", word)
                #expect(wrong.exit == 64 && wrong.errors.contains("The Second"), "\(word) \(wrong)")
            }
        }
    }

    @Test("a handler of its type reads a file outside the Inbox, cannot change it, and answers as for an item")
    func handler() async throws {
        try await withShelf { shelf in
            let script = shelf.folder + "/note.sh"
            try """
            #!/bin/sh
            cp "$WAFT_FILE" "$WAFT_DATA/got" || exit 3
            printf '%s|%s|%s|%s' "$1" "$WAFT_NAME" "$WAFT_TYPE" "${WAFT_PEER_ID-none}" > "$WAFT_DATA/facts"
            (echo changed > "$WAFT_FILE") 2> /dev/null && exit 4
            cat "${WAFT_FILE%/*}/other.txt" 2> /dev/null && exit 5
            case "$WAFT_ANNOTATION" in *no*) exit 1;; esac
            exit 0
            """.write(toFile: script, atomically: false, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: script)
            try "secret".write(toFile: shelf.folder + "/other.txt", atomically: false, encoding: .utf8)
            let added = try await shelf.waft(
                "handlers", "add", "--name", "Note", "--type", "public.text", "--run", script, "--copy")
            #expect(added.exit == 0, "\(added)")
            let opened = try await shelf.waft("open-in", "a.txt", "note")
            #expect(opened.exit == 0 && opened.output == "a.txt: opened by Note\n", "\(opened)")
            let data = shelf.host.home + "/handler-data/org.waft.local.note"
            #expect(try String(contentsOfFile: data + "/got", encoding: .utf8) == "hello\n")
            #expect(
                try String(contentsOfFile: data + "/facts", encoding: .utf8)
                    == "open-url|a.txt|public.plain-text|none")
            #expect(try String(contentsOfFile: shelf.folder + "/a.txt", encoding: .utf8) == "hello\n")
            let json = try await shelf.waft("open-in", "a.txt", "org.waft.local.note", "--json")
            #expect(json.exit == 0 && json.events.map(\.event) == ["opened"], "\(json)")
            let refused = try await shelf.waft("open-in", "a.txt", "note", "--annotation", "say=no")
            #expect(refused.exit == 16 && refused.errors == "waft: a.txt: Note said no\n", "\(refused)")
            mkfifo(shelf.folder + "/pipe.txt", 0o600)
            symlink("/nowhere", shelf.folder + "/dangling.txt")
            try FileManager.default.createDirectory(
                atPath: shelf.folder + "/dir.txt", withIntermediateDirectories: false)
            let inbox = shelf.host.home + "/Documents/Inbox"
            try FileManager.default.createDirectory(atPath: inbox, withIntermediateDirectories: true)
            try "x".write(toFile: inbox + "/item.txt", atomically: false, encoding: .utf8)
            for (file, exit, said) in [
                ("pipe.txt", 66, "neither a file nor a folder"), ("/dev/zero", 66, "neither a file nor a folder"),
                ("dangling.txt", 66, "the target of the link does not exist"),
                ("dir.txt", 64, "note does not open folders"),
                ("none.txt", 66, "no such file"), (inbox + "/item.txt", 64, "waft inbox open-in item.txt"),
            ] {
                let failed = try await shelf.waft("open-in", file, "note")
                #expect(failed.exit == exit && failed.errors.contains(said), "\(failed)")
            }
        }
    }

    @Test("an application gets the annotation, and none of the caller's environment")
    func annotation() async throws {
        try await withShelf { shelf in
            var shelf = shelf
            shelf.host.environment["WAFT_ANNOTATION"] = "of another"
            let facts = ["--annotation", "page=3", "--annotation", "a=b=\"c\""]
            let opened = try await shelf.host.run(
                arguments: ["open-in", "a.txt", "first", "--json"] + facts, in: shelf.folder)
            #expect(opened.exit == 0 && opened.events.map(\.event) == ["opened"], "\(opened)")
            try await eventually { shelf.noted("first") == shelf.folder + #"/a.txt|{"a":"b=\"c\"","page":"3"}"# }
            #expect(try await shelf.waft("open-in", "a.txt", "first").exit == 0)
            try await eventually { shelf.noted("first") == shelf.folder + "/a.txt|" }
            for facts in [["a"], ["=b"], ["a=1", "a=2"]] {
                let words = ["open-in", "a.txt", "first"] + facts.flatMap { ["--annotation", $0] }
                #expect(try await shelf.host.run(arguments: words, in: shelf.folder).exit == 64)
            }
        }
    }

    @Test("an application that does not start is exit code 1 with the last line of its standard error")
    func failing() async throws {
        try await withShelf { shelf in
            let failed = try await shelf.waft("open-in", "a.txt", "bad")
            #expect(failed.exit == 1, "\(failed)")
            #expect(failed.errors == "waft: a.txt: Bad: no \\u{1B}[31mdisplay\n", "\(failed)")
        }
    }

    @Test("without a display nothing is started, and nothing is offered")
    func noDisplay() async throws {
        try await withShelf(display: "") { shelf in
            let list = try await shelf.waft("open-in", "a.txt")
            #expect(list.exit == 13 && list.errors.contains("nothing here opens public.plain-text"), "\(list)")
            let named = try await shelf.waft("open-in", "a.txt", "first")
            #expect(named.exit == 13 && named.errors.contains("First needs a desktop"), "\(named)")
            let terminal = try await shelf.waft("open-in", "a.txt", "shell")
            #expect(terminal.exit == 13 && terminal.errors.contains("Shell needs a terminal"), "\(terminal)")
            #expect(try await shelf.waft("options", "a.txt", "--check", "open-in").exit == 13)
            #expect(try await shelf.waft("options", "a.txt", "--check", "open").exit == 13)
            #expect(shelf.noted("first") == nil)
        }
    }

    @Test("what lies about its content and what the desktop would run need --anyway")
    func dangerous() async throws {
        try await withShelf { shelf in
            try FileManager.default.copyItem(atPath: "/bin/true", toPath: shelf.folder + "/photo.txt")
            try FileManager.default.copyItem(atPath: "/bin/true", toPath: shelf.folder + "/program")
            try writeScript("#!/bin/sh\n", to: shelf.folder + "/run.sh")
            try writeScript("#!/bin/sh\n", to: shelf.folder + "/letter")
            try "[Desktop Entry]\n".write(
                toFile: shelf.folder + "/x.desktop", atomically: false, encoding: .utf8)
            try "# a\n\n[Desktop Entry]\nType=Application\nExec=reboot\n".write(
                toFile: shelf.folder + "/list", atomically: false, encoding: .utf8)
            for file in ["photo.txt", "program", "run.sh", "letter", "x.desktop", "list"] {
                let refused = try await shelf.waft("open-in", file, "first")
                #expect(refused.exit == 13 && refused.errors.contains("--anyway"), "\(file) \(refused)")
                #expect(try await shelf.waft("options", file, "--check", "open-in").exit == 13, "\(file)")
            }
            #expect(shelf.noted("first") == nil)
            let anyway = try await shelf.waft("open-in", "run.sh", "first", "--anyway")
            #expect(anyway.exit == 0, "\(anyway)")
            try await eventually { shelf.noted("first") == shelf.folder + "/run.sh|" }
        }
    }

    @Test("a missing file is 66, a file of a type that nothing opens is 13, and so is a folder")
    func nothing() async throws {
        try await withShelf { shelf in
            #expect(try await shelf.waft("open-in", "none").exit == 66)
            try Data([0, 1, 2, 0xFF, 0]).write(to: URL(fileURLWithPath: shelf.folder + "/a.bin"))
            for file in ["a.bin", "out"] {
                let list = try await shelf.waft("open-in", file)
                #expect(list.exit == 13 && list.errors.contains("nothing here opens"), "\(list)")
            }
            #expect(try await shelf.waft("options", "a.txt", "--check", "open-in").exit == 0)
        }
    }

    @Test("on a terminal the list is a menu, and an application for the terminal reads what is typed next")
    func menu() async throws {
        try await withShelf(display: "") { shelf in
            for words in [["open-in", "a.txt"], ["options", "a.txt"]] {
                let end = try await shelf.host.atTerminal(words, in: shelf.folder) { terminal in
                    if words[0] == "options" {
                        try await terminal.transcript.says("Which? [1-")
                        try await terminal.type("open-in\n")
                    }
                    try await terminal.transcript.says("Open in? [1-1] ")
                    try await terminal.type("1\n")
                    try await terminal.type("a word\n")
                    try await terminal.transcript.says("handed to Shell")
                }
                #expect(end.text.contains("got a word of \(shelf.folder)/a.txt"), "\(end)")
                #expect(end.text.contains("  1  Shell         application, in this terminal"), "\(end)")
            }
        }
    }

    @Test("on a desktop an application that shows a window is started on its display")
    func display() async throws {
        try await withTemporaryFolder { folder in
            try FileManager.default.createDirectory(
                atPath: folder + "/desktop", withIntermediateDirectories: true)
            try await Desktop.with(in: folder + "/desktop") { desktop in
                let shelf = try ApplicationShelf(folder, display: desktop.display)
                try "hello\n".write(toFile: folder + "/a.txt", atomically: false, encoding: .utf8)
                let script =
                    "echo \"$DISPLAY\" > '\(folder)/out/shown.new' && mv '\(folder)/out/shown.new' '\(folder)/out/shown'"
                try await shelf.add("viewer", name: "Viewer", script, types: "text/plain;")
                let opened = try await shelf.waft("open-in", "a.txt", "viewer")
                #expect(opened.exit == 0, "\(opened)")
                try await eventually { shelf.noted("shown") == desktop.display + "\n" }
            }
        }
    }
}
