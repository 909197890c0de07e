package import AirDropDialect

/// The settings for AirDrop.
package struct AirDropSettings: Sendable, Equatable {
    /// Whether AirDrop is enabled.
    package var isEnabled = true
    /// The abilities that this receiver announces.
    package var flags = AirDropFlags.own
    /// Decides which picture others show beside the name.
    package var modelName = "Linux"
    /// Path of a folder with the user's own Apple identity; nil for none.
    package var identity: String?
    /// The backend that brings Apple's radio link.
    package var radio = RadioChoice.auto

    package init() {}
}

extension SettingForm where Value == AirDropFlags {
    /// Contents do not come before they are accepted: `pipelining` cannot be announced.
    static var flags: Self {
        single(
            .text, "a number without 0x04, such as 139 or 0x8b",
            read: { text in
                let digits = text.hasPrefix("0x") ? UInt64(text.dropFirst(2), radix: 16) : UInt64(text)
                let flags = digits.map { AirDropFlags(rawValue: $0) }
                return flags?.contains(.pipelining) == false ? flags : nil
            },
            write: { String($0.rawValue) })
    }
}
