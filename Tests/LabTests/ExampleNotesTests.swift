import Foundation
import Testing

@Suite("The example append-notes", .timeLimit(.minutes(3)))
struct AppendNotesTests {
    private func notes(_ example: ExampleHandler) throws -> String {
        try example.text(example.target + "/From Waft.md")
    }

    /// The notes without the times in their headings.
    private func lines(_ example: ExampleHandler) throws -> [String] {
        try notes(example).split(separator: "\n", omittingEmptySubsequences: false).map { line in
            line.hasPrefix("## ") ? "## " + line.dropFirst("## 2000-01-01 00:00, ".count) : String(line)
        }
    }

    @Test("texts and links are appended with date and sender, and leave the Inbox")
    func appends() async throws {
        try await withExample("append-notes") { example in
            try example.put("back at six.txt", Array("back at six\r\nor so".utf8))
            var first = ExampleHandler.Arrival("back at six.txt", kind: "text")
            first.note = "for you"
            #expect(try await example.call(first).exit == 0)
            try example.put("l.url", Array("[InternetShortcut]\r\nURL=https://example.com/a?b#c\r\n".utf8))
            #expect(try await example.call(.init("l.url", item: 1, kind: "url")).exit == 0)
            #expect(
                try lines(example) == [
                    "## from kitchen (tqbn-fbyg)", "", "    back at six", "    or so", "", "With the words:", "",
                    "    for you", "", "## from kitchen (tqbn-fbyg)", "", "<https://example.com/a?b#c>", "", "",
                ])
            #expect(try notes(example).wholeMatch(of: /(?s)## \d{4}-\d\d-\d\d \d\d:\d\d, from kitchen.*/) != nil)
            #expect(try example.files(in: example.inbox) == [])
        }
    }

    @Test("a second call for an arrival appends nothing, and leaves alone the item that has its name now")
    func twice() async throws {
        try await withExample("append-notes") { example in
            try example.put("a", Array("one".utf8))
            #expect(try await example.call(.init("a", item: 1)).exit == 0)
            let once = try notes(example)
            #expect(try await example.call(.init("a", item: 1)).exit == 0)
            try example.put("a", Array("two".utf8))
            #expect(try await example.call(.init("a", item: 1)).exit == 0)
            #expect(try notes(example) == once)
            #expect(try example.files(in: example.inbox) == ["a"])
            #expect(try await example.call(.init("a", item: 2)).exit == 0)
            #expect(try notes(example).hasPrefix(once))
            #expect(try notes(example).contains("    two\n"))
            #expect(try example.files(in: example.inbox) == [])
        }
    }

    @Test("ended at any step and called again, it has appended the text once and whole")
    func ended() async throws {
        let text = (0..<3_000).map { "line \($0)\n" }.joined()
        let before = "my own notes, without a line end"
        let steps = try await endingAtEachStep("append-notes") { example in
            try before.write(toFile: example.target + "/From Waft.md", atomically: false, encoding: .utf8)
            try example.put("a", Array(text.utf8))
        } check: { example, when in
            let quoted = text.split(separator: "\n").map { "    " + $0 }
            let expected = [before, "", "## from kitchen (tqbn-fbyg)", ""] + quoted + ["", ""]
            let lines = try lines(example)
            #expect(lines == expected, "\(when)")
            #expect(try example.files(in: example.inbox) == [], "\(when)")
        }
        #expect(steps > 10)
    }

    @Test("the text that a person writes between an ended call and the next one stays, and the note comes whole")
    func edited() async throws {
        try await withExample("append-notes") { example in
            try example.addSteps()
            try example.put("a", Array(String(repeating: "x", count: 500).utf8))
            let written = example.target + "/From Waft.md"
            var step = 0
            // Up to the first half of the note, from the beginning each time.
            while try example.files(in: example.target).isEmpty || notes(example).isEmpty {
                for path in [written, example.data + "/append-notes"] {
                    if FileManager.default.fileExists(atPath: path) { try FileManager.default.removeItem(atPath: path) }
                }
                step += 1
                let outcome = try await example.call(.init("a"), extra: ["DIE_AT": "\(step)"])
                try #require(outcome.exit == 128 + 9)
            }
            let half = try notes(example)
            try (half + "mine").write(toFile: written, atomically: false, encoding: .utf8)
            #expect(try await example.call(.init("a")).exit == 0)
            #expect(try notes(example).hasPrefix(half + "mine\n\n"))
            #expect(try notes(example).contains(String(repeating: "x", count: 500)))
        }
    }

    @Test("hostile text is text: no control characters, no Markdown, and the rest stays in the Inbox")
    func hostileText() async throws {
        try await withExample("append-notes") { example in
            let text =
                "# heading\r<img src=x>\u{1B}[31m\u{0}\u{7F}\u{9B}\u{202E}\u{2028}\n```\n- [x](javascript:1)\n\ttab"
            try example.put("a", Array(text.utf8))
            #expect(try await example.call(.init("a", kind: "text")).exit == 0)
            #expect(
                try lines(example).dropFirst(2) == [
                    "    # heading", "    <img src=x>[31m", "", "    ```", "    - [x](javascript:1)", "    \ttab", "",
                    "",
                ])
            #expect(try example.files(in: example.inbox) == ["a"])
            for _ in 0..<2 { #expect(try await example.call(.init("a", kind: "text")).exit == 0) }
            #expect(try notes(example).split(separator: "\n").count { $0.hasPrefix("## ") } == 1)
        }
    }

    @Test("a sender's name stays within its line, and means nothing")
    func hostileSender() async throws {
        try await withExample("append-notes") { example in
            let names = [
                ("Anna's phone, no. 2", "Anna's phone, no. 2"), ("a\n# b\u{1B}[0m", "a \\# b\\[0m"), (" ", "somebody"),
                ("![x](http\u{202E}://y)<b>`c`", "\\!\\[x\\]\\(http\\:\\/\\/y\\)\\<b\\>\\`c\\`"),
                (String(repeating: "n", count: 5_000), String(repeating: "n", count: 64)),
            ]
            for (item, name) in names.enumerated() {
                try example.put("a", Array("x".utf8))
                var arrival = ExampleHandler.Arrival("a", item: item)
                arrival.sender = name.0
                #expect(try await example.call(arrival).exit == 0)
            }
            let headings = try lines(example).filter { $0.hasPrefix("#") }
            #expect(headings == names.map { "## from \($0.1) (tqbn-fbyg)" })
        }
    }

    @Test("only links of http and https that are nothing but that can be clicked")
    func links() async throws {
        try await withExample("append-notes") { example in
            let links = [
                ("HTTPS://example.com/%20[1]", "<HTTPS://example.com/%20[1]>"),
                ("javascript:alert(1)", "    javascript:alert(1)"), ("file:///etc/passwd", "    file:///etc/passwd"),
                ("https://a/><img>", "    https://a/><img>"), ("https://a b", "    https://a b"),
                ("https://ü.example", "    https://ü.example"),
            ]
            for (item, link) in links.enumerated() {
                try example.put("l.url", Array("[InternetShortcut]\nURL=\(link.0)\n".utf8))
                #expect(try await example.call(.init("l.url", item: item, kind: "url")).exit == 0)
            }
            let bodies = try lines(example).filter { !$0.isEmpty && !$0.hasPrefix("#") }
            #expect(bodies == links.map(\.1))
            #expect(try example.files(in: example.inbox) == [])
            // With other contents besides the link, or without a link.
            for (item, text) in ["[InternetShortcut]\nURL=https://a/\nIconFile=x\n", "[Other]\nURL=https://a/\n"]
                .enumerated()
            {
                try example.put("\(item).url", Array(text.utf8))
                #expect(try await example.call(.init("\(item).url", item: 10 + item, kind: "url")).exit == 0)
            }
            #expect(try lines(example).suffix(5) == ["", "    [Other]", "    URL=https://a/", "", ""])
            #expect(try example.files(in: example.inbox) == ["0.url"])
        }
    }

    @Test("a text that is too long, or not UTF-8, or a folder is no note, and stays")
    func notNotes() async throws {
        try await withExample("append-notes") { example in
            try example.put("long", [UInt8](repeating: 0x61, count: (64 << 10) + 1))
            try example.put("latin", [0x66, 0xFC, 0x72])
            try FileManager.default.createDirectory(atPath: example.inbox + "/tree", withIntermediateDirectories: true)
            for (item, name) in ["long", "latin", "tree"].enumerated() {
                #expect(try await example.call(.init(name, item: item)).exit == 1, "\(name)")
            }
            #expect(try example.files(in: example.inbox) == ["latin", "long"])
            #expect(try example.files(in: example.target) == [])
            #expect(try await example.call(.init("gone", item: 9)).exit == 66)
        }
    }

    @Test("odd names are names")
    func oddNames() async throws {
        try await withExample("append-notes") { example in
            for (item, name) in ExampleHandler.oddNames.enumerated() {
                try example.put(name, Array("text \(item).".utf8))
                let outcome = try await example.call(.init(name, item: item))
                #expect(outcome.exit == 0, "\(name): \(outcome.errors)")
                #expect(try notes(example).contains("    text \(item).\n"))
            }
            #expect(try example.files(in: example.inbox) == [])
            #expect(try example.files(in: example.data) == ["append-notes"])
            #expect(try example.files(in: example.bundle) == ["Info.plist"])
        }
    }

    @Test("a folder of notes that is away is later, a memory that is damaged is not the end")
    func trouble() async throws {
        try await withExample("append-notes") { example in
            try example.put("a", Array("x".utf8))
            try FileManager.default.moveItem(atPath: example.target, toPath: example.target + "-away")
            #expect(try await example.call(.init("a")).exit == 75)
            try FileManager.default.moveItem(atPath: example.target + "-away", toPath: example.target)
            try "{\"done\":".write(toFile: example.data + "/append-notes", atomically: false, encoding: .utf8)
            #expect(try await example.call(.init("a")).exit == 0)
            #expect(try notes(example).contains("    x\n"))
            #expect(try await example.run(["open-url", "x"], ["PATH": example.path]).exit == 64)
        }
    }

    @Test("two calls at the same time note it once")
    func atOnce() async throws {
        try await withExample("append-notes") { example in
            try example.put("a", Array("x".utf8))
            let exits = try await example.callTwiceAtOnce(.init("a"))
            #expect(exits == [0, 0])
            #expect(try notes(example).split(separator: "\n").count { $0.hasPrefix("## ") } == 1)
        }
    }

    @Test("with KEEP they stay in the Inbox, and are noted once")
    func keep() async throws {
        try await withExample("append-notes") { example in
            try example.set("KEEP = False", to: "KEEP = True")
            try example.put("a", Array("x".utf8))
            for _ in 0..<2 { #expect(try await example.call(.init("a")).exit == 0) }
            #expect(try example.files(in: example.inbox) == ["a"])
            #expect(try notes(example).split(separator: "\n").count { $0.hasPrefix("## ") } == 1)
        }
    }
}
