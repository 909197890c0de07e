/// The unique identifier of a bundle (`CFBundleIdentifier`), such as `org.example.photos`.
///
/// Comparison and order ignore the case of ASCII letters; the original case is kept.
package struct BundleIdentifier: Hashable, Sendable, CustomStringConvertible {
    /// Maximum length of an identifier in bytes.
    package static let maximumBytes = 255

    /// 1...255 bytes of ASCII letters, digits, `-`, `_` and `.`, with no dot beside a dot or at an end.
    package let text: String

    private let key: String

    package var description: String { text }

    /// Returns nil for anything else.
    package init?(_ text: String) {
        guard text.utf8.prefix(Self.maximumBytes + 1).count <= Self.maximumBytes else { return nil }
        let labels = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard labels.allSatisfy({ !$0.isEmpty && $0.allSatisfy(Self.isAllowed) }) else { return nil }
        self.init(known: text)
    }

    private init(known text: String) {
        self.text = text
        key = text.lowercased()
    }

    /// The built-in handler, which does nothing.
    package static let inbox = BundleIdentifier(known: "org.waft.inbox")

    /// The program that the configuration names.
    package static let hook = BundleIdentifier(known: "org.waft.hook")

    /// Whether no bundle may use this identifier: it belongs to the Inbox or the hook, or names the hook's data folder.
    var isReserved: Bool { self == .inbox || self == .hook || key == HandlerFolders.hookDataName }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    package static func == (left: BundleIdentifier, right: BundleIdentifier) -> Bool { left.key == right.key }

    package func hash(into hasher: inout Hasher) { hasher.combine(key) }
}

extension BundleIdentifier: Comparable {
    package static func < (left: BundleIdentifier, right: BundleIdentifier) -> Bool {
        left.key.utf8.lexicographicallyPrecedes(right.key.utf8)
    }
}
