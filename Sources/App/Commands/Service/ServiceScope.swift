import ArgumentParser
import Foundation
import Glibc
import Lines

/// Whose service it is.
enum ServiceScope: Sendable {
    case user
    case system

    /// The folder for units that are not of a package.
    /// - Throws: `CommandError` if there is no home.
    func folder(_ environment: [String: String] = ProcessInfo.processInfo.environment) throws(CommandError) -> String {
        if self == .system { return "/etc/systemd/system" }
        if let folder = environment["XDG_CONFIG_HOME"], folder.hasPrefix("/") { return folder + "/systemd/user" }
        guard let home = environment["HOME"], home.hasPrefix("/") else {
            throw CommandError(.usage, "HOME is not set to a folder, in which systemd looks for your services")
        }
        return home + "/.config/systemd/user"
    }

    /// A command of `systemctl` as a user types it.
    func command(_ words: String) -> String { (self == .user ? "systemctl --user " : "systemctl ") + words }

    /// The command that shows the log of the service.
    var logCommand: String { "journalctl \(self == .user ? "--user " : "")-u waftd" }
}

/// The option for whose service it is.
struct ServiceScopeOption: ParsableArguments {
    @Flag(name: .long, help: "The service of the machine, which runs as the user waft, instead of your own.")
    var system = false

    var scope: ServiceScope { system ? .system : .user }

    /// - Throws: `CommandError` for a change of the machine by a user who may not make it.
    func scopeToChange() throws(CommandError) -> ServiceScope {
        if system, geteuid() != 0 {
            throw CommandError(
                .usage, "a service of the machine is changed by root", hint: "put sudo before the command")
        }
        return scope
    }
}
