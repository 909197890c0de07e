import ArgumentParser
import Glibc
import Settings

/// `waft config path`.
struct ConfigPathCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "path",
        abstract: "Print the path of config.yaml.",
        discussion: "Example: cat \"$(waft config path)\""
    )

    struct Fields: Encodable {
        var path: String
        /// Whether the file exists.
        var exists: Bool
    }

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let path = try CommandContext.place().configurationFile
        if output.json {
            return EventLine.settingsFile(Fields(path: path, exists: access(path, F_OK) == 0)).print()
        }
        Console.shared.result(TerminalText.escaped(path, limit: 4_096))
    }
}
