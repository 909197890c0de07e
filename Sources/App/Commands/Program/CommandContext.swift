import ArgumentParser
import Endpoints
import Foundation
import Logging
import Settings

/// The process's environment, home and settings, with errors as command failures.
struct CommandContext {
    let home: Home
    let settings: Settings

    /// - Parameter apply: sets the settings of the command line; they override all others.
    init(_ apply: (inout Settings) throws(CommandError) -> Void = { _ in }) throws(CommandError) {
        let environment = ProcessInfo.processInfo.environment
        var settings = Settings(hostName: Self.hostName)
        do {
            home = try Home(environment: environment)
            // Checked before any file in it is read.
            try home.checkTrust()
            try settings.read(file: home.configurationFile, dialects: .known, registry: home.typeRegistry())
            try settings.read(environment: environment)
        } catch let error as Settings.InvalidError {
            throw CommandError(.usage, error)
        } catch {
            throw CommandError(.usage, "\(error)")
        }
        try apply(&settings)
        self.settings = settings
    }

    /// For a command that has read the home and the settings itself.
    init(home: Home, settings: Settings) {
        (self.home, self.settings) = (home, settings)
    }

    /// The peers that this user knows.
    var people: Acquaintances { Acquaintances(home.contactBook()) }

    /// The path of the Inbox, for verbs that read or change it.
    ///
    /// - Throws: `CommandError` `usage` if another user could change the Inbox.
    var inbox: String {
        get throws(CommandError) {
            do {
                try home.checkInboxTrust()
            } catch {
                throw CommandError(.usage, TerminalText.escaped("\(error)", limit: 4_096))
            }
            return home.inbox
        }
    }

    /// A logger to standard error. `waft` talks with a person there, so it logs only warnings and errors, unless the
    /// user sets another level.
    func logger(_ label: String) -> Logger {
        let level = label == "waft" && settings.logLevel == .notice ? .warning : settings.logLevel
        return Logger(label: label) { label in
            LogLines(label: label, form: .ofStandardError(), logLevel: level)
        }
    }

    /// The first part of the host's name.
    static var hostName: String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard gethostname(&buffer, buffer.count - 1) == 0 else { return "unnamed" }
        let name = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return String(name.split(separator: ".").first ?? "unnamed")
    }
}
