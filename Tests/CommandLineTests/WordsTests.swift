import ArgumentParser
import Digests
import Endpoints
import Lines
import Receiving
import Sending
import Settings
import Sharing
import TestSupport
import Testing

@testable import CommandLine

@Suite("Words and exit codes")
struct WordsTests {
    @Test("the table of exit codes is the documented one")
    func table() {
        #expect(WaftExit.allCases.map(\.rawValue) == [0, 1, 10, 11, 12, 13, 14, 15, 16, 17, 18, 64, 66, 69, 77, 130])
    }

    @Test("items are distinguished from options and their values, in any order")
    func sendWords() {
        let words = SendWords(["a", "--to", "b", "c", "--json", "-", "--name=n", "--note", "-x", "--", "--to", "-y"])
        #expect(words.items == ["a", "c", "-", "--to", "-y"])
        #expect(words.options == ["--to", "b", "--json", "--name=n", "--note", "-x"])
    }

    @Test("every option of send that takes a value is known to the splitting of words")
    func completeness() throws {
        let options = [
            "--to", "--text", "--url", "--name", "--type", "--note", "--wait", "--timeout", "--expires", "--exclude",
            "--source", "--subject", "--thumbnail", "--annotation", "--pin", "--progress",
            "--to-code", "--code-words", "--people", "--for", "--remember", "--at", "--from",
        ]
        let numbers = ["--timeout", "--expires", "--code-words", "--people", "--for"]
        for option in options {
            let value =
                option == "--wait"
                ? "opened" : option == "--progress" ? "lines" : numbers.contains(option) ? "3" : "v"
            let words = SendWords([option, value, "item"])
            #expect(words.items == ["item"])
            let parsed = try WaftCommand.parseAsRoot(["send"] + words.options + ["--queue"]) as? SendCommand
            #expect(parsed?.items.isEmpty == true, "\(option)")
        }
        // The help would show a new option with a value as `--x <x>`.
        let help = SendCommand.helpMessage()
        let shown = help.matches(of: /\n  (--[a-z-]+) </).map { String($0.1) }
        #expect(Set(shown) == Set(options), "SendWords has to know the options with values")
    }

    @Test("every option of share that takes a value is known to the splitting of words")
    func sharing() {
        let shown = ShareCommand.helpMessage().matches(of: /\n  (--[a-z-]+) </).map { String($0.1) }
        #expect(shown.count >= 7)
        for option in shown { #expect(SendWords([option, "v", "item"]).items == ["item"], "\(option)") }
    }
}
