import ArgumentParser

/// `waft service remove`.
struct ServiceRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Stop the service and remove its units; the Inbox and the settings stay.",
        discussion: "Example: waft service remove"
    )

    @OptionGroup var whose: ServiceScopeOption

    @Flag(name: .long, help: "Remove units that were written or changed by another hand too.")
    var force = false

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let scope = try whose.scopeToChange()
        let folder = try scope.folder()
        let files = [ServiceUnits.service, ServiceUnits.socket].map { UnitFile(path: "\(folder)/\($0)") }
        for file in files { try file.requireOwn(orForced: force) }
        let systemctl = Systemctl(scope: scope)
        let isThere = await systemctl.isThere
        // Both: a connection to the socket would start the service again.
        if isThere { _ = await systemctl.call("disable", "--now", ServiceUnits.socket, ServiceUnits.service) }
        let removed = files.filter { $0.owner != .nobody }
        for file in removed { try file.remove() }
        if isThere {
            try await systemctl.require("daemon-reload")
            _ = await systemctl.call("reset-failed", ServiceUnits.service)
        }
        let standing = await ServiceStanding.read(scope)
        if output.json { return EventLine.service(standing.fields(units: removed.map(\.path))).print() }
        for file in removed { Console.shared.result("removed \(TerminalText.escaped(file.path, limit: 1_000))") }
        if removed.isEmpty {
            Console.shared.result("there were no units in \(TerminalText.escaped(folder, limit: 1_000))")
        }
        if let path = standing.path {
            let unit = TerminalText.escaped(path, limit: 1_000)
            Console.shared.note("\(unit) belongs to the package; it is stopped, and starts no more by itself")
        }
        Console.shared.note("The Inbox, the settings and the identity of this machine stay.")
    }
}
