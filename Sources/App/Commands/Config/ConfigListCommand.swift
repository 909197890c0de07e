import ArgumentParser
import Settings

/// `waft config list`.
struct ConfigListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the settings that are set, each with its value and its source.",
        discussion: "Example: waft config list --all"
    )

    @Flag(name: .long, help: "List all settings, also those that have their defaults.")
    var all = false

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let context = try CommandContext()
        let keys = SettingKey.all.filter { all || context.settings.places[$0.name] != nil }
        if output.json {
            for key in keys { EventLine.setting(SettingFields(key, context.settings)).print() }
            return
        }
        let width = keys.map(\.name.count).max() ?? 0
        for key in keys {
            let name = key.name + String(repeating: " ", count: width - key.name.count)
            let value = SettingText.value(of: key, context.settings)
            Console.shared.result("\(name)  \(value)  (\(SettingText.source(of: key, context.settings)))")
        }
        if keys.isEmpty { Console.shared.note("every setting has its default; to list all: waft config list --all") }
    }
}
