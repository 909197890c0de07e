import ArgumentParser
import Settings

/// `waft config schema`.
struct ConfigSchemaCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Print the JSON Schema (2020-12) of config.yaml, for editors.",
        discussion: "Example: waft config schema >config.schema.json"
    )

    struct Fields: Encodable {
        var schema = SettingsSchema()
    }

    @OptionGroup var output: OutputOptions

    func run() async throws {
        if output.json { return EventLine.settingsSchema(Fields()).print() }
        Console.shared.result(SettingsSchema().text)
    }
}
