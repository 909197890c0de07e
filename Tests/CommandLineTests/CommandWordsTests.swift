import Lines
import Testing

@testable import CommandLine

@Suite("The words of a command line")
struct CommandWordsTests {
    private func refusal(_ words: [String], files: Set<String>) -> CommandError? {
        do throws(CommandError) {
            try CommandWords(words: words).refuseFilesNamedLikeOptions(isFile: files.contains)
            return nil
        } catch {
            return error
        }
    }

    @Test(
        "a file that has the name of an option is not taken for the option: 64, with how to write the file",
        arguments: ["--dry-run", "--text", "--json", "-h", "--exclude=*"])
    func files(name: String) {
        let refused = refusal(["send", name, "a.jpg", "--to", "nas"], files: [name, "a.jpg", "send"])
        #expect(refused?.exit == .usage)
        #expect(refused?.message == "\(name) is an option, and a file here has the same name")
        #expect(refused?.hint?.hasPrefix("for the file, write: ./\(name);") == true)
    }

    @Test("behind -- and in another folder nothing is an option and a file at once")
    func options() {
        #expect(refusal(["send", "--to", "nas", "--", "--dry-run"], files: ["--dry-run"]) == nil)
        #expect(refusal(["send", "./--dry-run", "-", "--to", "nas"], files: ["a", "-", "./--dry-run"]) == nil)
    }

    @Test("to ask for the version beside other things is no success", arguments: ["--version", "--help", "-h"])
    func version(word: String) {
        #expect(CommandWords(words: ["send", word, "a.jpg"]).wantMoreThanHelp(of: WaftCommand.self))
        #expect(!CommandWords(words: ["send", word]).wantMoreThanHelp(of: WaftCommand.self))
        #expect(!CommandWords(words: [word]).wantMoreThanHelp(of: WaftCommand.self))
    }
}
