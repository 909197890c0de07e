package import AirDropDialect
import Sharing
import Yams

/// The settings for AirDrop.
package struct AirDropSettings: Sendable, Equatable {
    /// Whether AirDrop is enabled.
    package var isEnabled = true
    /// The abilities that this receiver announces.
    package var flags = AirDropFlags.own
    /// Decides which picture others show beside the name.
    package var modelName = "Linux"

    package init() {}
}

/// Reads `dialects` of `config.yaml`: a mapping for each protocol besides Waft's own.
struct DialectsReader {
    static let key = "dialects"

    let path: String

    /// - Throws: `Settings.Unusable` with the line of the error.
    func read(_ node: Node) throws(Settings.Unusable) -> AirDropSettings {
        var settings = AirDropSettings()
        // All of it commented out.
        if node.null != nil { return settings }
        guard let dialects = node.mapping else {
            throw unusable(node, "dialects should be a mapping, such as {airdrop: {enabled: false}}")
        }
        for (key, value) in dialects {
            guard key.scalar?.string == "airdrop" else {
                throw unusable(key, "dialects has \"\(Self.shown(key))\"; there is: airdrop")
            }
            if value.null != nil { continue }
            guard let fields = value.mapping else {
                throw unusable(value, "airdrop should be a mapping, such as {enabled: false}")
            }
            for (field, value) in fields { try read(field, value, &settings) }
        }
        return settings
    }

    private func read(_ field: Node, _ value: Node, _ settings: inout AirDropSettings) throws(Settings.Unusable) {
        let text = value.scalar?.string ?? ""
        switch field.scalar?.string {
        case "enabled":
            guard let truth = SettingKey.truth(text) else { throw unusable(value, "enabled should be true or false") }
            settings.isEnabled = truth
        case "flags":
            let digits = text.hasPrefix("0x") ? UInt64(text.dropFirst(2), radix: 16) : UInt64(text)
            guard let digits else { throw unusable(value, "flags should be a number, such as 139 or 0x8b") }
            settings.flags = AirDropFlags(rawValue: digits)
            guard !settings.flags.contains(.pipelining) else {
                throw unusable(value, "flags cannot have 0x04: contents do not come before they are accepted")
            }
        case "modelName":
            guard (1...Limits.peerNameBytes).contains(text.utf8.count), PeerName.fit(text) == text else {
                throw unusable(value, "modelName should be 1 to \(Limits.peerNameBytes) bytes of text")
            }
            settings.modelName = text
        default:
            throw unusable(field, "airdrop has \"\(Self.shown(field))\"; there are: enabled, flags, modelName")
        }
    }

    private func unusable(_ node: Node, _ words: String) -> Settings.Unusable {
        Settings.Unusable(description: "\(path), line \(node.mark?.line ?? 0): \(words)")
    }

    /// A key as it can stand in a line.
    private static func shown(_ node: Node) -> String {
        PeerName.fit(String((node.scalar?.string ?? "?").prefix(64)), fallback: "?")
    }
}
