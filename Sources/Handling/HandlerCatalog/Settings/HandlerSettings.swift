/// The settings of a handler: the rows of its `Settings.bundle`, in order, and the values that the user has set.
package struct HandlerSettings: Hashable, Sendable {
    /// A line of a pane.
    package enum Row: Hashable, Sendable {
        /// The title of a group, or of a pane within another. Foreign text.
        case heading(String)
        /// The text below a group. Foreign text.
        case note(String)
        case setting(HandlerSetting)
        /// A specifier without a key, of a type that Waft does not know. Foreign text.
        case unknown(type: String, title: String)
    }

    package let rows: [Row]
    /// The values that the user has set, each accepted by its setting.
    private var stored: [String: HandlerSettingValue] = [:]

    /// The settings of a handler without a `Settings.bundle`.
    package static let none = HandlerSettings(rows: [])

    /// - Parameter rows: no key twice.
    package init(rows: [Row]) {
        self.rows = rows
    }

    /// Uses the values of the user's file. Unknown keys and values that no longer fit are passed over.
    package mutating func use(_ values: [String: HandlerSettingValue]) {
        stored = [:]
        for setting in all {
            if let value = values[setting.key], setting.accepts(value) { stored[setting.key] = value }
        }
    }

    /// The settings in the order of their rows.
    package var all: [HandlerSetting] {
        rows.compactMap { if case .setting(let setting) = $0 { setting } else { nil } }
    }

    package subscript(key: String) -> HandlerSetting? { all.first { $0.key == key } }

    /// Whether the user has set it.
    package func isSet(_ setting: HandlerSetting) -> Bool { stored[setting.key] != nil }

    /// The value that the user has set, or the default.
    package func value(of setting: HandlerSetting) -> HandlerSettingValue { stored[setting.key] ?? setting.standard }

    /// The value of each setting, by its key.
    package var values: [String: HandlerSettingValue] {
        Dictionary(uniqueKeysWithValues: all.map { ($0.key, value(of: $0)) })
    }
}
