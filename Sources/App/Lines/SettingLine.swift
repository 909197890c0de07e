/// A setting, its value and the source of it.
package struct SettingLine: Line {
    package static let event = "setting"

    package let setting: String
    /// The texts of its value: one, those of a list or of rules, or none if nothing is set.
    package let values: [String]
    /// `default`, an option, a variable, or `PATH, line N`.
    package let setBy: String
    /// The default in words.
    package let standard: String
    /// `text`, `truth`, `number`, `word`, `list` or `rules`.
    package let form: String
    /// `seconds`, `bytes` or `time`, for amounts.
    package let measuredIn: String?
    package let explanation: String
    /// The value in one text: as it stands in the file, or the default in words.
    @Unsaid package var value: String

    package init(
        setting: String, values: [String], setBy: String?, standard: String, form: String, measuredIn: String?,
        explanation: String, value: String
    ) {
        (self.setting, self.values, self.setBy) = (setting, values, setBy ?? "default")
        (self.standard, self.form, self.measuredIn) = (standard, form, measuredIn)
        (self.explanation, self.value) = (explanation, value)
    }
}

/// The user has changed a setting in `config.yaml`.
package struct SettingChangedLine: Line {
    package static let event = "settingChanged"

    /// A value before or after.
    package struct Value: Codable, Equatable, Sendable {
        /// In one text, as in `SettingLine`.
        package let text: String
        package let isDefault: Bool

        package init(text: String, isDefault: Bool) { (self.text, self.isDefault) = (text, isDefault) }
    }

    package let setting: String
    /// The texts of the new value of the file, or the default's.
    package let values: [String]
    /// The texts of the value before.
    package let formerValues: [String]
    /// Whether the running receiver uses the new value now; absent if none is running.
    package let inUse: Bool?
    /// The variable or option that hides the value of the file.
    package let hiddenBy: String?
    /// Faults of the file, which keep the receiver from reading it.
    package let warnings: [String]?
    @Unsaid package var value: Value
    @Unsaid package var formerValue: Value
    /// Why the receiver does not use the file; nil if it does.
    @Unsaid package var fault: String?

    package init(
        setting: String, values: [String], formerValues: [String], inUse: Bool?, hiddenBy: String? = nil,
        warnings: [String]? = nil, value: Value, formerValue: Value, fault: String? = nil
    ) {
        (self.setting, self.values, self.formerValues) = (setting, values, formerValues)
        (self.inUse, self.hiddenBy, self.warnings) = (inUse, hiddenBy, warnings)
        (self.value, self.formerValue, self.fault) = (value, formerValue, fault)
    }
}

/// A fault of a file of settings.
package struct SettingFaultLine: Line {
    package static let event = "settingFault"

    package let path: String
    /// From 1.
    package let line: Int?
    package let reason: String
    /// Whether a receiver starts all the same.
    package let receiverStarts: Bool

    package init(path: String, line: Int?, reason: String, receiverStarts: Bool) {
        (self.path, self.line, self.reason, self.receiverStarts) = (path, line, reason, receiverStarts)
    }
}

/// A running receiver has read its settings again: it uses all of them, or none.
package struct SettingsLine: Line, Codable, Equatable {
    package static let event = "settings"

    /// Whether it uses them; otherwise it keeps those that it had.
    package let ok: Bool
    /// The settings with other values than before.
    package let changedSettings: [String]?
    /// The first fault with its place, and the others.
    package let reason: String?
    package let others: [String]?
    /// Settings whose values in the file an option or a variable of the receiver overrides.
    @Unsaid package private(set) var overridden: [String]

    /// - Parameter faults: one line each, with its place.
    package init(changed: [String] = [], overridden: [String] = [], faults: [String] = []) {
        ok = faults.isEmpty
        changedSettings = changed.isEmpty ? nil : changed
        (reason, self.overridden) = (faults.first, overridden)
        others = faults.count > 1 ? Array(faults.dropFirst()) : nil
    }

    /// One line each, with its place.
    package var faults: [String] { [reason].compactMap(\.self) + (others ?? []) }
}

/// The file of the settings.
package struct SettingsFileLine: Line {
    package static let event = "settingsFile"

    package let path: String
    package let exists: Bool

    package init(path: String, exists: Bool) { (self.path, self.exists) = (path, exists) }
}
