import Contacts
import Settings

/// A setting for programs.
struct SettingFields: Encodable {
    var setting: String
    /// The texts of its value: one, those of a list, or none if nothing is set.
    var values: [String]
    /// `default`, an option, a variable, or `PATH, line N`.
    var setBy: String
    /// The default in words.
    var standard: String
    /// `text`, `truth`, `number`, `word`, `list` or `rules`.
    var form: String
    /// `seconds`, `bytes` or `time`, for amounts.
    var measuredIn: String?
    var explanation: String
}

extension SettingFields {
    init(_ key: SettingKey, _ settings: Settings) {
        setting = key.name
        values = key.texts(of: settings)
        if key.kind == .rules {
            values = settings.policy.rules.enumerated().map { RuleText.line($0.offset + 1, $0.element) }
        }
        setBy = settings.places[key.name] ?? "default"
        standard = key.standard
        form =
            switch key.kind {
            case .text: "text"
            case .truth: "truth"
            case .number: "number"
            case .words: "word"
            case .list: "list"
            case .rules: "rules"
            }
        measuredIn = key.unit?.rawValue
        explanation = key.help
    }
}
