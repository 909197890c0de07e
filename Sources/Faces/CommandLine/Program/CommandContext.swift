import ArgumentParser
import Foundation
import Lines
import Logging
import Operations
import Settings
import Synchronization

/// The process's environment, home and settings, with errors as command failures.
struct CommandContext {
    /// The operations on the home.
    private(set) var waft: Waft

    var live: LiveSettings { waft.live }
    var home: Home { waft.home }
    var settings: Settings { waft.settings }

    /// - Parameters:
    ///   - isForgiving: whether settings with faults are warned of, and have their defaults: for verbs that need only the
    ///     places of the home, a receiver that runs, or the journal. A mistake in `config.yaml` must not lock the user out.
    ///   - apply: sets the settings of the command line; they override all others.
    init(
        isForgiving: Bool = false, _ apply: (inout Settings) throws(CommandError) -> Void = { _ in }
    ) throws(CommandError) {
        let home = try Self.place()
        ClearDocument.removeDead(home)
        var settings = Settings(hostName: Waft.hostName)
        var forgiven: CommandError?
        func read(_ body: (inout Settings) throws(Settings.InvalidError) -> Void) throws(CommandError) {
            do throws(Settings.InvalidError) {
                try body(&settings)
            } catch {
                let failure = CommandError(.usage, error)
                guard isForgiving else { throw failure }
                Self.warn(failure)
                forgiven = failure
            }
        }
        try read { settings throws(Settings.InvalidError) in
            try settings.read(fileOf: home)
        }
        try read { settings throws(Settings.InvalidError) in
            try settings.read(environment: CommandEnvironment.current.variables)
        }
        try apply(&settings)
        self.init(home: home, settings: settings)
        waft.settingsFault = forgiven.map { WaftError($0.exit, $0.message, hint: $0.hint, others: $0.others) }
    }

    /// The context with forgiven faults. A command asks for it as often as it likes: the settings are read once.
    /// - Throws: as `init`.
    static var forgiving: CommandContext {
        get throws(CommandError) {
            let found: Result<CommandContext, CommandError> = CommandEnvironment.current.forgiving.withLock { known in
                let found = known ?? Result { () throws(CommandError) in try CommandContext(isForgiving: true) }
                known = found
                return found
            }
            return try found.get()
        }
    }

    /// The folders of the user's Waft, without reading any settings.
    /// - Throws: `CommandError` `usage` if there are none, or another user could change them.
    static func place() throws(CommandError) -> Home {
        do {
            let home = try Home(environment: CommandEnvironment.current.variables)
            // Checked before any file in it is read.
            try home.checkTrust()
            return home
        } catch {
            throw CommandError(.usage, "\(error)")
        }
    }

    /// Once for a command, which can need the settings several times.
    private static func warn(_ failure: CommandError) {
        guard !CommandEnvironment.current.hasWarned.exchange(true, ordering: .relaxed) else { return }
        Console.shared.note("warning: the settings are not used: \(failure)")
    }

    /// The home alone: the settings have their defaults, and those of the user are not read.
    /// - Throws: as `place`.
    static var unread: CommandContext {
        get throws(CommandError) {
            CommandContext(home: try place(), settings: Settings(hostName: Waft.hostName))
        }
    }

    /// For a command that has read the home and the settings itself.
    init(home: Home, settings: Settings) {
        let live = LiveSettings(settings)
        var waft = Waft(home, live, logger: Self.logger("waft", live))
        waft.warn = { Console.shared.note("warning: \(TerminalText.escaped($0, limit: 1_000))") }
        self.waft = waft
    }

    /// The peers that this user knows.
    var people: KnownPeers { waft.people }

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

    func logger(_ label: String) -> Logger { Self.logger(label, live) }

    /// A logger to standard error. `waft` talks with a person there, so it logs only warnings and errors, unless the
    /// user sets another level.
    private static func logger(_ label: String, _ live: LiveSettings) -> Logger {
        let isForPerson = label == "waft" && Console.shared.isInteractive
        return Logger(label: label) { label in
            LogLines(label: label, form: isForPerson ? .person : .ofStandardError()) {
                let level = live.logLevel
                return label == "waft" && level == .notice ? .warning : level
            }
        }
    }
}

/// The environment of a command, with the settings that the command has read.
final class CommandEnvironment: Sendable {
    /// That of the process; a test gives each command its own.
    @TaskLocal static var current = CommandEnvironment(ProcessInfo.processInfo.environment)

    let variables: [String: String]
    fileprivate let forgiving = Mutex<Result<CommandContext, CommandError>?>(nil)
    fileprivate let hasWarned = Atomic(false)

    init(_ variables: [String: String]) { self.variables = variables }
}
