import Lines
import Operations
import Testing

@testable import CommandLine

@Suite("Documents in words")
struct DocumentTextTests {
    private func preview(_ form: PreviewLine.Form, _ change: (inout PreviewLine) -> Void) -> [String] {
        var line = PreviewLine(DocumentName(path: "a\u{1B}b"), type: "public.data")
        line.facts.shownAs = form
        change(&line)
        return line.words
    }

    private let head = "a\\u{1B}b: public.data"

    @Test("a text is indented and escaped, with its tabs as spaces; an empty one is called so")
    func texts() {
        let lines = preview(.text) { line in
            (line.facts.size, line.facts.encoding, line.facts.isCut) = (14, "UTF-8", true)
            line.facts.lines = ["one\u{1B}[31m", "\ttwo", ""]
        }
        #expect(lines == ["\(head), 14 bytes, UTF-8", "  one\\u{1B}[31m", "          two", "", "  \(Glyph.ellipsis)"])
        #expect(preview(.text) { $0.facts.lines = [] } == ["\(head), empty"])
        let long = preview(.text) { $0.facts.lines = [String(repeating: "x", count: 600)] }
        #expect(long[1].count == 2 + 500 + Glyph.ellipsis.count)
    }

    @Test("the warning comes before the facts, and a drawing below them")
    func images() {
        let lines = preview(.image) { line in
            (line.warning, line.drawing) = ("a: looks like\na", ["##"])
            (line.facts.pixelWidth, line.facts.pixelHeight) = (640, 480)
        }
        #expect(lines == ["a: looks like\\na", "\(head), 640 x 480 pixels", "  ##"])
    }

    @Test("a document has its number of pages, if that is known, and its first page")
    func documents() {
        for (pages, words) in [(1, ", 1 page"), (2, ", 2 pages"), (nil, "")] {
            let lines = preview(.document) { ($0.facts.pageCount, $0.facts.lines) = (pages, ["one"]) }
            #expect(lines == [head + words, "  one"])
        }
    }

    @Test("an archive has its number of names, and a row for each")
    func archives() {
        let members = [
            PreviewLine.Member(member: "a", kind: "tree"), .init(member: "a/b", kind: "file", size: 1),
            .init(member: "c", kind: "link"), .init(member: "d", kind: "file"),
        ]
        let rows = ["      folder  a", "      1 byte  a/b", "        link  c", "              d"]
        let whole = preview(.archive) { ($0.facts.members, $0.facts.isCut) = (members, false) }
        #expect(whole == ["\(head), 4 names"] + rows)
        let cut = preview(.archive) { ($0.facts.members, $0.facts.isCut) = (members, true) }
        #expect(cut == ["\(head), the first 4 names"] + rows + ["  \(Glyph.ellipsis)"])
        #expect(preview(.archive) { $0.facts.members = [members[0]] }.first == "\(head), 1 name")
    }

    @Test("a folder is a tree, and names that are left out are counted; an empty one is called so")
    func folders() {
        let lines = preview(.folder) { line in
            line.tree = [
                .entry(level: 0, name: "a", kind: "tree", size: nil),
                .entry(level: 1, name: "b\n", kind: "file", size: 1),
                .entry(level: 1, name: "c", kind: "other", size: nil), .omitted(level: 0, count: 3),
            ]
        }
        #expect(
            lines == [
                head, "              a/", "      1 byte    b\\n", "       other    c",
                "              \(Glyph.ellipsis) 3 more",
            ])
        #expect(preview(.folder) { _ in } == ["\(head), empty"])
    }

    @Test("a link is shown by the parts that it has")
    func links() {
        let lines = preview(.link) { line in
            var url = LinkParts(url: "https://a.org:1/?b", scheme: "https", path: "/")
            (url.host, url.port, url.query) = ("a.org", 1, "b")
            line.facts.urlParts = url
        }
        #expect(
            lines == [
                head, "  url       https://a.org:1/?b", "  scheme    https", "  host      a.org", "  port      1",
                "  path      /", "  query     b",
            ])
    }

    @Test("programs are listed with their numbers and kinds, in columns")
    func programs() {
        let name = DocumentName(path: "/a")
        let lines = OpenInLine.list([
            OpenInLine(name, type: "public.png", place: 1, program: "A", handler: "org.a", opens: "public.image"),
            OpenInLine(
                name, type: "public.png", place: 2, program: "Viewer of images", application: "v.desktop",
                isDefault: true, runsInTerminal: true),
        ])
        #expect(
            lines == [
                "/a  public.png", "  1  A                 handler, opens public.image",
                "  2  Viewer of images  application, the default, in this terminal",
            ])
        #expect(OpenInLine.list([]) == [])
    }

    @Test("a URL that is not opened has the end of its handler's output, escaped, and the advice")
    func urls() throws {
        let attempt = LinkAttempt(
            handler: "org.a", name: "A\n", answer: "failed", exitCode: 3, signal: nil, reason: "",
            output: (1...11).map { "\($0)\u{1B}" }.joined(separator: "\n"))
        let failed = LinkFailedLine(
            url: "a:\u{1B}", scheme: "a", attempts: [attempt], reason: "A failed", exit: .handlerSaidNo, hint: "try b")
        #expect(failed.words.first == "waft: a:\\u{1B}: A failed" && failed.words.count == 12)
        #expect(failed.words[1] == "  2\\u{1B}" && failed.words.last == "  try b")
        let opened = try #require(LinkOpenedLine(url: "a:b", scheme: "a", attempts: [attempt]))
        #expect(opened.words == ["a:b: opened by A\\n"])
    }

    @Test("an activity has its type and title in columns, and why it is not possible")
    func activities() {
        let line = ActivityLine(type: "org.a", title: "A\n", category: .action, reason: "no")
        #expect(line.words == ["org.a" + String(repeating: " ", count: 23) + "A\\n  not now: no"])
    }
}
