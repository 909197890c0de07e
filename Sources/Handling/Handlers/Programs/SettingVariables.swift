import Foundation
import HandlerCatalog

/// The variables `WAFT_SETTING_KEY` with the values of a handler's settings.
enum SettingVariables {
    private static let prefix = "WAFT_SETTING_"
    /// Bytes of a key that has a variable.
    private static let longestKey = 64

    /// Variables to set or, for nil, to remove: those of the receiver's own environment are not the handler's.
    ///
    /// A key with other characters than letters, digits and `_` has no variable; the document has all keys.
    static func environment(_ settings: [String: HandlerSettingValue]) -> [String: String?] {
        var variables: [String: String?] = [:]
        for name in ProcessInfo.processInfo.environment.keys where name.hasPrefix(prefix) {
            variables.updateValue(nil, forKey: name)
        }
        for (key, value) in settings where isName(key) { variables[prefix + key] = value.text }
        return variables
    }

    private static func isName(_ key: String) -> Bool {
        (1...longestKey).contains(key.utf8.count)
            && key.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }
}
