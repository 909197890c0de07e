import ArgumentParser
import Control
import Glibc
import Lines
import Sharing

/// `waft service install`.
struct ServiceInstallCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "install",
        abstract: "Let the service start by itself.",
        discussion: """
            Example: waft service install --now

            Units that a package or Scripts/install has brought are enabled; only where there are none they are written. Copies \
            of an earlier installation, which would hide those of the package, are removed. Without --now it starts with your \
            next login. Without systemd the units are printed, and nothing is written: exit code 69. Units that were written or \
            changed by another hand stay as they are.
            """
    )

    @OptionGroup var whose: ServiceScopeOption

    @Flag(name: .long, help: "Start it now; a service that runs already is started anew.")
    var now = false

    @Flag(name: .long, help: "Keep it on when you have logged out, as loginctl enable-linger does.")
    var linger = false

    @Flag(name: .long, help: "Replace units that were written or changed by another hand.")
    var force = false

    @OptionGroup var output: OutputOptions

    func validate() throws {
        if whose.system, linger { throw ValidationError("a service of the machine runs without --linger") }
    }

    func run() async throws {
        let scope = try whose.scopeToChange()
        let systemctl = Systemctl(scope: scope)
        guard await systemctl.isThere else {
            ServicePrintCommand.show(try ServiceUnits.ofThisUser(scope).all, json: output.json)
            throw CommandError.noSystemd(scope, units: true)
        }
        let folder = UnitFolder(path: try scope.folder())
        let installed = try await InstalledUnits.find(systemctl)
        let units = try Self.units(to: scope, besides: installed)
        let files = units.map { (file: folder.file(of: $0), text: $0.text) }
        let paths = Set(files.map(\.file.path))
        let obsolete = (folder.units + folder.dropIns).filter { !paths.contains($0.path) }
        for file in files.map(\.file) + obsolete { try file.requireOwn(orForced: force) }
        if scope == .system { try await makeUser() }
        try await remove(obsolete, systemctl)
        for (file, text) in files { try file.write(text) }
        try await systemctl.require("daemon-reload")
        try await systemctl.require("enable", "--quiet", ServiceUnits.service)
        if linger { try await keepOn() }
        let byHand = scope == .user ? await receiverByHand() : nil
        if !output.json {
            if let installed { Console.shared.result("enabled \(UnitFolder.names(of: installed.paths))") }
            if !files.isEmpty { Console.shared.result("wrote \(UnitFolder.names(of: files.map(\.file.path)))") }
        }
        if now, byHand == nil { try await start(systemctl) }
        try await show(scope, (installed?.paths ?? []) + files.map(\.file.path), byHand)
        // The service itself has no terminal.
        if scope == .user, !output.json { ProtectionSuggestion.sayOnce(try CommandContext.forgiving) }
    }

    /// The files to write: units, or drop-ins where installed units are.
    private static func units(
        to scope: ServiceScope, besides installed: InstalledUnits?
    ) throws(CommandError) -> [ServiceUnits.Unit] {
        guard installed != nil else { return try ServiceUnits.ofThisUser(scope).all }
        return scope == .user ? try ServiceUnits.dropInsOfThisUser() : []
    }

    /// Removes files of an earlier installation that would hide, or change, the units that are to be enabled.
    private func remove(_ files: [UnitFile], _ systemctl: Systemctl) async throws(CommandError) {
        guard !files.isEmpty else { return }
        // While they are there: systemd reads in them which links are theirs.
        for unit in [ServiceUnits.socket, ServiceUnits.service] { _ = await systemctl.call("disable", unit) }
        for file in files { try file.remove() }
        guard !output.json else { return }
        Console.shared.result("removed \(UnitFolder.names(of: files.map(\.path))), of an earlier installation")
    }

    private func start(_ systemctl: Systemctl) async throws(CommandError) {
        // The socket anew as well, as its port may be another now; systemd starts none for a service that runs.
        _ = await systemctl.call("stop", ServiceUnits.socket, ServiceUnits.service)
        let outcome = await systemctl.call("start", ServiceUnits.service)
        let standing = await ServiceStanding.read(systemctl.scope)
        // A condition of the unit that does not hold is no failure for systemctl.
        guard !outcome.isDone || !standing.isActive else { return }
        let notStarted =
            outcome.isDone ? "the program of \(standing.path ?? ServiceUnits.service) is missing" : outcome.reason
        let reason = standing.statusLine.map { TerminalText.escaped($0, limit: 1_000) } ?? notStarted
        throw CommandError(.unexpected, "waftd did not start: \(reason)", hint: "see: \(systemctl.scope.logCommand)")
    }

    /// The service runs as a user of its own.
    private func makeUser() async throws(CommandError) {
        guard getpwnam("waft") == nil else { return }
        let line = #"u waft - "Waft, the receiver of this machine" /var/lib/waft"#
        let outcome = await Systemctl.run("systemd-sysusers", ["--inline", line])
        guard outcome.isDone else {
            throw CommandError(
                .unexpected, "the user waft cannot be made: \(outcome.reason)",
                hint: "make a user waft of the system with the home /var/lib/waft")
        }
    }

    private func keepOn() async throws(CommandError) {
        let outcome = await Systemctl.run("loginctl", ["enable-linger"])
        guard outcome.isDone else {
            throw CommandError(.unexpected, "loginctl enable-linger: \(outcome.reason)")
        }
    }

    /// The process of a receiver that is not the service's; nil if there is none.
    private func receiverByHand() async -> Int? {
        guard case .status(let status) = try? await Daemon.askIfRunning(.status) else { return nil }
        return await ServiceStanding.read(.user).processID == status.processID ? nil : status.processID
    }

    // MARK: Showing

    private func show(_ scope: ServiceScope, _ units: [String], _ byHand: Int?) async throws {
        let standing = await ServiceStanding.read(scope)
        if output.json {
            EventLine.service(standing.fields(units: units)).print()
        } else if standing.isActive {
            Console.shared.result("started: \(await started(standing))")
        } else if byHand == nil {
            let when = scope == .user ? "with your next login" : "when the machine starts"
            Console.shared.note("It starts \(when). To start it now: \(scope.command("start waftd"))")
        }
        if standing.lingers == false, !output.json {
            Console.shared.note("It ends when you log out. To keep it on after that: loginctl enable-linger")
        }
        guard let byHand else { return }
        let line = "a receiver that was started by hand runs already (process \(byHand)), and was left alone"
        let hint = "end it, then: \(scope.command("start waftd"))"
        if now { throw CommandError(.usage, line, hint: hint) }
        Console.shared.note("\(line); \(hint)")
    }

    private func started(_ standing: ServiceStanding) async -> String {
        let line = TerminalText.escaped(standing.statusLine ?? "waftd", limit: 400)
        guard standing.scope == .user, case .status(let status) = try? await Daemon.askIfRunning(.status) else {
            return line
        }
        let id = PeerID(text: status.id)?.short ?? status.id
        let place = status.port > 0 ? " on \(status.port)" : ""
        let visible = "; visible to \(status.visibility == "off" ? "nobody" : status.visibility)"
        return TerminalText.escaped("receiving as \(status.name) (\(id))\(place)\(visible)", limit: 400)
    }
}
