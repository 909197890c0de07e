import PropertyLists

/// Keys of an `Info.plist` for one platform or kind of device: `KEY-linux`, `KEY~laptop`, `KEY-linux~laptop`.
///
/// The keys are Apple's Core Foundation Keys. The precedence is that of Core Foundation's `CFBundle_InfoPlist.c`, which
/// does not apply variants on Linux.
struct PlatformVariants {
    static let platform = "linux"

    /// The kinds of machine that a key can name: the chassis types of systemd's hostnamectl.
    static let devices: Set<String> = [
        "desktop", "laptop", "convertible", "server", "tablet", "handset", "watch", "embedded", "vm", "container",
    ]

    /// A bundle has the same identifier and executable everywhere.
    private static let fixed: Set<String> = ["CFBundleIdentifier", "CFBundleExecutable"]

    /// The kind of this machine; nil if unknown.
    let device: String?

    /// The keys for this machine: `KEY-linux~DEVICE` overrides `KEY~DEVICE`, that overrides `KEY-linux`, and that
    /// overrides `KEY`. Drops variants for other devices. Any other suffix is an ordinary part of a key.
    func resolved(_ keys: [String: PropertyList]) -> [String: PropertyList] {
        var result: [String: PropertyList] = [:]
        var strength: [String: Int] = [:]
        for (key, value) in keys {
            let variant = variant(key)
            guard variant.applies, variant.root == key || !Self.fixed.contains(variant.root) else { continue }
            if let present = strength[variant.root], present > variant.strength { continue }
            strength[variant.root] = variant.strength
            result[variant.root] = value
        }
        return result
    }

    private struct Variant {
        let root: String
        let applies: Bool
        let strength: Int
    }

    private func variant(_ key: String) -> Variant {
        var root = key[...]
        var applies = true
        var strength = 0
        if let tilde = root.lastIndex(of: "~") {
            let name = String(root[root.index(after: tilde)...])
            if Self.devices.contains(name) || name == device {
                root = root[..<tilde]
                applies = name == device
                strength = 2
            }
        }
        let suffix = "-" + Self.platform
        // `KEY~DEVICE-linux` is no variant: the platform comes first.
        if root.hasSuffix(suffix), !root.contains("~") {
            root = root.dropLast(suffix.count)
            strength += 1
        }
        guard !root.isEmpty else { return Variant(root: key, applies: true, strength: 0) }
        return Variant(root: String(root), applies: applies, strength: strength)
    }
}
