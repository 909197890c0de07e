import ArgumentParser
import TestSupport
import Testing

@testable import CommandLine

/// Reads the command lines in the documentation with the parser of the programs. Runs none of them.
@Suite("Commands in the documentation")
struct DocumentedCommandsTests {
    private static let files =
        UserDocument.all + ["Scripts/examples/README.md", "Sources/Handling/Handlers/Handlers.docc/HookContract.md"]

    @Test("each command in a block or between backticks is one that the programs accept", arguments: files)
    func parse(_ file: String) throws {
        for command in try Self.commands(in: file) {
            #expect(throws: Never.self, "\(file): \(command.joined(separator: " "))") { try Self.parse(command) }
        }
    }

    @Test("the documents have more than a hundred commands")
    func count() throws {
        let commands = try Self.files.flatMap { try Self.commands(in: $0) }
        #expect(commands.count > 100, "\(commands.count)")
    }

    @Test(
        "a command that the programs do not accept is found",
        arguments: ["waft sned x", "waft accept 1 --item 1", "waftd x"])
    func refused(_ text: String) throws {
        let command = try #require(Self.commands(inLine: text).first)
        #expect(throws: (any Error).self) { try Self.parse(command) }
    }

    @Test("a line of a shell is taken apart into its commands")
    func shell() {
        let line =
            "$ A=b waft send 'a b' \"c d\" x\\ y --to k && echo waft | Scripts/waftd --name n >log 2>&1 & # waft send"
        #expect(
            Self.commands(inLine: line)
                == [["waft", "send", "a b", "c d", "x y", "--to", "k"], ["waftd", "--name", "n"]])
    }

    /// Parses in the order of the program. 1 replaces a placeholder for a number.
    private static func parse(_ command: [String]) throws {
        let words = command.dropFirst().map { ["N", "NUMBER"].contains($0) ? "1" : $0 }
        guard command[0] == "waft" else {
            _ = try WaftDaemonCommand.parseAsRoot(words)
            return
        }
        let line = CommandWords(words: words)
        try line.refuseBundles(in: WaftCommand.self)
        try line.refuseHelpOfNothing(in: WaftCommand.self)
        // The name of a verb alone, as in prose.
        guard !line.place(in: WaftCommand.self).rest.isEmpty else { return }
        guard words.first == "send" else {
            _ = try WaftCommand.parseAsRoot(words)
            return
        }
        _ = try WaftCommand.parseAsRoot(["send"] + SendWords(words.dropFirst()).options)
    }

    // MARK: Reading

    private static func commands(in file: String) throws -> [[String]] {
        var lines: [String] = []
        for line in try CodeBlock.all(in: file).flatMap(typed) {
            if lines.last?.hasSuffix("\\") == true {
                lines[lines.count - 1] = String(lines[lines.count - 1].dropLast()) + line
            } else {
                lines.append(line)
            }
        }
        let text = try CodeBlock.text(of: file).split(separator: "\n").filter { !$0.hasPrefix("    ") }
            .joined(separator: " ")
        let spans = text.split(separator: "`", omittingEmptySubsequences: false).enumerated()
            .compactMap { $0.offset % 2 == 1 ? String($0.element) : nil }
        return (lines + spans).flatMap(commands(inLine:))
    }

    /// The lines of a block that a user types: those behind a prompt, or all.
    private static func typed(_ block: CodeBlock) -> [String] {
        let prompted = block.lines.filter { $0.prefixMatch(of: /\w*\$[ ]/) != nil }
        return prompted.isEmpty ? block.lines : prompted
    }

    /// The commands of `waft` and `waftd` in a line of a shell.
    private static func commands(inLine line: String) -> [[String]] {
        words(line).compactMap { words in
            var words = words[...]
            if words.first == "$" || words.first?.hasSuffix("$") == true { words = words.dropFirst() }
            while let word = words.first, word.contains("=") { words = words.dropFirst() }
            guard let program = words.first?.split(separator: "/").last, ["waft", "waftd"].contains(program),
                words.count > 1
            else { return nil }
            return [String(program)] + words.dropFirst()
        }
    }

    /// The words of each command in a line of a shell, without its redirections.
    private static func words(_ line: String) -> [[String]] {
        var commands: [[String]] = [[]]
        var word: String?
        var quote: Character?
        var isRedirection = false
        func end() {
            if let word, !isRedirection { commands[commands.count - 1].append(word) }
            if word != nil { isRedirection = false }
            word = nil
        }
        var rest = line[...]
        while let character = rest.popFirst() {
            switch character {
            case quote: quote = nil
            case _ where quote != nil: word = (word ?? "") + String(character)
            case "'", "\"":
                quote = character
                word = word ?? ""
            case "\\": word = (word ?? "") + String(rest.popFirst() ?? "\\")
            case " ": end()
            case "#" where word == nil: return commands
            case "|", ";", "&":
                end()
                if isRedirection { continue }
                commands.append([])
            case ">", "<":
                if word?.allSatisfy(\.isNumber) == true { word = nil }
                end()
                isRedirection = true
            default: word = (word ?? "") + String(character)
            }
        }
        end()
        return commands
    }
}
