import ArgumentParser
import Glibc
import HandlerCatalog
import Lines
import Protection
import Secrets
import Settings

/// `waft handlers settings`.
struct HandlersSettingsCommand: HandlersVerb {
    static let configuration = CommandConfiguration(
        commandName: "settings",
        abstract: "Show and change the settings of a handler.",
        discussion: """
            Example: waft handlers settings Photos quality 0.5

            Lists the settings, prints the value of one, or sets it. They are those of the handler's Settings.bundle; a \
            running receiver uses a change as soon as the command returns. A value that begins with a hyphen needs two \
            hyphens before it: waft handlers settings Photos offset -- -5

            A secret does not belong into a command, where the history of the shell keeps it. The value - of a password field \
            is asked for at the terminal, which does not show it, or read from standard input, one line: \
            waft handlers settings Photos token -
            """
    )

    @Argument(help: ArgumentHelp("The handler's name or identifier.", valueName: "handler"), completion: .handlers)
    var name: String

    @Argument(help: ArgumentHelp("The setting.", valueName: "key"), completion: .handlerSettings)
    var key: String?

    @Argument(
        help: ArgumentHelp("The new value; - to type a secret.", valueName: "value"), completion: .handlerSettingValues)
    var value: String?

    @Flag(name: .long, help: "Return to the default.")
    var unset = false

    @OptionGroup var output: OutputOptions

    func validate() throws {
        if unset, key == nil || value != nil { throw ValidationError("--unset needs a key, and no value") }
    }

    private func bundle(on place: HandlersPlace) throws(CommandError) -> HandlerBundle {
        try CommandError.catching { () throws(CatalogError) in try place.catalog.load().bundle(named: name) }
    }

    private func text(_ bundle: HandlerBundle, on place: HandlersPlace) -> HandlerSettingText {
        HandlerSettingText(bundle, path: place.catalog.settingsPath(of: bundle.identifier))
    }

    mutating func prepare(on place: HandlersPlace) async throws(CommandError) {
        guard let key, let value else { return }
        let bundle = try bundle(on: place)
        guard try text(bundle, on: place).setting(named: key).isSecure else { return }
        guard value == "-" else {
            let words = [bundle.name, key].map { TerminalText.shellWord($0) }.joined(separator: " ")
            return Console.shared.note(
                TerminalText.escaped(
                    "warning: the history of your shell, and other programs, can show this value; next time: "
                        + "waft handlers settings \(words) -", limit: 1_000))
        }
        self.value = try await SecretValue.read(key)
    }

    var isReading: Bool { value == nil && !unset }

    func report(on place: HandlersPlace) throws(CommandError) -> HandlersReport {
        let bundle = try bundle(on: place)
        let text = text(bundle, on: place)
        guard let key else { return text.list(json: output.json) }
        let setting = try text.setting(named: key)
        guard unset || value != nil else { return text.report(of: setting, json: output.json) }
        let new = try value.map { value throws(CommandError) in try text.value(typed: value, for: setting) }
        try CommandError.catching { () throws(CatalogError) in
            try place.catalog.set(setting, of: bundle.identifier, to: new)
        }
        return text.change(of: setting, to: new, json: output.json)
    }
}

/// A secret value of a setting.
private enum SecretValue {
    /// Bytes of a value.
    private static let maximumBytes = 4_096

    /// Asks at the terminal, or reads one line from standard input, if that is no terminal.
    ///
    /// - Parameter key: of the setting.
    /// - Throws: `CommandError` `usage` if there is none, or an empty one; `interrupted` on Ctrl-C.
    static func read(_ key: String) async throws(CommandError) -> String {
        ProcessSecrecy.dumpNoCore()
        let shown = TerminalText.escaped(key, limit: 100)
        let line =
            isatty(STDIN_FILENO) == 1
            ? try await PassphraseReader.typed("\(shown): ")
            : try PassphraseReader.line(of: STDIN_FILENO, name: "value", maximumBytes: maximumBytes)
        guard let line, line.count > 0 else {
            throw CommandError(
                .usage, "there is no value, and \(shown) stays as it is",
                hint: "to return to the default: --unset")
        }
        guard let text = line.withBytes({ String(validating: $0, as: UTF8.self) }) else {
            throw CommandError(.usage, "the value is no text in UTF-8, and \(shown) stays as it is")
        }
        return text
    }
}

extension HandlerSetting {
    /// Whether it is a password field.
    fileprivate var isSecure: Bool { form == .text(isSecure: true) }
}
