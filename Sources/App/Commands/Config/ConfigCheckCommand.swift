import ArgumentParser
import Endpoints
import Foundation
import Settings

/// `waft config check`.
struct ConfigCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check config.yaml, or another file of settings, and list its faults.",
        discussion: "Example: waft config check. Exit code 64 for a file with faults, 66 for a missing file."
    )

    struct Fields: Encodable {
        var path: String
        /// From 1.
        var line: Int?
        var reason: String
    }

    @Argument(help: ArgumentHelp("The file (default: config.yaml).", valueName: "file"), completion: .file())
    var file: String?

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let home = try CommandContext.place()
        let path = file ?? home.configurationFile
        do {
            guard let text = try ConfigurationText(path: path) else { return try sayThatItIsMissing(path) }
            var settings = Settings(hostName: "")
            try settings.read(text, dialects: .known, registry: home.typeRegistry())
            if !output.json { Console.shared.note("\(TerminalText.escaped(path, limit: 4_096)) has no faults") }
        } catch let error as Settings.InvalidError {
            if output.json {
                for fault in error.faults {
                    EventLine.settingFault(Fields(path: path, line: fault.line, reason: fault.words)).print()
                }
            }
            throw CommandError(.usage, error)
        }
    }

    private func sayThatItIsMissing(_ path: String) throws(CommandError) {
        let path = TerminalText.escaped(path, limit: 4_096)
        guard file == nil else { throw CommandError(.inputMissing, "there is no file \(path)") }
        if !output.json { Console.shared.note("there is no \(path): all settings have their defaults") }
    }
}
