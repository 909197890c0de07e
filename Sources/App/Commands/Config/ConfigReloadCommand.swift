import ArgumentParser
import Control
import Lines

/// `waft config reload`.
struct ConfigReloadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reload",
        abstract: "Let the running receiver read its settings now, and wait for that.",
        discussion: "Example: waft config reload. Exit code 64 if the file has faults, 69 when no receiver is running."
    )

    @OptionGroup var output: OutputOptions

    func run() async throws {
        guard case .settings(let report) = try await Daemon.ask(.reloadSettings) else {
            throw CommandError(.unexpected, "the receiver is older than this command", hint: "restart it")
        }
        if output.json { EventLine.settings(EventLine.SettingsState(report)).print() }
        guard report.faults.isEmpty else {
            let faults = report.faults.map { TerminalText.escaped($0, limit: 1_000) }
            throw CommandError(
                .usage, "the receiver keeps its settings: \(faults[0])", others: Array(faults.dropFirst()))
        }
        if output.json { return }
        Console.shared.note(Self.line(report))
    }

    private static func line(_ report: SettingsReport) -> String {
        let changed =
            report.changed.isEmpty ? "nothing has changed" : "changed: \(report.changed.joined(separator: ", "))"
        return "the receiver has read its settings; \(changed)"
    }
}
