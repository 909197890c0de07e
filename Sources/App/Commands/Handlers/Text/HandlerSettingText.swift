import HandlerCatalog
import Lines
import Settings
import Sharing

/// Text about the settings of a handler. All of it is foreign: the results are escaped.
struct HandlerSettingText {
    private let bundle: HandlerBundle
    /// The file with the user's values.
    private let path: String

    /// Characters of a value that a list shows.
    private static let shownCharacters = 200
    /// Characters of a line about a setting: a value has at most 4,096 bytes, and each may be escaped.
    private static let lineLimit = 40_960

    init(_ bundle: HandlerBundle, path: String) {
        (self.bundle, self.path) = (bundle, path)
    }

    private var settings: HandlerSettings { bundle.settings }

    // MARK: One setting

    /// - Throws: `CommandError` `usage` with the setting that was probably meant.
    func setting(named key: String) throws(CommandError) -> HandlerSetting {
        if let setting = settings[key] { return setting }
        guard !settings.all.isEmpty else { throw CommandError(.usage, "\(HandlerText.name(bundle)) has no settings") }
        let words = NearWord.noSetting(
            key, among: settings.all.map(\.key), list: "waft handlers settings \(TerminalText.shellWord(bundle.name))")
        throw CommandError(.usage, TerminalText.escaped(words, limit: 1_000))
    }

    /// - Throws: `CommandError` `usage` with the values that the setting accepts.
    func value(typed text: String, for setting: HandlerSetting) throws(CommandError) -> HandlerSettingValue {
        if let value = setting.value(typed: text) { return value }
        guard setting.canChange else {
            throw CommandError(.usage, TerminalText.escaped("\(setting.key) cannot be changed: Waft only shows it"))
        }
        let shown = Settings.shown(text)
        let likely = NearWord.closest(to: text, among: setting.choices.map(\.value.text))
        let words =
            "\(setting.key) should be \(setting.expected)" + (shown.isEmpty ? "" : ", and is \"\(shown)\"")
            + (likely.map { "; did you mean \($0)?" } ?? "")
        throw CommandError(.usage, TerminalText.escaped(words, limit: 4_000))
    }

    func report(of setting: HandlerSetting, json: Bool) -> HandlersReport {
        if json { return HandlersReport(results: [EventLine.handlerSetting(fields(setting)).text]) }
        let text = settings.value(of: setting).text
        return HandlersReport(results: [TerminalText.escaped(text, limit: Self.lineLimit)])
    }

    /// The report after a change.
    ///
    /// - Parameter value: the new one; nil for the default.
    func change(of setting: HandlerSetting, to value: HandlerSettingValue?, json: Bool) -> HandlersReport {
        let former = settings.value(of: setting)
        let isChange = value != (settings.isSet(setting) ? former : nil)
        if json {
            let fields = HandlerSettingChangeFields(
                handler: bundle.identifier.text, setting: setting.key, values: [(value ?? setting.standard).text],
                formerValues: [former.text])
            return HandlersReport(results: [EventLine.handlerSettingChanged(fields).text], isChange: isChange)
        }
        let new = shown(value ?? setting.standard, of: setting) + (value == nil ? ", the default" : "")
        let was = shown(former, of: setting) + (settings.isSet(setting) ? "" : ", the default")
        return HandlersReport(results: ["\(setting.key): \(new)  (was \(was))"], isChange: isChange)
    }

    // MARK: All settings

    func list(json: Bool) -> HandlersReport {
        if json { return HandlersReport(results: settings.all.map { EventLine.handlerSetting(fields($0)).text }) }
        var report = HandlersReport(results: settings.rows.map(line))
        if settings.rows.isEmpty { report.notes.append("\(HandlerText.name(bundle)) has no settings") }
        return report
    }

    private func line(_ row: HandlerSettings.Row) -> String {
        switch row {
        case .heading(let title): return HandlerText.escaped(title)
        case .note(let text): return "  " + HandlerText.escaped(text)
        case .unknown(let type, let title):
            return "  " + HandlerText.escaped(title) + "  (Waft does not know \(HandlerText.escaped(type)))"
        case .setting(let setting):
            let key = setting.key.padded(to: settings.all.map(\.key.columns).max() ?? 0)
            let source = settings.isSet(setting) ? "set" : "the default"
            let title = setting.title.isEmpty ? "" : HandlerText.escaped(setting.title) + ": "
            let accepted = TerminalText.escaped(setting.expected, limit: 1_000)
            return "  \(key)  \(shown(settings.value(of: setting), of: setting))  (\(source))  \(title)\(accepted)"
        }
    }

    /// The value of a password field is shown only to those who ask for it.
    private func shown(_ value: HandlerSettingValue, of setting: HandlerSetting) -> String {
        if case .text("") = value { return "\"\"" }
        if case .text(isSecure: true) = setting.form { return "(hidden)" }
        return TerminalText.escaped(value.text, limit: Self.shownCharacters)
    }

    private func fields(_ setting: HandlerSetting) -> HandlerSettingFields {
        HandlerSettingFields(
            handler: bundle.identifier.text, setting: setting.key,
            title: setting.title.isEmpty ? nil : setting.title,
            values: [settings.value(of: setting).text],
            setBy: settings.isSet(setting) ? path : "default", standard: setting.standard.text,
            form: setting.form.word, accepted: setting.expected,
            choices: setting.choices.isEmpty
                ? nil : setting.choices.map { .init(choice: $0.value.text, title: $0.title) })
    }
}

extension HandlerSetting.Form {
    /// For programs.
    fileprivate var word: String {
        switch self {
        case .toggle(.truth(true), .truth(false)): "truth"
        case .toggle, .choice: "word"
        case .text: "text"
        case .number: "number"
        case .title, .unknown: "fixed"
        }
    }
}
