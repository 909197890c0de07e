import Control
import Foundation
import Lines
import Receiving
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
    /// Whether the file is changed also if the new value names a program, a folder or a certificate that is missing.
    var anyway = false

    /// Changes the file, tells the receiver, and prints the change.
    /// - Throws: `CommandError`: `usage` for a file that cannot be read, a value that is refused, or one that is written and
    ///   does not count; `unexpected` if nothing was written.
    func carryOut(json: Bool) async throws {
        let outcome = try await carryOut()
        if json { EventLine.settingChanged(outcome.fields).print() } else { show(outcome) }
        try outcome.checkThatItCounts()
    }

    /// A change that was made.
    struct Outcome {
        fileprivate(set) var fields: Fields
        fileprivate let before: Settings
        fileprivate let now: Settings
        /// Faults of the file, with which no receiver starts.
        fileprivate let faults: Settings.InvalidError?
        fileprivate let reload: SettingsReload?

        /// - Throws: `CommandError` `usage` for a change that is written, and that no receiver uses.
        fileprivate func checkThatItCounts() throws(CommandError) {
            let written = "\(fields.setting) is written, and does not count"
            if let faults {
                let fault = CommandError(.usage, faults)
                throw CommandError(
                    .usage, "\(written): \(fault.message)", hint: "correct it: waft config edit", others: fault.others)
            }
            if let reload, !reload.isOK, reload.isOfSettings {
                throw CommandError(.usage, "\(written): the receiver does not use it: \(reload.reason)")
            }
        }
    }

    /// Changes the file and tells the receiver.
    /// - Throws: as above.
    func carryOut() async throws -> Outcome {
        let home = try CommandContext.place()
        let path = home.configurationFile
        let judge = SettingsJudge(home)
        let old: ConfigurationText
        do {
            old = try ConfigurationWriting.change(path) { file in
                let edit = try ConfigurationEdit(key, in: file)
                let new = try texts.map { try edit.setting($0) } ?? edit.unsetting()
                try refuse(judge.read(new, hostName: CommandContext.hostName).faults)
                return new
            }
        } catch let error as Settings.InvalidError {
            throw CommandError(.usage, error)
        } catch let error as CommandError {
            throw error
        } catch {
            throw CommandError(.unexpected, TerminalText.escaped("\(error)", limit: 4_096))
        }
        let before = judge.read(old, hostName: CommandContext.hostName).settings
        let file = try? ConfigurationText(path: path)
        let (now, faults) = judge.read(file ?? old, hostName: CommandContext.hostName)
        let ofFile = faults.filter { $0.kind == .file }
        let variable = key.variable.flatMap { name in
            ProcessInfo.processInfo.environment[name].flatMap { $0.isEmpty ? nil : name }
        }
        var fields = Fields(
            setting: key.name, values: key.texts(of: now), formerValues: key.texts(of: before),
            hiddenBy: variable)
        let invalid = ofFile.isEmpty ? nil : Settings.InvalidError(file: path, ofFile)
        if let invalid { fields.warnings = invalid.faults.map(\.text) }
        let reload = try await SettingsReload.ask()
        fields.inUse = reload.map { $0.isOK && !$0.hidden.contains(key.name) }
        if fields.hiddenBy == nil, reload?.hidden.contains(key.name) == true {
            fields.hiddenBy = "the receiver's start"
        }
        return Outcome(fields: fields, before: before, now: now, faults: invalid, reload: reload)
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
    }

    /// Refuses a value that is at fault itself. Other faults of the file do not keep it from being changed.
    private func refuse(_ faults: [SettingFault]) throws(CommandError) {
        let own = faults.filter { $0.settings.contains(key.name) }
        guard let first = own.first(where: { $0.kind == .file }) ?? (anyway ? nil : own.first) else { return }
        throw CommandError(
            .usage, "\(TerminalText.escaped(first.words, limit: 4_096)); nothing was changed",
            hint: first.kind == .program ? "if it comes later, for example with its disk: --anyway" : nil)
    }
}
