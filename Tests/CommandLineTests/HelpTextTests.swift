import ArgumentParser
import Foundation
import Testing

@testable import CommandLine

@Suite("The help")
struct HelpTextTests {
    private func all(_ command: any ParsableCommand.Type) -> [any ParsableCommand.Type] {
        [command] + command.configuration.subcommands.flatMap(all)
    }

    private var commands: [any ParsableCommand.Type] { all(WaftCommand.self) + [WaftDaemonCommand.self] }

    @Test("no example and no table is wider than a terminal of 80 columns, and no paragraph is broken by hand")
    func lines() {
        for command in commands {
            let name = command._commandName
            var previous = ""
            for line in command.configuration.discussion.split(separator: "\n", omittingEmptySubsequences: false) {
                defer { previous = String(line) }
                if line.hasPrefix("  ") {
                    #expect(line.count <= 79, "\(name): \(line)")
                } else {
                    #expect(line.isEmpty || previous.isEmpty, "\(name): \(line)")
                }
            }
        }
    }

    @Test("the help of waft has at most 45 lines of a terminal of 80 columns, and each verb once")
    func front() throws {
        let texts = [["--help"], ["-h"], ["help"], []].map { words in
            HelpPage.text(for: CommandWords(words: words), of: WaftCommand.self)
        }
        let text = try #require(texts[0])
        #expect(texts.allSatisfy { $0 == text })
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count <= 45 && lines.allSatisfy { $0.count <= 79 }, "\(text)")
        let rows = lines.filter { $0.hasPrefix("  ") && !$0.contains("$") && !$0.hasPrefix("  -") }
        let verbs = rows.flatMap { row in
            row.dropFirst(2).prefix { !$0.isWhitespace || $0 == " " }.components(separatedBy: "  ")[0]
                .components(separatedBy: ", ")
        }
        #expect(verbs.sorted() == WaftCommand.configuration.subcommands.map { $0._commandName }.sorted())
    }

    @Test("the help of a group has the options of the verb that runs without a name")
    func groups() throws {
        let groups = WaftCommand.configuration.subcommands.filter { $0.configuration.defaultSubcommand != nil }
        #expect(groups.count >= 6)
        for group in groups {
            let usual = try #require(group.configuration.defaultSubcommand)
            for words in [[group._commandName, "--help"], ["help", group._commandName]] {
                let text = try #require(
                    HelpPage.text(for: CommandWords(words: words), of: WaftCommand.self, columns: 80))
                for option in usual.helpMessage(columns: 80).matches(of: /\n  (--[a-z-]+)/) {
                    #expect(text.contains("\n  \(option.1)"), "\(words): \(option.1)")
                }
                #expect(
                    text.contains("SUBCOMMANDS:") && text.contains("OF \(usual._commandName), WHICH IS THE DEFAULT:"))
            }
        }
        for words in [
            ["send", "--help"], ["inbox", "take", "--help"], ["inbox"], ["inbox", "remove", "1", "--help"],
        ] {
            #expect(HelpPage.text(for: CommandWords(words: words), of: WaftCommand.self) == nil, "\(words)")
        }
    }

    @Test("an option with a value names the value, and not itself")
    func values() {
        // Words that say what the value is.
        let plain: Set = ["name", "port", "text", "url", "type", "note", "scheme", "state", "handler", "folder"]
        for command in commands {
            for match in command.helpMessage(columns: 200).matches(of: /--([a-z-]+) <([^>]+)>/) {
                let (option, value) = (String(match.1), String(match.2))
                #expect(option != value || plain.contains(value), "\(command._commandName): --\(option) <\(value)>")
            }
        }
    }
}
