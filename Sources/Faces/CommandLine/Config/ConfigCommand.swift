import ArgumentParser
import Foundation
import Lines
import Operations
import Settings
import SystemCalls

/// `waft config`: the settings.
struct ConfigCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Show, check and change settings.",
        discussion: """
            Example: waft config set accept contacts

            Settings are in config.yaml; each line of it that is not changed stays as it is, comments too. WAFT_... \
            variables override the file, and command line options override these. A running receiver uses a change at \
            once, or none of it if the file has a fault.
            """,
        subcommands: [
            ConfigListCommand.self, ConfigGetCommand.self, ConfigSetCommand.self, ConfigUnsetCommand.self,
            ConfigEditCommand.self, ConfigCheckCommand.self, ConfigReloadCommand.self, ConfigSchemaCommand.self,
            ConfigPathCommand.self,
        ],
        defaultSubcommand: ConfigListCommand.self
    )
}

/// `waft config list`.
struct ConfigListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the settings that are set, each with its value and its source.",
        discussion: "Example: waft config list --all"
    )

    @Flag(name: .long, help: "List all settings, also those that have their defaults.")
    var all = false

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let lines = try CommandContext().waft.config.list(all: all, rule: \.text)
        let width = lines.map(\.setting.count).max() ?? 0
        for line in lines { output.show(line, as: [line.row(width)]) }
        if lines.isEmpty { output.note("every setting has its default; to list all: waft config list --all") }
    }
}

/// `waft config get`.
struct ConfigGetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Print the value of a setting.",
        discussion: "Example: waft config get accept. A list has a line for each of its values."
    )

    @Argument(help: ArgumentHelp("The setting.", valueName: "key"), completion: .settings)
    var key: String

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let line = try await output.doing(in: CommandContext()) { waft throws(WaftError) in
            try waft.config.setting(key, rule: \.text)
        }
        output.show(line)
        if line.values.isEmpty, line.form != "rules" { output.note("\(line.setting) is not set (\(line.standard))") }
    }
}

/// `waft config set`.
struct ConfigSetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Set a setting in config.yaml.",
        discussion: """
            Example: waft config set accept contacts

            A list has several values: waft config set hookWritable /srv/photos /srv/notes. Rules are changed by: waft config edit

            A value with which no receiver starts is refused, and so is a program, a folder or a certificate that is \
            missing: exit code 64. It is 64 too if the value is written, and another fault of the file keeps it from counting.
            """
    )

    @Argument(help: ArgumentHelp("The setting.", valueName: "key"), completion: .settings)
    var key: String

    @Argument(
        parsing: .remaining, help: ArgumentHelp("The value; several for a list.", valueName: "value"),
        completion: .settingValues)
    var values: [String] = []

    @Flag(name: .long, help: "Set it also if its program, folder or certificate is missing: its disk is mounted later.")
    var anyway = false

    @OptionGroup var output: OutputOptions

    func run() async throws {
        try await output.changing { waft throws(WaftError) in
            try await waft.config.set(key, to: values, anyway: anyway)
        }
    }
}

/// `waft config unset`.
struct ConfigUnsetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unset",
        abstract: "Remove a setting from config.yaml, so that its default counts.",
        discussion: "Example: waft config unset accept"
    )

    @Argument(help: ArgumentHelp("The setting.", valueName: "key"), completion: .settings)
    var key: String

    @OptionGroup var output: OutputOptions

    func run() async throws {
        try await output.changing { waft throws(WaftError) in try await waft.config.unset(key) }
    }
}

extension OutputOptions {
    /// Changes a setting, and shows the change.
    fileprivate func changing(
        _ change: (Waft) async throws(WaftError) -> SettingsFile.Change
    ) async throws(CommandError) {
        let change = try await doing(in: .unread, change)
        // Says the faults that the settings still have.
        _ = try CommandContext.forgiving
        show(change.line)
        if !json { change.line.warn() }
        if let failure = change.failure { throw CommandError(failure) }
    }
}

extension SettingChangedLine {
    /// Says that a variable hides the new value here.
    func warn() {
        guard let hiddenBy, (try? SettingKey.named(setting))?.variable == hiddenBy else { return }
        Console.shared.note(
            "warning: \(hiddenBy) is set here, and overrides config.yaml in the programs of this shell")
    }
}

