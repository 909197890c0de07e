import Foundation
import Testing

@testable import CommandLine

@Suite("Text for terminals")
struct TerminalTextTests {
    @Test("plain text in any script stays as it is")
    func plain() {
        for text in ["report.pdf", "Übersicht 2026", "写真.jpg", "emoji 🎈", "-rf", "$(id)", "<img>"] {
            #expect(TerminalText.escaped(text) == text)
        }
    }

    @Test(
        "characters that could move the cursor, hide text or start a line are written out",
        arguments: [
            ("a\u{1B}[2Jb", "a\\u{1B}[2Jb"), ("a\nb", "a\\nb"), ("a\rb", "a\\rb"), ("a\tb", "a\\tb"),
            ("a\u{0}b", "a\\u{0}b"),
            ("a\u{202E}gpj", "a\\u{202E}gpj"), ("a\u{9B}1m", "a\\u{9B}1m"), ("a\u{200B}b", "a\\u{200B}b"),
            ("a\u{2028}b", "a\\u{2028}b"), ("a\u{FEFF}b", "a\\u{FEFF}b"), ("a\r\nb", "a\\r\\nb"),
        ])
    func escaped(text: String, shown: String) {
        #expect(TerminalText.escaped(text) == shown)
    }

    @Test(
        "joiners that Persian and Indic scripts need stay as they are",
        arguments: [
            "نامه\u{200C}ها.pdf", "می\u{200C}خواهم", "بُ\u{200C}ه", "ශ\u{DCA}\u{200D}රී ලංකා.jpg", "क\u{94D}\u{200C}ष",
            "क\u{94D}\u{200D}ष",
        ])
    func neededJoiners(text: String) {
        #expect(TerminalText.escaped(text) == text)
        #expect(TerminalText.escaped(text + String(repeating: "_", count: 300) + text, limit: 100).hasSuffix(text))
    }

    @Test(
        "joiners that could be drawn as nothing are written out",
        arguments: [
            ("pay\u{200C}pal", "pay\\u{200C}pal"), ("pay\u{200D}pal", "pay\\u{200D}pal"),
            ("\u{200C}ها", "\\u{200C}ها"),
            // The letter before joins nothing behind it.
            ("آ\u{200C}ها", "آ\\u{200C}ها"), ("ه\u{200D}ها", "ه\\u{200D}ها"), ("ه\u{200C}", "ه\\u{200C}"),
            ("ه\u{200C}\u{200C}ه", "ه\\u{200C}\\u{200C}ه"), ("ه\u{200C}a", "ه\\u{200C}a"),
            ("ه\u{200C}ء", "ه\\u{200C}ء"), ("क\u{94D}\u{200D}", "क\u{94D}\\u{200D}"),
            ("क\u{94D}\u{200D}a", "क\u{94D}\\u{200D}a"), ("क\u{200D}ष", "क\\u{200D}ष"),
            ("👨\u{200D}👩", "👨\\u{200D}👩"),
        ])
    func hiddenJoiners(text: String, shown: String) {
        #expect(TerminalText.escaped(text) == shown)
    }

    @Test("a line of JSON has the same contents, without characters that a terminal would obey or hide")
    func json() throws {
        let text = "a\u{1B}[2J\u{7F}\u{9B}1m\u{202E}gpj\u{2028}\u{E0001}Ü写🎈"
        let line = String(decoding: try JSONEncoder().encode([text]), as: UTF8.self)
        let escaped = TerminalText.escaped(json: line)
        #expect(escaped == #"["a\u001b[2J\u007f\u009b1m\u202egpj\u2028\udb40\udc01Ü写🎈"]"#)
        #expect(try JSONDecoder().decode([String].self, from: Data(escaped.utf8)) == [text])
        #expect(TerminalText.escaped(json: #"{"a":"b"}"#) == #"{"a":"b"}"#)
    }

    @Test(
        "spaces that would push the end of a name away are counted, and letters that are drawn as nothing written out",
        arguments: [
            ("photo.jpg" + String(repeating: " ", count: 200) + ".desktop", "photo.jpg…(200 spaces)….desktop"),
            ("a\u{2003}\u{3000}\u{A0} b", "a…(4 spaces)…b"), ("a   b", "a   b"), ("a\u{2800}b", "a\\u{2800}b"),
            ("a\u{3164}", "a\\u{3164}"),
        ])
    func spaces(text: String, shown: String) {
        #expect(TerminalText.escaped(text) == shown)
    }

    @Test("a name that is cut keeps its end")
    func middle() {
        let name = "photo" + String(repeating: "_", count: 240) + ".jpg.desktop"
        let shown = TerminalText.escaped(name, limit: 100)
        #expect(shown.hasPrefix("photo_") && shown.hasSuffix("_.jpg.desktop") && shown.contains("…"))
        #expect(shown.count == 100)
    }

    @Test("JSON says spaces and quotes as they are")
    func exactJSON() throws {
        let text = "photo.jpg" + String(repeating: " ", count: 200) + "'\u{2800}\u{201D}.desktop"
        let line = String(decoding: try JSONEncoder().encode([text]), as: UTF8.self)
        #expect(try JSONDecoder().decode([String].self, from: Data(TerminalText.escaped(json: line).utf8)) == [text])
    }

    @Test("a long text is cut, whatever its characters are")
    func cut() {
        #expect(TerminalText.escaped(String(repeating: "x", count: 1_000), limit: 20).count == 20)
        #expect(TerminalText.escaped(String(repeating: "\u{1B}", count: 1_000), limit: 20).count <= 20)
    }
}
