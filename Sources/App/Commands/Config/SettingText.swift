import Contacts
import Lines
import Settings

/// Settings for people.
enum SettingText {
    /// - Throws: `CommandError` `usage` with the setting that was probably meant.
    static func key(_ name: String) throws(CommandError) -> SettingKey {
        do throws(Settings.InvalidError) {
            return try SettingKey.named(name)
        } catch {
            throw CommandError(.usage, error)
        }
    }

    /// Escaped.
    static func value(of key: SettingKey, _ settings: Settings) -> String {
        if key.kind == .rules {
            let count = settings.policy.rules.count
            return count == 1 ? "1 rule" : "\(count) rules"
        }
        return TerminalText.escaped(key.text(of: settings) ?? key.standard, limit: 1_000)
    }

    /// Escaped.
    static func source(of key: SettingKey, _ settings: Settings) -> String {
        settings.places[key.name].map { TerminalText.escaped($0, limit: 4_096) } ?? "the default"
    }
}
