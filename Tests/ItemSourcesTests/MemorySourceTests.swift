import Glibc
import ItemSources
import Sharing
import Testing
import UniformTypes

@Suite("A text as a source")
struct TextSourceTests {
    @Test("is sent to the byte, as a text file")
    func contents() throws {
        let source = TextSource("Grüße\n")
        #expect(source.offered.kind == .text)
        #expect(source.offered.type == .utf8PlainText)
        #expect(source.offered.size == 8)
        for bufferSize in [1, 3, 4_096] {
            let yield = try read(source, bufferSize: bufferSize)
            #expect(yield.steps == ["f "])
            #expect(yield.contents[""] == Array("Grüße\n".utf8))
        }
        #expect(try read(TextSource("")).contents[""] == [])
    }

    @Test(
        "is named after its first words",
        arguments: [
            ("Hello", "Hello.txt"),
            ("  \n\n  Second line first\nthird", "Second line first.txt"),
            ("", "text.txt"),
            (" \n\t ", "text.txt"),
            ("...", "text.txt"),
            ("----", "text.txt"),
            ("../../etc/passwd", "etc passwd.txt"),
            (".hidden", "hidden.txt"),
            ("-rf /", "rf.txt"),
            ("Meet at 10:30? <b>yes</b>", "Meet at 10 30 b yes b.txt"),
            ("The quick brown fox jumps over the lazy dog and on", "The quick brown fox jumps over the lazy.txt"),
            (String(repeating: "x", count: 100), String(repeating: "x", count: 40) + ".txt"),
            ("a\u{1B}[31mred\u{202E}b", "a [31mred b.txt"),
            ("日本語のテキスト", "日本語のテキスト.txt"),
            ("End of sentence.", "End of sentence.txt"),
            ("a\r\nb", "a.txt"),
        ]
    )
    func names(text: String, name: String) {
        #expect(TextSource(text).offered.name.text == name)
    }

    @Test("has a name that is not hidden and does not look like an option, whatever mark follows its dot or dash")
    func marks() {
        for text in [".\u{301}x", "-\u{301}x", "\u{301}.x"] {
            let name = TextSource(text).offered.name.text
            #expect(![UInt8(ascii: "."), UInt8(ascii: "-")].contains(name.utf8.first), "\(name.debugDescription)")
        }
        #expect(TextSource("a:\u{301}b").offered.name.text.utf8.contains(UInt8(ascii: ":")) == false)
    }

    @Test("of characters of any length has a name that fits")
    func longCharacters() {
        let zalgo = "a" + String(repeating: "\u{301}", count: 5_000)
        let name = TextSource(zalgo + " " + zalgo).offered.name.text
        #expect(name.utf8.count <= 255)
        let family = String(repeating: "👨‍👩‍👧‍👦", count: 100)
        #expect(TextSource(family).offered.name.text.utf8.count <= 255)
    }

    @Test("may be given a name and a type")
    func overrides() throws {
        let source = TextSource("x", name: try SafeName("note.md"), type: .text)
        #expect(source.offered.name.text == "note.md")
        #expect(source.offered.type == .text)
    }
}

@Suite("A URL as a source")
struct URLSourceTests {
    @Test("is sent as an Internet shortcut")
    func contents() throws {
        let source = try URLSource("https://example.com/a?b=c#d")
        #expect(source.offered.kind == .url)
        #expect(source.offered.type == .url)
        let expected = Array("[InternetShortcut]\r\nURL=https://example.com/a?b=c#d\r\n".utf8)
        #expect(source.offered.size == UInt64(expected.count))
        #expect(try read(source).contents[""] == expected)
    }

    @Test(
        "is named after its host, or its scheme",
        arguments: [
            ("https://example.com", "example.com.url"),
            ("HTTPS://Example.COM:8080/path", "example.com.url"),
            ("https://user:secret@example.com/", "example.com.url"),
            ("http://[2001:db8::1]:80/", "2001-db8--1.url"),
            ("https://xn--bcher-kva.example", "xn--bcher-kva.example.url"),
            ("https://bücher.example/", "bücher.example.url"),
            ("mailto:a@example.com", "mailto.url"),
            ("tel:+123", "tel.url"),
            ("file:///etc/passwd", "file.url"),
            ("https://..", "https.url"),
            ("https://-rf/", "rf.url"),
            ("x://" + String(repeating: "a", count: 300), "x.url"),
        ]
    )
    func names(url: String, name: String) throws {
        #expect(try URLSource(url).offered.name.text == name)
    }

