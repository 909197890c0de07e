import ArgumentParser
import Lines

/// `waft service status`.
struct ServiceStatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show the state of the service.",
        discussion: "Example: waft service status --json. Exit code 69 when it does not run."
    )

    @OptionGroup var whose: ServiceScopeOption
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let scope = whose.scope
        guard await Systemctl(scope: scope).isThere else { throw CommandError.noSystemd(scope) }
        let standing = await ServiceStanding.read(scope)
        if output.json {
            EventLine.service(standing.fields()).print()
        } else {
            for (label, value) in Self.lines(standing, hidden: try await hiddenUnit(by: standing)) {
                let padding = String(repeating: " ", count: 17 - label.count)
                Console.shared.result("\(label)\(padding)\(TerminalText.escaped(value, limit: 400))")
            }
        }
        guard standing.isActive else { throw WaftExit.notRunning.code }
    }

    /// The path of an installed unit which a copy of an earlier installation hides.
    private func hiddenUnit(by standing: ServiceStanding) async throws -> String? {
        guard let path = standing.path, path == "\(try standing.scope.folder())/\(ServiceUnits.service)" else {
            return nil
        }
        return try await InstalledUnits.find(Systemctl(scope: standing.scope))?.paths.first
    }

    private static func lines(_ standing: ServiceStanding, hidden: String?) -> [(String, String)] {
        var lines = [("state", standing.state)]
        guard standing.isKnown else { return lines }
        lines.append(("starts by itself", standing.startsByItself ? "yes" : "no"))
        if let line = standing.statusLine { lines.append(("waftd says", line)) }
        if let process = standing.processID { lines.append(("process", "\(process)")) }
        if let restarts = standing.restarts, restarts > 0 { lines.append(("started again", "\(restarts) times")) }
        if let lingers = standing.lingers {
            lines.append(("after logout", lingers ? "it goes on" : "it ends; to keep it on: loginctl enable-linger"))
        }
        if let path = standing.path { lines.append(("unit", path)) }
        if let hidden { lines.append(("not used", "\(hidden); to use it: waft service install")) }
        lines.append(("log", standing.scope.logCommand))
        return lines
    }
}

extension CommandError {
    /// - Parameter units: those that were printed in place of the installation.
    static func noSystemd(_ scope: ServiceScope, units: Bool = false) -> CommandError {
        let hint =
            scope == .user
            ? "log in at this machine instead of using su or sudo, or start waftd by the means of your system"
            : "start waftd by the means of your system"
        let line = scope == .user ? "no systemd runs for you here" : "systemd does not run here"
        return CommandError(.notRunning, line + (units ? ": the units above were not written" : ""), hint: hint)
    }
}
