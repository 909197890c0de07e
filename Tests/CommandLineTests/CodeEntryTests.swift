import Operations
import Testing

@testable import CommandLine

@Suite("A code that is typed at the terminal")
struct CodeEntryTests {
    private func entry(_ keys: TerminalKey...) -> CodeEntry {
        var entry = CodeEntry()
        for key in keys { _ = entry.press(key) }
        return entry
    }

    @Test("has hyphens for spaces, and whole words for their beginnings")
    func words() {
        #expect(entry(.text("07 PUMP saus")).typed == "07-pumpkin-saus")
        #expect(entry(.text("7-pump"), .down).typed == "7-pumpkin-")
        #expect(entry(.text("7-pump"), .down, .text("saus"), .down).typed == "7-pumpkin-sausage")
        #expect(
            entry(.text("7-pump"), .down, .text("saus"), .down, .text(" "), .text("acorn")).typed.hasSuffix("-acorn"))
    }

    @Test("shows the words that may be meant, and does not leave a word that is none or several")
    func candidates() {
        #expect(entry(.text("7-pumpk")).hint == "pumpkin")
        let several = entry(.text("7-p "))
        #expect(several.typed == "7-p" && several.hint.contains("pumpkin") == false && several.hint.hasSuffix("…"))
        let none = entry(.text("7-pumpz "))
        #expect(none.typed == "7-pumpz" && none.hint.hasSuffix(": pumpkin"))
        #expect(entry(.text("7-pumpz "), .erase, .down).typed == "7-pumpkin-")
    }

    @Test("is taken whole only: Enter says else what is missing")
    func enter() {
        var entry = entry(.text("7 pumpkin"))
        if entry.press(.enter) != nil { Issue.record("it was taken") }
        #expect(entry.hint.contains("a number and two or three words"))
        _ = entry.press(.text(" saus"))
        guard case .code(let code)? = entry.press(.enter) else {
            Issue.record("no code")
            return
        }
        #expect(code.text == "7-pumpkin-sausage")
    }

    @Test("has a bounded length, and takes characters of all kinds for letters of no word")
    func bounded() {
        let long = entry(.text(String(repeating: "x", count: 10_000)), .text("\u{1F600}"), .first, .escape)
        #expect(long.typed.count == 64)
        #expect(entry(.text("7 é ")).hint == "no word of a code begins so")
    }
}
