import ArgumentParser
import Foundation
import TestSupport
import Testing

@testable import CommandLine

@Suite("Words for the Tab key")
struct CompletionTests {
    private let folder = TemporaryFolder()

    @Test("bash offers a received name with shell words as it is, and runs nothing of it")
    func bash() throws {
        let mark = folder / "mark"
        let names = [
            "$(touch \(mark)).txt", "`touch \(mark)`", "a b", "it's", "m'\u{301}$(touch \(mark))'\u{301}", "x\\y\"z",
            "*", "~root", "!!", "é→",
            "${HOME}",
        ]
        let script =
            "while IFS= read -r word; do printf '%s\\n' \"$word\"; done < <(IFS=$'\\n' compgen -W \"$1\" -- '')"
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        let words = CompletionWords.offered(names, to: .bash).joined(separator: "\n")
        process.arguments = ["--norc", "-c", script, "bash", words]
        process.standardOutput = output
        try process.run()
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        #expect(text.split(separator: "\n").map(String.init) == names)
        #expect(!FileManager.default.fileExists(atPath: mark))
    }

    @Test("each word is offered once, and a word with a line end is not offered")
    func lines() {
        #expect(CompletionWords.offered(["a", "b\nc", "", "a", "d\u{1B}", "e"], to: .bash) == ["a", "e"])
        #expect(CompletionWords.offered(["-all", "--all", "all"], to: .bash) == ["all"])
        #expect(CompletionWords.offered((0..<5_000).map(String.init), to: .bash).count == 1_000)
    }

    @Test("zsh does not take the text after a colon as a description, and fish gets the words unchanged")
    func otherShells() {
        #expect(CompletionWords.offered(["a:b\\c", "it's"], to: .zsh) == ["a\\:b\\\\c", "it's"])
        #expect(CompletionWords.offered(["a:\u{301}b"], to: .zsh) == ["a\\:\u{301}b"])
        #expect(CompletionWords.offered(["a:b\\c", "it's"], to: .fish) == ["a:b\\c", "it's"])
    }

    @Test("folders to move items to are offered by the beginning of their path, and files are not")
    func folders() throws {
        for name in ["notes", "nine/in", ".hidden"] {
            try FileManager.default.createDirectory(atPath: folder / name, withIntermediateDirectories: true)
        }
        try "x".write(toFile: folder / "note.txt", atomically: false, encoding: .utf8)
        let root = folder / ""
        #expect(CompletionWords.folders(beginning: root + "n") == [root + "nine", root + "notes"])
        #expect(CompletionWords.folders(beginning: root + "nine/") == [root + "nine/in"])
        #expect(CompletionWords.folders(beginning: root + ".h") == [root + ".hidden"])
        #expect(CompletionWords.folders(beginning: folder / "nowhere/x") == [])
    }
}
