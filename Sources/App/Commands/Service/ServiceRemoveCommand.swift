import ArgumentParser

/// `waft service remove`.
struct ServiceRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Stop the service, and let it start no more; the Inbox and the settings stay.",
        discussion: """
            Example: waft service remove

            Units that waft service install has written are removed; those of a package or of Scripts/install stay, disabled.
            """
    )

    @OptionGroup var whose: ServiceScopeOption

    @Flag(name: .long, help: "Remove units that were written or changed by another hand too.")
    var force = false

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let scope = try whose.scopeToChange()
        let folder = UnitFolder(path: try scope.folder())
        let removed = folder.units + folder.dropIns
        for file in removed { try file.requireOwn(orForced: force) }
        let systemctl = Systemctl(scope: scope)
        let isThere = await systemctl.isThere
        if isThere {
            // The socket first: a connection to it would start the service again. One by one: systemd does nothing at all if
            // it does not find one of them.
            for unit in [ServiceUnits.socket, ServiceUnits.service] {
                _ = await systemctl.call("stop", unit)
                _ = await systemctl.call("disable", unit)
            }
        }
        for file in removed { try file.remove() }
        folder.removeDanglingLinks()
        if isThere {
            try await systemctl.require("daemon-reload")
            for unit in [ServiceUnits.socket, ServiceUnits.service] { _ = await systemctl.call("reset-failed", unit) }
        }
        let standing = await ServiceStanding.read(scope)
        if output.json { return EventLine.service(standing.fields(units: removed.map(\.path))).print() }
        for file in removed { Console.shared.result("removed \(TerminalText.escaped(file.path, limit: 1_000))") }
        if removed.isEmpty, standing.path == nil {
            Console.shared.result("there were no units in \(TerminalText.escaped(folder.path, limit: 1_000))")
        }
        if let path = standing.path {
            let unit = TerminalText.escaped(path, limit: 1_000)
            Console.shared.note(
                "\(unit) stays, as an installation has brought it; it is stopped, and starts no more by itself")
        }
        Console.shared.note("The Inbox, the settings and the identity of this machine stay.")
    }
}
