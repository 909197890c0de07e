import HandlerCatalog
package import Lines
import Settings
import Sharing
import SystemCalls

/// A row of the settings of a handler. Foreign text.
package enum HandlerSettingRow: Sendable {
    /// The title of a group.
    case heading(String)
    /// The text below a group.
    case note(String)
    case setting(HandlerSettingLine)
    /// A row of a type that Waft does not know.
    case unknown(type: String, title: String)
}

extension InstalledHandlers {
    /// - Returns: the handler's name for people, and the rows of its settings.
    /// - Throws: `WaftError` as `show`.
    package func settings(of name: String) throws(WaftError) -> (handler: String, rows: [HandlerSettingRow]) {
        let bundle = try bundle(named: name)
        return (
            bundle.shownName,
            bundle.settings.rows.map { row in
                switch row {
                case .heading(let title): .heading(title)
                case .note(let text): .note(text)
                case .unknown(let type, let title): .unknown(type: type, title: title)
                case .setting(let setting): .setting(line(setting, bundle))
                }
            }
        )
    }

    /// - Throws: `WaftError`: as `show`; `usage`, with the setting that was probably meant, if there is none of this key.
    package func setting(_ key: String, of name: String) throws(WaftError) -> HandlerSettingLine {
        let bundle = try bundle(named: name)
        return line(try setting(key, bundle), bundle)
    }

    /// The keys of a handler's settings; none if there is no such handler.
    package func settingNames(of name: String) -> [String] {
        (try? bundle(named: name))?.settings.all.map(\.key) ?? []
    }

    /// The values that can be chosen for a setting; none if there is no such setting.
    package func choices(of key: String, of name: String) -> [String] {
        guard let setting = try? bundle(named: name).settings[key] else { return [] }
        if case .toggle(let on, let off) = setting.form { return [on.text, off.text] }
        return setting.choices.map(\.value.text)
    }

    /// - Parameter text: the value as a person types it; nil to return to the default.
    /// - Throws: `WaftError`: as `setting`; `usage`, with the values that the setting accepts; `unexpected` if the disk
    ///   fails.
    package func set(
        _ key: String, of name: String, to text: String?
    ) async throws(WaftError) -> HandlerSettingChangedLine {
        let bundle = try bundle(named: name)
        let setting = try setting(key, bundle)
        let value = try text.map { text throws(WaftError) in try Self.value(typed: text, for: setting) }
        try WaftError.catching { () throws(CatalogError) in
            try catalog.set(setting, of: bundle.identifier, to: value)
        }
        let former = bundle.settings.value(of: setting)
        var line = HandlerSettingChangedLine(
            handler: bundle.identifier.text, setting: key, value: (value ?? setting.standard).text,
            formerValue: former.text)
        (line.isSet, line.wasSet) = (value != nil, bundle.settings.isSet(setting))
        line.isSecure = setting.form == .text(isSecure: true)
        if value != (line.wasSet ? former : nil) { await announce(catalog.load()) }
        return line
    }

    private func bundle(named name: String) throws(WaftError) -> HandlerBundle {
        try WaftError.catching { () throws(CatalogError) in try catalog.load().bundle(named: name) }
    }

    private func setting(_ key: String, _ bundle: HandlerBundle) throws(WaftError) -> HandlerSetting {
        let settings = bundle.settings
        if let setting = settings[key] { return setting }
        guard !settings.all.isEmpty else { throw WaftError(.usage, "\(bundle.shownName) has no settings") }
        let word = ShellWord.quoted(ShownText.line(bundle.name, limit: 200))
        throw WaftError(
            .usage,
            NearWord.noSetting(key, among: settings.all.map(\.key), list: "waft handlers settings \(word)"))
    }

    private static func value(
        typed text: String, for setting: HandlerSetting
    ) throws(WaftError) -> HandlerSettingValue {
        if let value = setting.value(typed: text) { return value }
        guard setting.canChange else {
            throw WaftError(.usage, "\(setting.key) cannot be changed: Waft only shows it")
        }
        let shown = Settings.shown(text)
        let likely = NearWord.closest(to: text, among: setting.choices.map(\.value.text))
        throw WaftError(
            .usage,
            "\(setting.key) should be \(setting.expected)" + (shown.isEmpty ? "" : ", and is \"\(shown)\"")
                + (likely.map { "; did you mean \($0)?" } ?? ""))
    }

    private func line(_ setting: HandlerSetting, _ bundle: HandlerBundle) -> HandlerSettingLine {
        let isSet = bundle.settings.isSet(setting)
        var line = HandlerSettingLine(
            handler: bundle.identifier.text, setting: setting.key, value: bundle.settings.value(of: setting).text,
            setBy: isSet ? catalog.settingsPath(of: bundle.identifier) : "default", standard: setting.standard.text,
            form: setting.form.word, accepted: setting.expected)
        line.title = setting.title.isEmpty ? nil : setting.title
        line.choices =
            setting.choices.isEmpty ? nil : setting.choices.map { .init(choice: $0.value.text, title: $0.title) }
        (line.isSecure, line.handlerName) = (setting.form == .text(isSecure: true), bundle.name)
        return line
    }
}

extension HandlerSetting.Form {
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
