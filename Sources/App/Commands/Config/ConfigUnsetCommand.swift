import ArgumentParser
import Settings

/// `waft config unset`.
struct ConfigUnsetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unset",
        abstract: "Remove a setting from config.yaml, so that its default counts.",
        discussion: "Example: waft config unset accept"
    )

    @Argument(help: ArgumentHelp("The setting.", valueName: "key"), completion: .settings)
    var key: String

    @OptionGroup var output: OutputOptions

    func run() async throws {
        try await SettingChange(key: try SettingText.key(key), texts: nil).carryOut(json: output.json)
    }
}