/// `waft config edit`.
struct ConfigEditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit",
        abstract: "Edit config.yaml, and check it before it is replaced.",
        discussion: """
            Example: VISUAL=nano waft config edit

            Starts $VISUAL, or else $EDITOR, or else vi, with a copy. A copy with faults replaces nothing.
            """
    )

    @Flag(
        name: .long, help: "Replace it also if a program, folder or certificate is missing: its disk is mounted later.")
    var anyway = false

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let context = try CommandContext.unread
        let (isChanged, reload) = try await output.doing(in: context) { waft throws(WaftError) in
            try await waft.config.edit(anyway: anyway, by: Self.edit, again: ask)
        }
        guard isChanged else { return output.note("nothing was changed") }
        // Says the faults that the settings still have.
        _ = try CommandContext.forgiving
        if output.json { return output.show(context.waft.config.file) }
        let use = reload.map {
            $0.ok
                ? "the receiver uses it now"
                : "the receiver does not use it: "
                    + TerminalText.escaped($0.faults.joined(separator: "; "), limit: 4_096)
        }
        Console.shared.note("config.yaml is replaced; \(use ?? "no receiver is running")")
    }

    private func ask(about fault: WaftError) -> Bool? {
        guard LineReader.hasTerminal, !output.json else { return nil }
        Console.shared.note(CommandError(fault).description)
        Console.shared.prompt("Edit it again? [y/n] ")
        let answer = readLine()?.lowercased() ?? "n"
        Console.shared.answered()
        return answer.isEmpty || answer.hasPrefix("y")
    }

    /// Starts the user's editor. No `Program`: it has the terminal, and this process neither ends it nor does anything else
    /// before it ends.
    /// - Throws: `WaftError` if it cannot be started, or ends with another code than 0.
    private static func edit(_ path: String) throws(WaftError) {
        let environment = ProcessInfo.processInfo.environment
        let editor = ["VISUAL", "EDITOR"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? "vi"
        // By the shell, as other programs do it: the variable can have options.
        let words = ["sh", "-c", "\(editor) \"$1\"", "sh", path]
        var arguments = words.map { strdup($0) } + [nil]
        defer { arguments.forEach { free($0) } }
        var child: pid_t = 0
        let number = posix_spawn(&child, "/bin/sh", nil, nil, &arguments, environ)
        guard number == 0 else { throw WaftError(.unexpected, "no shell: \(SystemError(number))") }
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
        guard status == 0 else {
            throw WaftError(
                .unexpected, "the editor \(editor) has failed; config.yaml is as it was",
                hint: "set another one with VISUAL or EDITOR")
        }
    }
}

/// `waft config check`.
struct ConfigCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check config.yaml, or another file of settings, and list its faults.",
        discussion: """
            Example: waft config check. Exit code 64 for a file with faults, 66 for a missing file.

            With a fault of the file no receiver starts. With a program, a folder or a certificate that is missing it starts, \
            and says so in: waft status.
            """
    )

    @Argument(help: ArgumentHelp("The file (default: config.yaml).", valueName: "file"), completion: .file())
    var file: String?

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let check = try await output.doing(in: .unread) { waft throws(WaftError) in try waft.config.check(file) }
        // For people the failure says them.
        for fault in check.faults { output.show(fault, as: []) }
        if let failure = check.failure { throw CommandError(failure) }
        let path = check.file.words[0]
        output.note(
            check.file.exists
                ? "\(path) has no faults" : "there is no \(path): all settings have their defaults")
    }
}

/// `waft config reload`.
struct ConfigReloadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reload",
        abstract: "Let the running receiver read its settings now, and wait for that.",
        discussion: "Example: waft config reload. Exit code 64 if the file has faults, 69 when no receiver is running."
    )

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let line = try await output.doing { waft throws(WaftError) in try await waft.config.reload() }
        if output.json { output.show(line) }
        if let reason = line.reason {
            throw CommandError(
                WaftError(.usage, "the receiver keeps its settings: \(reason)", others: line.others ?? []))
        }
        output.note(line.words[0])
    }
}

/// `waft config schema`.
struct ConfigSchemaCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Print the JSON Schema (2020-12) of config.yaml, for editors.",
        discussion: "Example: waft config schema >config.schema.json"
    )

    @OptionGroup var output: OutputOptions

    func run() async throws { output.show(SettingsSchemaLine(), as: [SettingsSchema().text]) }
}

/// `waft config path`.
struct ConfigPathCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "path",
        abstract: "Print the path of config.yaml.",
        discussion: "Example: cat \"$(waft config path)\""
    )

    @OptionGroup var output: OutputOptions

    func run() async throws { output.show(try CommandContext.unread.waft.config.file) }
}

/// A setting in words. Foreign text is escaped.
extension SettingLine: WordedLine {
    /// A line for each value.
    var words: [String] { values.map { TerminalText.escaped($0, limit: form == "rules" ? 2_000 : 4_096) } }

    /// One line of a list.
    /// - Parameter width: of the names.
    func row(_ width: Int) -> String {
        let name = setting + String(repeating: " ", count: width - setting.count)
        let source = setBy == "default" ? "the default" : TerminalText.escaped(setBy, limit: 4_096)
        return "\(name)  \(TerminalText.escaped(value, limit: 1_000))  (\(source))"
    }
}

extension SettingChangedLine: WordedLine {
    var words: [String] { ["\(setting): \(value.words)  (was \(formerValue.words)); \(use)"] }

    private var use: String {
        guard let inUse else { return "no receiver is running" }
        if let fault { return "the receiver does not use it: \(TerminalText.escaped(fault, limit: 4_096))" }
        if !inUse, let hiddenBy { return "\(hiddenBy) overrides it in the receiver" }
        return "the receiver uses it now"
    }
}

extension SettingChangedLine.Value {
    fileprivate var words: String { TerminalText.escaped(text, limit: 1_000) + (isDefault ? ", the default" : "") }
}

extension SettingsLine: WordedLine {
    /// Of one that the receiver uses.
    var words: [String] {
        let changed = changedSettings.map { "changed: \($0.joined(separator: ", "))" } ?? "nothing has changed"
        return ["the receiver has read its settings; \(changed)"]
    }
}

extension SettingsFileLine: WordedLine {
    var words: [String] { [TerminalText.escaped(path, limit: 4_096)] }
}
