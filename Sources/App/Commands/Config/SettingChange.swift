import Control
import Endpoints
import Foundation
import Settings

/// A change of a setting in `config.yaml`, by `waft config set` and `unset`.
struct SettingChange {
    struct Fields: Encodable {
        var setting: String
        /// The texts of the new value of the file, or the default's.
        var values: [String]
        /// The texts of the value before.
        var formerValues: [String]
        /// Whether the running receiver uses the new value now; absent if none is running.
        var inUse: Bool?
        /// The variable or option that hides the value of the file.
        var hiddenBy: String?
        /// Faults of the file, which keep the receiver from reading it.
        var warnings: [String]?
    }

    let key: SettingKey
    /// The texts of the new value; nil to remove the setting.
    let texts: [String]?

    /// Changes the file, tells the receiver, and prints the change.
    /// - Throws: `CommandError`: `usage` for a file that cannot be read, `unexpected` if nothing was written.
    func carryOut(json: Bool) async throws {
        let outcome = try await carryOut()
        if json { return EventLine.settingChanged(outcome.fields).print() }
        show(outcome)
    }

    /// A change that was made.
    struct Outcome {
        fileprivate(set) var fields: Fields
        fileprivate let before: Settings
        fileprivate let now: Settings
        fileprivate let faults: Settings.InvalidError?
        fileprivate let reload: SettingsReload?
    }

    /// Changes the file and tells the receiver.
    /// - Throws: as above.
    func carryOut() async throws -> Outcome {
        let home = try CommandContext.place()
        let path = home.configurationFile
        let old: ConfigurationText
        do {
            old = try ConfigurationWriting.change(path) { file in
                let edit = try ConfigurationEdit(key, in: file)
                return try texts.map { try edit.setting($0) } ?? edit.unsetting()
            }
        } catch let error as Settings.InvalidError {
            throw CommandError(.usage, error)
        } catch {
            throw CommandError(.unexpected, TerminalText.escaped("\(error)", limit: 4_096))
        }
        let before = settings(old, home).settings
        let now = settings(try? ConfigurationText(path: path), home)
        let variable = key.variable.flatMap { name in
            ProcessInfo.processInfo.environment[name].flatMap { $0.isEmpty ? nil : name }
        }
        var fields = Fields(
            setting: key.name, values: key.texts(of: now.settings), formerValues: key.texts(of: before),
            hiddenBy: variable)
        if let faults = now.faults { fields.warnings = faults.faults.map(\.text) }
        let reload = try await SettingsReload.ask()
        fields.inUse = reload.map { $0.isOK && !$0.hidden.contains(key.name) }
        if fields.hiddenBy == nil, reload?.hidden.contains(key.name) == true {
            fields.hiddenBy = "the receiver's start"
        }
        return Outcome(fields: fields, before: before, now: now.settings, faults: now.faults, reload: reload)
    }

    /// Prints a change for people.
    func show(_ outcome: Outcome) {
        let (before, now, fields, reload) = (outcome.before, outcome.now, outcome.fields, outcome.reload)
        let was = "was \(SettingText.value(of: key, before))" + (before.places[key.name] == nil ? ", the default" : "")
        let word = SettingText.value(of: key, now) + (texts == nil ? ", the default" : "")
        let use: String
        switch (reload, fields.hiddenBy) {
        case (nil, _): use = "no receiver is running"
        case (let reload?, _) where !reload.isOK: use = "the receiver does not use it: \(reload.reason)"
        case (_, let hiding?) where fields.inUse == false: use = "\(hiding) overrides it in the receiver"
        default: use = "the receiver uses it now"
        }
        Console.shared.result("\(key.name): \(word)  (\(was)); \(use)")
        if let hiding = key.variable, fields.hiddenBy == hiding {
            Console.shared.note(
                "warning: \(hiding) is set here, and overrides config.yaml in the programs of this shell")
        }
        if let faults = outcome.faults { Console.shared.note("warning: \(CommandError(.usage, faults).description)") }
    }

    /// The settings of a text of `config.yaml`, as far as it has no faults.
    private func settings(_ text: ConfigurationText?, _ home: Home) -> (
        settings: Settings, faults: Settings.InvalidError?
    ) {
        var settings = Settings(hostName: CommandContext.hostName)
        guard let text else { return (settings, nil) }
        do throws(Settings.InvalidError) {
            try settings.read(text, dialects: .known, registry: home.typeRegistry())
            return (settings, nil)
        } catch {
            return (settings, error)
        }
    }
}
