import Contacts
import Control
import Foundation
package import Lines
import Receiving
package import Settings
import SystemCalls

extension Waft {
    /// The settings, and the file `config.yaml` in which the user sets them.
    package var config: SettingsFile { SettingsFile(waft: self) }

    /// The first part of the host's name: the default of the setting `name`.
    package static var hostName: String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard gethostname(&buffer, buffer.count - 1) == 0 else { return "unnamed" }
        let name = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return String(name.split(separator: ".").first ?? "unnamed")
    }
}

/// The settings, and the file `config.yaml`. A running receiver uses a change at once, or none of it if the file has a
/// fault.
package struct SettingsFile: Sendable {
    fileprivate let waft: Waft

    private var path: String { waft.home.configurationFile }

    private func judge(_ text: ConfigurationText) -> (settings: Settings, faults: [SettingFault]) {
        SettingsJudge(waft.home).read(text, hostName: Waft.hostName)
    }

    package var file: SettingsFileLine {
        SettingsFileLine(path: path, exists: access(path, F_OK) == 0)
    }

    // MARK: Reading

    /// - Parameters:
    ///   - all: also those that have their defaults.
    ///   - rule: a rule in one line.
    /// - Returns: the settings in the order of the template.
    package func list(all: Bool, rule: (RuleLine) -> String) -> [SettingLine] {
        let settings = waft.settings
        return SettingKey.all.filter { all || settings.places[$0.name] != nil }.map { SettingLine($0, settings, rule) }
    }

    /// - Throws: `WaftError` `usage`, with the setting that was probably meant.
    package func setting(_ name: String, rule: (RuleLine) -> String) throws(WaftError) -> SettingLine {
        SettingLine(try Self.key(name), waft.settings, rule)
    }

    /// The result of reading a file of settings.
    package struct Check {
        package let file: SettingsFileLine
        package let faults: [SettingFaultLine]
        /// The faults as a failure; nil if there is none.
        package let failure: WaftError?
    }

    /// Looks for the faults of a file.
    /// - Parameter file: a path; nil for `config.yaml`, which may be missing.
    /// - Throws: `WaftError` `inputMissing` if there is no such file.
    package func check(_ file: String?) throws(WaftError) -> Check {
        let path = file ?? self.path
        let found: [SettingFault]?
        do throws(Settings.InvalidError) {
            found = try ConfigurationText(path: path).map { judge($0).faults }
        } catch {
            found = SettingFault.all(of: error)
        }
        guard let faults = found else {
            guard file == nil else { throw WaftError(.inputMissing, "there is no file \(path)") }
            return Check(file: SettingsFileLine(path: path, exists: false), faults: [], failure: nil)
        }
        return Check(
            file: SettingsFileLine(path: path, exists: true),
            faults: faults.map {
                SettingFaultLine(
                    path: path, line: $0.line, reason: $0.words, receiverStarts: $0.kind == .program)
            },
            failure: faults.isEmpty ? nil : WaftError(.usage, Settings.InvalidError(file: path, faults)))
    }

    private static func key(_ name: String) throws(WaftError) -> SettingKey {
        do throws(Settings.InvalidError) {
            return try SettingKey.named(name)
        } catch {
            throw WaftError(.usage, error)
        }
    }

    // MARK: The receiver

    /// Lets the running receiver read its settings now, and waits for that.
    /// - Throws: `WaftError`, `notRunning` when no receiver is running.
    package func reload() async throws(WaftError) -> SettingsLine {
        guard case .settings(let line) = try await waft.receiver.ask(.reloadSettings) else { throw Self.isOlder }
        return line
    }

    /// - Returns: nil if no receiver is running.
    private func reloadIfRunning() async throws(WaftError) -> SettingsLine? {
        guard let reply = try await waft.receiver.askIfRunning(.reloadSettings) else { return nil }
        guard case .settings(let line) = reply else { throw Self.isOlder }
        return line
    }

    private static let isOlder = WaftError(
        .unexpected, "the receiver is older than this command", hint: "restart it")

    // MARK: Changing

    /// A change that was written.
    package struct Change {
        package let line: SettingChangedLine
        /// Why no receiver uses it; nil if that is not so.
        package let failure: WaftError?
    }

    /// Sets a setting in `config.yaml`, and tells the receiver.
    /// - Parameters:
    ///   - values: several for a list.
    ///   - anyway: also if its program, folder or certificate is missing.
    /// - Throws: `WaftError`: `usage` for a value that is refused, or a file that cannot be read; `unexpected` if nothing was
    ///   written.
    package func set(_ name: String, to values: [String], anyway: Bool = false) async throws(WaftError) -> Change {
        let key = try Self.key(name)
        guard key.kind != .rules else {
            throw WaftError(.usage, "rules are more than a value", hint: "change them with: waft config edit")
        }
        guard !values.isEmpty else {
            throw WaftError(
                .usage, "a value is missing; \(key.name) should be \(key.expected)",
                hint: "for the default: waft config unset \(key.name)")
        }
        guard key.takes(values) else { throw WaftError(.usage, key.complaint(about: values)) }
        return try await change(key, values, anyway)
    }

    /// Removes a setting from `config.yaml`, so that its default counts.
    /// - Throws: as `set`.
    package func unset(_ name: String) async throws(WaftError) -> Change {
        try await change(try Self.key(name), nil, false)
    }

    private func change(_ key: SettingKey, _ texts: [String]?, _ anyway: Bool) async throws(WaftError) -> Change {
        let old = try rewrite { file in
            let edit = try ConfigurationEdit(key, in: file)
            let new = try texts.map { try edit.setting($0) } ?? edit.unsetting()
            try Self.refuse(judge(new).faults.filter { $0.settings.contains(key.name) }, anyway)
            return new
        }
        let before = judge(old).settings
        let (now, faults) = judge((try? ConfigurationText(path: path)) ?? old)
        let ofFile = faults.filter { $0.kind == .file }
        let invalid = ofFile.isEmpty ? nil : Settings.InvalidError(file: path, ofFile)
        let reload = try await reloadIfRunning()
        let isHidden = reload?.overridden.contains(key.name) == true
        let variable = key.variable.flatMap { name in
            ProcessInfo.processInfo.environment[name].flatMap { $0.isEmpty ? nil : name }
        }
        let line = SettingChangedLine(
            setting: key.name, values: key.texts(of: now), formerValues: key.texts(of: before),
            inUse: reload.map { $0.ok && !isHidden }, hiddenBy: variable ?? (isHidden ? "the receiver's start" : nil),
            warnings: invalid?.faults.map(\.text),
            value: .init(text: key.shown(now), isDefault: texts == nil),
            formerValue: .init(text: key.shown(before), isDefault: before.places[key.name] == nil),
            fault: reload?.ok == false ? reload?.faults.joined(separator: "; ") : nil)
        return Change(line: line, failure: Self.failure(line, invalid))
    }

    /// Refuses a value that is at fault itself. Other faults of the file do not keep it from being changed.
    private static func refuse(_ own: [SettingFault], _ anyway: Bool) throws(WaftError) {
        guard let first = own.first(where: { $0.kind == .file }) ?? (anyway ? nil : own.first) else { return }
        throw WaftError(
            .usage, "\(first.words); nothing was changed",
            hint: first.hint
                ?? (first.kind == .program ? "if it comes later, for example with its disk: --anyway" : nil))
    }

    private static func failure(_ line: SettingChangedLine, _ invalid: Settings.InvalidError?) -> WaftError? {
        let written = "\(line.setting) is written, and does not count"
        if let invalid {
            let fault = WaftError(.usage, invalid)
            return WaftError(
                .usage, "\(written): \(fault.reason)", hint: "correct it: waft config edit", others: fault.others)
        }
        return line.fault.map { WaftError(.usage, "\(written): the receiver does not use it: \($0)") }
    }

    /// Replaces the text of `config.yaml`.
    /// - Returns: the old text.
    @discardableResult
    private func rewrite(
        _ change: (ConfigurationText) throws -> ConfigurationText
    ) throws(WaftError) -> ConfigurationText {
        do {
            return try ConfigurationWriting.change(path, change)
        } catch let error as WaftError {
            throw error
        } catch let error as Settings.InvalidError {
            throw WaftError(.usage, error)
        } catch {
            throw WaftError(.unexpected, "\(error)")
        }
    }

    /// Lets the user edit a copy of `config.yaml`. A copy with faults replaces nothing.
    /// - Parameters:
    ///   - anyway: also if a program, folder or certificate is missing.
    ///   - edit: edits the file with this path.
    ///   - again: whether the user wants to edit a copy with this fault again; nil if nobody can be asked.
    /// - Returns: whether anything was changed, and the answer of the receiver to that; nil if none is running.
    /// - Throws: `WaftError`: `usage` for a copy with faults, `unexpected` if nothing was replaced.
    package func edit(
        anyway: Bool, by edit: (String) throws(WaftError) -> Void, again: (WaftError) -> Bool?
    ) async throws(WaftError) -> (isChanged: Bool, reload: SettingsLine?) {
        let old: String
        do throws(Settings.InvalidError) {
            old = try ConfigurationText(path: path)?.text ?? ConfigurationTemplate.text
        } catch {
            throw WaftError(.usage, error)
        }
        let folder = try Self.privateFolder()
        let copy = folder + "/config.yaml"
        do throws(SystemError) {
            try SmallFile.replace(copy, with: Array(old.utf8), mode: 0o600)
        } catch {
            throw WaftError(.unexpected, "\(copy) cannot be written: \(error)")
        }
        let new = try edited(copy, anyway, by: edit, again)
        let hint = "your text is in \(copy)"
        if new != old {
            do throws(WaftError) {
                try rewrite { file in
                    guard file.text == old else {
                        throw WaftError(.unexpected, "config.yaml has been changed meanwhile, and is not replaced")
                    }
                    return ConfigurationText(path: path, text: new)
                }
            } catch {
                throw WaftError(.unexpected, error.reason, hint: hint)
            }
        }
        try? FileManager.default.removeItem(atPath: folder)
        return new == old ? (false, nil) : (true, try await reloadIfRunning())
    }

    /// The text without faults that the user has made of the copy.
    private func edited(
        _ copy: String, _ anyway: Bool, by edit: (String) throws(WaftError) -> Void, _ again: (WaftError) -> Bool?
    ) throws(WaftError) -> String {
        while true {
            try edit(copy)
            let failure: WaftError
            do throws(Settings.InvalidError) {
                let file = try ConfigurationText(path: copy) ?? ConfigurationText(path: copy, text: "")
                let faults = judge(file).faults.filter { !anyway || $0.kind == .file }
                guard !faults.isEmpty else { return file.text }
                failure = WaftError(.usage, Settings.InvalidError(file: copy, faults))
            } catch {
                failure = WaftError(.usage, error)
            }
            let (kept, hint) = ("config.yaml is as it was", "your text is in \(copy)")
            switch again(failure) {
            case true?: continue
            case false?: throw WaftError(.usage, kept, hint: hint)
            case nil: throw WaftError(.usage, failure.reason, hint: "\(kept); \(hint)", others: failure.others)
            }
        }
    }

    /// A folder for the copy that is edited, private to the user.
    private static func privateFolder() throws(WaftError) -> String {
        var template = Array((NSTemporaryDirectory() + "waft-edit-XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else {
            throw WaftError(.unexpected, "a temporary folder cannot be made: \(SystemError.last)")
        }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

extension SettingLine {
    /// - Parameter rule: a rule in one line.
    package init(_ key: SettingKey, _ settings: Settings, _ rule: (RuleLine) -> String) {
        let form =
            switch key.kind {
            case .text: "text"
            case .truth: "truth"
            case .number: "number"
            case .words: "word"
            case .list: "list"
            case .rules: "rules"
            }
        self.init(
            setting: key.name,
            values: key.kind == .rules
                ? settings.policy.rules.enumerated().map { rule(RuleLine($0.offset + 1, $0.element)) }
                : key.texts(of: settings),
            setBy: settings.places[key.name], standard: key.standard, form: form, measuredIn: key.unit?.rawValue,
            explanation: key.help, value: key.shown(settings))
    }
}

extension SettingKey {
    /// Its value in one text.
    fileprivate func shown(_ settings: Settings) -> String {
        guard kind == .rules else { return text(of: settings) ?? standard }
        let count = settings.policy.rules.count
        return count == 1 ? "1 rule" : "\(count) rules"
    }
}

extension WaftError {
    /// - Parameter error: one fault in one line; several with a line each.
    package init(_ code: WaftExit, _ error: Settings.InvalidError) {
        guard let file = error.file, error.faults.count > 1 else {
            self.init(code, error.description)
            return
        }
        let rest = error.faults.count - Self.shownFaults
        self.init(
            code, file,
            others: error.faults.prefix(Self.shownFaults).map(\.text) + (rest > 0 ? ["and \(rest) more"] : []))
    }

    /// Faults of a file that are shown.
    private static let shownFaults = 50
}

/// The JSON Schema (2020-12) of `config.yaml`.
package struct SettingsSchemaLine: Line {
    package static let event = "settingsSchema"

    package let schema = SettingsSchema()

    package init() {}
}
