import ArgumentParser
import Endpoints
import Foundation
import Lines
import Receiving
import Settings

/// `waft config check`.
struct ConfigCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check config.yaml, or another file of settings, and list its faults.",
        discussion: """
            Example: waft config check. Exit code 64 for a file with faults, 66 for a missing file.

            With a fault of the file no receiver starts. With a program, a folder or a certificate that is missing it starts, \
            and says so in: waft status.
            """
    )

    struct Fields: Encodable {
        var path: String
        /// From 1.
        var line: Int?
        var reason: String
        /// Whether a receiver starts all the same.
        var receiverStarts: Bool
    }

    @Argument(help: ArgumentHelp("The file (default: config.yaml).", valueName: "file"), completion: .file())
    var file: String?

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let home = try CommandContext.place()
        let path = file ?? home.configurationFile
        do {
            guard let text = try ConfigurationText(path: path) else { return try sayThatItIsMissing(path) }
            try report(SettingsJudge(home).read(text, hostName: CommandContext.hostName).faults, of: path)
        } catch let error as Settings.InvalidError {
            try report(SettingFault.all(of: error), of: path)
        }
    }

    private func report(_ faults: [SettingFault], of path: String) throws(CommandError) {
        guard !faults.isEmpty else {
            if !output.json { Console.shared.note("\(TerminalText.escaped(path, limit: 4_096)) has no faults") }
            return
        }
        if output.json {
            for fault in faults {
                EventLine.settingFault(
                    Fields(
                        path: path, line: fault.line, reason: fault.words, receiverStarts: fault.kind == .program)
                ).print()
            }
        }
        throw CommandError(.usage, Settings.InvalidError(file: path, faults))
    }

    private func sayThatItIsMissing(_ path: String) throws(CommandError) {
        let path = TerminalText.escaped(path, limit: 4_096)
        guard file == nil else { throw CommandError(.inputMissing, "there is no file \(path)") }
        if !output.json { Console.shared.note("there is no \(path): all settings have their defaults") }
    }
}
