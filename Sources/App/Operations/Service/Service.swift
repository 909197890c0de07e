import Glibc
package import Lines
import Programs
import Synchronization

/// The receiver as a service of systemd.
package struct Service: Sendable {
    private let scope: ServiceScope
    private let waft: Waft?
    private var systemctl: Systemctl { Systemctl(scope: scope) }

    /// - Parameters:
    ///   - system: the service of the machine, which runs as the user waft, instead of the user's own.
    ///   - waft: of the user, for units that are made for him.
    package init(system: Bool, of waft: Waft? = nil) {
        (scope, self.waft) = (system ? .system : .user, waft)
    }

    /// The names that units have.
    package static let units = [ServiceUnits.service, ServiceUnits.socket]

    /// A command of `systemctl` as a user types it.
    package func command(_ words: String) -> String { scope.command(words) }

    /// The units, which nobody has written yet.
    /// - Parameter folder: of `waftd`; nil for that of this program.
    /// - Throws: `WaftError` if there is no `waftd`, or systemd could not start it there.
    package func units(programs folder: String? = nil) throws(WaftError) -> [UnitLine] {
        if let folder { return ServiceUnits(scope: scope, daemon: folder + "/waftd").all }
        return try ServiceUnits.own(scope, waft).all
    }

    /// - Throws: `WaftError`, `notRunning` without systemd.
    package func status() async throws(WaftError) -> ServiceLine {
        guard await systemctl.isThere else { throw noSystemd() }
        var line = await systemctl.state()
        if let path = line.path, path == "\(try scope.folder())/\(ServiceUnits.service)" {
            line.hidden = try await InstalledUnits.find(systemctl)?.paths.first
        }
        return line
    }

    // MARK: Installing

    /// A step of an installation that is done.
    package enum Step: Sendable {
        /// There is no systemd: these were not written.
        case unwritten([UnitLine])
        /// Paths of files of an earlier installation.
        case removed([String])
        /// Paths of units that an installation has brought.
        case enabled([String])
        /// Paths of files.
        case wrote([String])
    }

    package struct Installation: Sendable {
        package let line: ServiceLine
        /// The status of the user's receiver that was started; nil if it does not answer.
        package let receiver: StatusLine?
        /// The process of a receiver that runs already, is not the service's, and was left alone.
        package let byHand: Int?
    }

    /// Lets the service start by itself.
    /// - Parameters:
    ///   - now: starts it now too, unless another receiver runs.
    ///   - linger: keeps it on when the user has logged out.
    ///   - force: replaces units that another hand has written or changed.
    ///   - report: sees each step at once: a later one can fail.
    /// - Throws: `WaftError`: `usage` if the user may not do that, `notRunning` without systemd, `unexpected` if it fails.
    package func install(
        now: Bool, linger: Bool, force: Bool, _ report: (Step) -> Void
    ) async throws(WaftError) -> Installation {
        try checkRight()
        guard await systemctl.isThere else {
            report(.unwritten(try units()))
            throw noSystemd(units: true)
        }
        let folder = UnitFolder(path: try scope.folder())
        let installed = try await InstalledUnits.find(systemctl)
        let units = try unitsToWrite(besides: installed)
        let files = units.map { (file: folder.file(of: $0), text: $0.unitText) }
        let paths = files.map(\.file.path)
        let obsolete = (folder.units + folder.dropIns).filter { !paths.contains($0.path) }
        for file in files.map(\.file) + obsolete { try file.requireOwn(orForced: force) }
        if scope == .system { try await makeUser() }
        if !obsolete.isEmpty {
            // While they are there: systemd reads in them which links are theirs.
            for unit in [ServiceUnits.socket, ServiceUnits.service] { _ = await systemctl.call("disable", unit) }
            for file in obsolete { try file.remove() }
            report(.removed(obsolete.map(\.path)))
        }
        for (file, text) in files { try file.write(text) }
        try await systemctl.require("daemon-reload")
        try await systemctl.require("enable", "--quiet", ServiceUnits.service)
        if linger { try await keepOn() }
        let byHand = await receiverByHand()
        if let installed { report(.enabled(installed.paths)) }
        if !files.isEmpty { report(.wrote(paths)) }
        if now, byHand == nil { try await start() }
        var line = await systemctl.state()
        line.units = (installed?.paths ?? []) + paths
        let receiver = line.isActive && scope == .user ? try? await waft?.status() : nil
        return Installation(line: line, receiver: receiver, byHand: byHand)
    }

    /// The files to write: units, or drop-ins where installed units are.
    private func unitsToWrite(besides installed: InstalledUnits?) throws(WaftError) -> [UnitLine] {
        guard installed != nil else { return try units() }
        return scope == .user ? try ServiceUnits.dropIns(waft) : []
    }

    private func start() async throws(WaftError) {
        // The socket anew as well, as its port may be another now; systemd starts none for a service that runs.
        _ = await systemctl.call("stop", ServiceUnits.socket, ServiceUnits.service)
        let outcome = await systemctl.call("start", ServiceUnits.service)
        let line = await systemctl.state()
        // A condition of the unit that does not hold is no failure for systemctl.
        guard !outcome.isDone || !line.isActive else { return }
        let notStarted =
            outcome.isDone ? "the program of \(line.path ?? ServiceUnits.service) is missing" : outcome.reason
        throw WaftError(
            .unexpected, "waftd did not start: \(line.statusLine ?? notStarted)", hint: "see: \(scope.logCommand)")
    }

    /// Starts the user's receiver without the service: until the user logs out, or the machine is shut down.
    /// - Returns: its status.
    /// - Throws: `WaftError`: `unexpected` if it cannot be started, or ends at once.
    package func startOnce() async throws(WaftError) -> StatusLine? {
        let daemon = try OwnPrograms.daemon()
        let running: RunningProgram
        do throws(ProgramError) {
            running = try await Program(daemon, hasOwnGroup: true).start()
        } catch {
            throw WaftError(.unexpected, error.description)
        }
        let hasEnded = Mutex(false)
        running.whenEnded { _ in hasEnded.withLock { $0 = true } }
        while !hasEnded.withLock({ $0 }) {
            if let status = try? await waft?.status() { return status }
            try? await Task.sleep(for: .milliseconds(50))
            if Task.isCancelled { return nil }
        }
        throw WaftError(.unexpected, "waftd did not start", hint: "run it in a terminal to see why: waftd")
    }

    /// The service runs as a user of its own.
    private func makeUser() async throws(WaftError) {
        guard getpwnam("waft") == nil else { return }
        let line = #"u waft - "Waft, the receiver of this machine" /var/lib/waft"#
        let outcome = await Systemctl.run("systemd-sysusers", ["--inline", line])
        guard outcome.isDone else {
            throw WaftError(
                .unexpected, "the user waft cannot be made: \(outcome.reason)",
                hint: "make a user waft of the system with the home /var/lib/waft")
        }
    }

    private func keepOn() async throws(WaftError) {
        let outcome = await Systemctl.run("loginctl", ["enable-linger"])
        guard outcome.isDone else { throw WaftError(.unexpected, "loginctl enable-linger: \(outcome.reason)") }
    }

    /// The process of the user's receiver if it is not the service's; nil if there is none.
    private func receiverByHand() async -> Int? {
        guard scope == .user, let status = try? await waft?.status() else { return nil }
        return await systemctl.state().processID == status.processID ? nil : status.processID
    }

    // MARK: Removing

    /// Stops the service, and lets it start no more. Units of an installation stay.
    /// - Parameter force: removes units that another hand has written or changed too.
    /// - Returns: the service with the paths of the removed files as its units, and the folder where they were.
    /// - Throws: `WaftError`: `usage` if the user may not do that, `unexpected` if it fails.
    package func remove(force: Bool) async throws(WaftError) -> (line: ServiceLine, folder: String) {
        try checkRight()
        let folder = UnitFolder(path: try scope.folder())
        let removed = folder.units + folder.dropIns
        for file in removed { try file.requireOwn(orForced: force) }
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
        var line = await systemctl.state()
        line.units = removed.map(\.path)
        return (line, folder.path)
    }

    // MARK: Refusals

    /// - Throws: `WaftError` `usage` for a change of the machine by a user who may not make it.
    private func checkRight() throws(WaftError) {
        guard scope == .user || geteuid() == 0 else {
            throw WaftError(.usage, "a service of the machine is changed by root", hint: "put sudo before the command")
        }
    }

    /// - Parameter units: whether those that were reported are not written.
    private func noSystemd(units: Bool = false) -> WaftError {
        let hint =
            scope == .user
            ? "log in at this machine instead of using su or sudo, or start waftd by the means of your system"
            : "start waftd by the means of your system"
        let line = scope == .user ? "no systemd runs for you here" : "systemd does not run here"
        return WaftError(.notRunning, line + (units ? ": the units above were not written" : ""), hint: hint)
    }
}
