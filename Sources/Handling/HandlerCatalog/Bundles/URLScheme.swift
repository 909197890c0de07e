/// The scheme of a URL, lower-case: RFC 3986, section 3.1.
package struct URLScheme: Hashable, Sendable, CustomStringConvertible {
    /// A letter, then letters, digits, `+`, `-` and `.`; at most `CatalogLimits.schemeBytes` bytes.
    package let text: String

    package var description: String { text }

    /// Takes a scheme without its colon, in any case; returns nil for an invalid one.
    package init?(_ text: String) {
        guard text.utf8.prefix(CatalogLimits.schemeBytes + 1).count <= CatalogLimits.schemeBytes else { return nil }
        let bytes = text.utf8.map { byte in
            (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
        }
        guard let first = bytes.first, (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(first) else { return nil }
        let isWellFormed = bytes.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"),
                UInt8(ascii: "-"), UInt8(ascii: "."):
                true
            default: false
            }
        }
        guard isWellFormed else { return nil }
        self.text = String(decoding: bytes, as: UTF8.self)
    }

    /// Whether the scheme means the same everywhere, so that no bundle can claim it.
    package var isBuiltIn: Bool { Self.builtIn.contains(text) }

    private static let builtIn: Set<String> = ["http", "https", "mailto", "tel", "sms", "file"]
}

extension URLScheme: Comparable {
    package static func < (left: URLScheme, right: URLScheme) -> Bool { left.text < right.text }
}

/// Schemes that a handler declares that it opens: an element of `CFBundleURLTypes`.
package struct URLType: Hashable, Sendable {
    /// The bundle's name for them (`CFBundleURLName`), usually in reverse DNS form; nil if it gives none.
    package var name: String?
    /// `CFBundleURLSchemes`, without built-in schemes.
    package var schemes: [URLScheme]
    package var role: HandlerRole

    package init(name: String? = nil, schemes: [URLScheme], role: HandlerRole = .viewer) {
        self.name = name
        self.schemes = schemes
        self.role = role
    }
}
