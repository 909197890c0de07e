import ArgumentParser
import Control
import Glibc
import Sharing

/// `waft service install`.
struct ServiceInstallCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "install",
        abstract: "Write the units of the service, and let it start by itself.",
        discussion: """
            Example: waft service install --now

            Without --now it starts with your next login. Without systemd the units are printed, and nothing is written: exit \
            code 69. Units that were written or changed by another hand stay as they are.
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
        let units = try ServiceUnits.ofThisUser(scope)
        let folder = try scope.folder()
        let systemctl = Systemctl(scope: scope)
        guard await systemctl.isThere else {
            ServicePrintCommand.show(units.all, json: output.json)
            throw CommandError.noSystemd(scope, units: true)
        }
        let files = units.all.map { (file: UnitFile(path: "\(folder)/\($0.name)"), text: $0.text) }
        for (file, _) in files { try file.requireOwn(orForced: force) }
        if scope == .system { try await makeUser() }
        for (file, text) in files { try file.write(text) }
        try await systemctl.require("daemon-reload")
        try await systemctl.require("enable", "--quiet", ServiceUnits.service)
        if linger { try await keepOn() }
        let byHand = scope == .user ? await receiverByHand() : nil
        if !output.json {
            let names = files.map { String($0.file.path.dropFirst(folder.count + 1)) }.dropFirst()
            Console.shared.result(
                "wrote \(TerminalText.escaped(([files[0].file.path] + names).joined(separator: ", "), limit: 2_000))")
        }
        if now, byHand == nil { try await start(systemctl) }
        try await show(scope, files.map(\.file.path), byHand)
    }

    private func start(_ systemctl: Systemctl) async throws(CommandError) {
        let outcome = await systemctl.call("restart", ServiceUnits.service)
        guard !outcome.isDone else { return }
        let standing = await ServiceStanding.read(systemctl.scope)
        let reason = standing.statusLine.map { TerminalText.escaped($0, limit: 1_000) } ?? outcome.reason
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
        let visible = status.visible.map { "; visible to \($0 == "off" ? "nobody" : $0)" } ?? ""
        return TerminalText.escaped("receiving as \(status.name) (\(id))\(place)\(visible)", limit: 400)
    }
}
