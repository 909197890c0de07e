import Foundation
import Glibc
import Lines
import Programs

/// Whose service it is.
enum ServiceScope: Sendable {
    case user
    case system

    /// The folder for units that are not of a package.
    /// - Throws: `WaftError` if there is no home.
    func folder(_ environment: [String: String] = ProcessInfo.processInfo.environment) throws(WaftError) -> String {
        if self == .system { return "/etc/systemd/system" }
        if let folder = environment["XDG_CONFIG_HOME"], folder.hasPrefix("/") { return folder + "/systemd/user" }
        guard let home = environment["HOME"], home.hasPrefix("/") else {
            throw WaftError(.usage, "HOME is not set to a folder, in which systemd looks for your services")
        }
        return home + "/.config/systemd/user"
    }

    /// A command of `systemctl` as a user types it.
    func command(_ words: String) -> String { (self == .user ? "systemctl --user " : "systemctl ") + words }

    /// The command that shows the log of the service.
    var logCommand: String { "journalctl \(self == .user ? "--user " : "")-u waftd" }
}

/// Calls of systemd's own programs.
struct Systemctl: Sendable {
    let scope: ServiceScope

    struct Outcome: Sendable {
        var isDone: Bool
        var output: String
        /// The first line that it wrote on standard error.
        var reason: String
    }

    /// Whether systemd runs, for this user or the machine.
    var isThere: Bool {
        get async {
            // As sd_booted(3) finds out.
            guard access("/run/systemd/system", F_OK) == 0 else { return false }
            return await call("show", "--property=Version").isDone
        }
    }

    /// - Returns: not done if there is no `systemctl`.
    func call(_ words: String...) async -> Outcome { await call(words) }

    private func call(_ words: [String]) async -> Outcome {
        await Self.run("systemctl", (scope == .user ? ["--user"] : []) + ["--no-pager"] + words)
    }

    /// Calls `systemctl`.
    /// - Throws: `WaftError` with the reason of a failure.
    func require(_ words: String...) async throws(WaftError) {
        let outcome = await call(words)
        guard outcome.isDone else {
            throw WaftError(.unexpected, "\(scope.command(words.joined(separator: " "))): \(outcome.reason)")
        }
    }

    static func run(_ program: String, _ words: [String]) async -> Outcome {
        do {
            let end = try await Program(program, words).run(limit: 1 << 20)
            let reason = end.errors.split(separator: "\n").first.map(String.init) ?? ""
            return Outcome(isDone: end.exit == .code(0), output: end.output, reason: reason)
        } catch {
            return Outcome(isDone: false, output: "", reason: "\(program) cannot be started")
        }
    }
}

extension Systemctl {
    private static let asked = [
        "LoadState", "ActiveState", "SubState", "UnitFileState", "FragmentPath", "StatusText", "MainPID", "NRestarts",
        "Result",
    ]

    /// The service as systemd sees it now.
    func state() async -> ServiceLine {
        let shown = await call("show", ServiceUnits.service, "--property=" + Self.asked.joined(separator: ","))
        var lingers: Bool?
        if scope == .user {
            let answer = await Self.run("loginctl", ["show-user", "\(getuid())", "--property=Linger", "--value"])
            lingers = answer.isDone ? answer.output.hasPrefix("yes") : nil
        }
        return ServiceLine(reading: shown.output, scope, lingers: lingers)
    }
}

extension ServiceLine {
    /// - Parameter properties: of the unit, a line each: `NAME=VALUE`.
    init(reading properties: String, _ scope: ServiceScope, lingers: Bool?) {
        var texts: [Substring: Substring] = [:]
        for line in properties.split(separator: "\n") {
            let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { texts[parts[0]] = parts[1] }
        }
        func text(_ name: Substring) -> String? { texts[name].flatMap { $0.isEmpty ? nil : String($0) } }
        let isKnown = text("LoadState") == "loaded"
        let (active, result) = (text("ActiveState") ?? "unknown", text("Result") ?? "success")
        let isFailed = active == "failed" || result != "success"
        self.init(
            system: scope == .system,
            state: !isKnown ? "not installed" : isFailed ? "\(active) (\(result))" : active,
            startsByItself: ["enabled", "enabled-runtime"].contains(text("UnitFileState") ?? ""),
            path: text("FragmentPath"), statusLine: text("StatusText"),
            processID: text("MainPID").flatMap(Int.init).flatMap { $0 > 0 ? $0 : nil },
            restarts: text("NRestarts").flatMap(Int.init), lingers: lingers, isKnown: isKnown,
            isActive: ["active", "reloading"].contains(active))
    }
}
