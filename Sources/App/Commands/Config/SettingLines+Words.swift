import Lines

/// The settings in words. Foreign text is escaped.
extension SettingLine {
    /// One line of a list.
    /// - Parameter width: of the names.
    func row(_ width: Int) -> String {
        let name = setting + String(repeating: " ", count: width - setting.count)
        let source = setBy == "default" ? "the default" : TerminalText.escaped(setBy, limit: 4_096)
        return "\(name)  \(TerminalText.escaped(value, limit: 1_000))  (\(source))"
    }
}

extension SettingLine: WordedLine {
    /// A line for each value.
    var words: [String] { values.map { TerminalText.escaped($0, limit: form == "rules" ? 2_000 : 4_096) } }
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

extension SettingFaultLine: WordedLine {
    /// The failure of the command says them.
    var words: [String] { [] }
}