    @Test(
        "is refused if it is no URL",
        arguments: [
            "", ":", "example.com", "//example.com", "1http://x", "ht tp://x", "http:", "https://a b",
            "https://a\nURL=b",
            "https://a\r\n", "https://a\u{0}", "https://a\u{202E}b", "https://a\u{2028}", "é://x", "/etc/passwd",
            "-x:y z",
        ]
    )
    func refused(url: String) {
        #expect(fault { _ = try URLSource(url) }?.code == .unreadable)
    }

    @Test("of 8 KiB is taken, and one longer is refused without being repeated in the message")
    func length() throws {
        let longest = "https://example.com/" + String(repeating: "x", count: 8_192 - 20)
        #expect(try URLSource(longest).offered.name.text == "example.com.url")
        let found = fault { _ = try URLSource(longest + "x") }
        #expect(found == SourceError(.unreadable, "the URL cannot be sent: it is longer than 8192 bytes"))
    }
}

@Suite("Standard input as a source")
struct StandardInputSourceTests {
    /// A pipe with contents; its writing end is closed.
    private func pipe(with text: String) -> Int32 {
        var ends: [Int32] = [0, 0]
        Glibc.pipe(&ends)
        write(ends[1], text, text.utf8.count)
        close(ends[1])
        return ends[0]
    }

    @Test("is of unknown size and read to its end, once")
    func once() throws {
        let descriptor = pipe(with: "piped")
        defer { close(descriptor) }
        let source = try StandardInputSource(descriptor: descriptor)
        #expect(source.offered.kind == .file && source.offered.type == .data && source.offered.size == nil)
        let yield = try read(source, bufferSize: 2)
        #expect(yield.contents[""] == Array("piped".utf8))
        #expect(yield.entries[""] == FileEntry(path: nil, executable: false, modified: nil, size: nil))
        #expect(fault { _ = try source.open() }?.code == .unreadable)
    }

    @Test("is called piped, with the local date and time, and has its type's extension")
    func usualName() throws {
        let descriptor = pipe(with: "")
        defer { close(descriptor) }
        let plain = try StandardInputSource(descriptor: descriptor).offered.name.text
        #expect(plain.wholeMatch(of: /piped-20\d\d-[01]\d-[0-3]\d-[0-2]\d[0-5]\d[0-6]\d/) != nil, "\(plain)")
        let typed = try StandardInputSource(descriptor: descriptor, type: .pdf).offered.name.text
        #expect(typed.wholeMatch(of: /piped-[-\d]+\.pdf/) != nil, "\(typed)")
    }

    @Test("is typed after its name, unless a type is given")
    func naming() throws {
        let descriptor = pipe(with: "")
        defer { close(descriptor) }
        let named = try StandardInputSource(descriptor: descriptor, name: try SafeName("a.jpg"))
        #expect(named.offered.type == .jpeg)
        let both = try StandardInputSource(descriptor: descriptor, name: try SafeName("a.jpg"), type: .pdf)
        #expect(both.offered.name.text == "a.jpg" && both.offered.type == .pdf)
        #expect(try read(named).contents[""] == [])
    }

    @Test("that does not block is waited for")
    func nonBlocking() async throws {
        var ends: [Int32] = [0, 0]
        Glibc.pipe(&ends)
        let (reading, writing) = (ends[0], ends[1])
        defer { close(reading) }
        _ = fcntl(reading, F_SETFL, O_NONBLOCK)
        let source = try StandardInputSource(descriptor: reading)
        async let bytes = read(source).contents[""]
        write(writing, "late", 4)
        close(writing)
        #expect(try await bytes == Array("late".utf8))
    }

    @Test("that is closed or a folder is refused before it is offered")
    func unusable() throws {
        #expect(fault { _ = try StandardInputSource(descriptor: -1) }?.code == .unreadable)
        let folder = open("/", O_RDONLY)
        defer { close(folder) }
        #expect(fault { _ = try StandardInputSource(descriptor: folder) }?.code == .unreadable)
    }
}
