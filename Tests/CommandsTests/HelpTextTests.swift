import ArgumentParser
import Testing

@testable import Commands

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
