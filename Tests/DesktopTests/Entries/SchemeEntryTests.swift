import Testing

@testable import Desktop

@Suite("The desktop entry for URLs")
struct SchemeEntryTests {
    @Test("starts waft with the URL, and names the schemes in order")
    func plain() {
        let entry = SchemeEntry(program: "/usr/bin/waft", home: nil, schemes: ["todolist", "photo"])
        #expect(entry.text.contains("\nExec=/usr/bin/waft open %u\n"))
        #expect(entry.text.hasSuffix("\nMimeType=x-scheme-handler/photo;x-scheme-handler/todolist;\n"))
        #expect(entry.text.contains("\nNoDisplay=true\n"))
    }

    @Test("never claims a scheme that means the same everywhere")
    func builtIn() {
        let schemes = ["http", "https", "mailto", "tel", "sms", "file", "ftp", "javascript", "about", "photo"]
        #expect(SchemeEntry(program: "/waft", home: nil, schemes: schemes).schemes == ["photo"])
        #expect(!SchemeEntry(program: "/waft", home: nil, schemes: ["http"]).text.contains("MimeType"))
    }

    @Test("a path with any character is one word for the desktop")
    func quoting() {
        #expect(DesktopEntryWord.quoted("/opt/waft-1.0/bin/waft") == "/opt/waft-1.0/bin/waft")
        #expect(DesktopEntryWord.quoted("/a b") == "\"/a b\"")
        #expect(DesktopEntryWord.quoted("/50%") == "/50%%")
        #expect(DesktopEntryWord.quoted("/a\"$`\\") == "\"/a\\\"\\$\\`\\\\\"")
        #expect(DesktopEntryWord.quoted("") == "\"\"")
        #expect(DesktopEntryWord.value("a\\b\nc\td\r") == "a\\\\b\\nc\\td\\r")
        let entry = SchemeEntry(program: "/x\ny/waft", home: "/h\nExec=evil", schemes: ["a"])
        #expect(entry.text.split(separator: "\n").count { $0.hasPrefix("Exec=") } == 1)
    }

    @Test("is read as it was written, and its schemes can be replaced")
    func reading() throws {
        let entry = SchemeEntry(program: "/a b/waft", home: "/home\\x", schemes: ["todolist"])
        let read = try #require(SchemeEntry(reading: entry.text))
        #expect(read == entry)
        #expect(read.isOf(home: "/home\\x") && !read.isOf(home: nil) && !read.isOf(home: "/home"))
        #expect(
            read.with(schemes: ["photo", "http"])
                == SchemeEntry(program: "/a b/waft", home: "/home\\x", schemes: ["photo"]))
        #expect(SchemeEntry(reading: "[Desktop Entry]\nExec=x\n") == nil)
        #expect(SchemeEntry(reading: "") == nil)
    }
}
