import ArgumentParser
import Lines
import Settings

/// `waft config set`.
struct ConfigSetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Set a setting in config.yaml.",
        discussion: """
            Example: waft config set accept contacts

            A list has several values: waft config set hookWritable /srv/photos /srv/notes. Rules are changed by: waft config edit

            A value with which no receiver starts is refused, and so is a program, a folder or a certificate that is \
            missing: exit code 64. It is 64 too if the value is written, and another fault of the file keeps it from counting.
            """
    )

    @Argument(help: ArgumentHelp("The setting.", valueName: "key"), completion: .settings)
    var key: String

    @Argument(
        parsing: .remaining, help: ArgumentHelp("The value; several for a list.", valueName: "value"),
        completion: .settingValues)
    var values: [String] = []

    @Flag(name: .long, help: "Set it also if its program, folder or certificate is missing: its disk is mounted later.")
    var anyway = false

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let row = try SettingText.key(key)
        guard row.kind != .rules else {
            throw CommandError(.usage, "rules are more than a value", hint: "change them with: waft config edit")
        }
        guard !values.isEmpty else {
            throw CommandError(
                .usage, "a value is missing; \(row.name) should be \(row.expected)",
                hint: "for the default: waft config unset \(row.name)")
        }
        guard row.takes(values) else { throw CommandError(.usage, row.complaint(about: values)) }
        try await SettingChange(key: row, texts: values, anyway: anyway).carryOut(json: output.json)
    }
}
