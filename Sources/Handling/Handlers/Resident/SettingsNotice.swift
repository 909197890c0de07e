import Foundation
import HandlerCatalog

/// A notice to a resident handler: its settings have changed. It must not be answered.
struct SettingsNotice: Encodable {
    var v = 1
    var call = "defaults-did-change"
    /// All settings, also those that are as before.
    var settings: [String: HandlerSettingValue]

    init(_ settings: [String: HandlerSettingValue]) { self.settings = settings }
}
