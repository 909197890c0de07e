import ArgumentParser
import Contacts
import Settings

/// `waft config get`.
struct ConfigGetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Print the value of a setting.",
        discussion: "Example: waft config get accept. A list has a line for each of its values."
    )

    @Argument(help: ArgumentHelp("The setting.", valueName: "key"), completion: .settings)
    var key: String

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let row = try SettingText.key(key)
        let settings = try CommandContext().settings
        if output.json { return EventLine.setting(SettingFields(row, settings)).print() }
        if row.kind == .rules {
            for (number, rule) in settings.policy.rules.enumerated() {
                Console.shared.result(TerminalText.escaped(RuleText.line(number + 1, rule), limit: 2_000))
            }
            return
        }
        let texts = row.texts(of: settings)
        for text in texts { Console.shared.result(TerminalText.escaped(text, limit: 4_096)) }
        if texts.isEmpty { Console.shared.note("\(row.name) is not set (\(row.standard))") }
    }
}
