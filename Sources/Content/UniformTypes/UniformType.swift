/// A uniform type identifier (UTI), such as `public.jpeg`: the type of an item, apart from its name or storage.
///
/// Only the name: a `TypeRegistry` knows its supertypes and tags, or may not know the type at all.
/// Identifiers are compared without regard to the case of ASCII letters, as `UTTypeEqual` does; the case in which one
/// was written is kept for display.
package struct UniformType: Sendable {
    /// The identifier as it was written: 1 to `maximumByteCount` bytes of ASCII letters, digits, `-` and `.`.
    package let identifier: String

    /// The length of the longest identifier, in bytes.
    package static let maximumByteCount = 255

    /// Takes a well-formed identifier: labels of ASCII letters, digits and `-`, joined by single dots.
    ///
    /// Returns nil for anything else. Apple allows letters outside ASCII too; no known identifier has one, and they
    /// would look alike without being equal.
    package init?(_ identifier: String) {
        // Counted no further than needed: a foreign string may be of any length.
        guard identifier.utf8.prefix(Self.maximumByteCount + 1).count <= Self.maximumByteCount else { return nil }
        var labelIsEmpty = true
        for byte in identifier.utf8 {
            if byte == UInt8(ascii: ".") {
                guard !labelIsEmpty else { return nil }
                labelIsEmpty = true
            } else {
                guard byte.isASCIIAlphanumeric || byte == UInt8(ascii: "-") else { return nil }
                labelIsEmpty = false
            }
        }
        guard !labelIsEmpty else { return nil }
        self.identifier = identifier
    }

    /// Takes an identifier that is known to be well formed: a literal here, or out of the system's table.
    init(known identifier: String) {
        self.identifier = identifier
    }

    /// Whether the identifier starts with `dyn.`: it stands for a tag that nothing declares (see `DynamicType`), or
    /// pretends to.
    package var isDynamic: Bool { identifier.hasPrefix(caseInsensitive: "dyn.") }

    /// Whether the identifier starts with `public.`, the common name space of types.
    package var isPublic: Bool { identifier.hasPrefix(caseInsensitive: "public.") }
}

extension UniformType: Hashable {
    package static func == (left: UniformType, right: UniformType) -> Bool {
        let left = left.identifier.utf8
        let right = right.identifier.utf8
        return left.count == right.count
            && left.elementsEqual(right) { $0 == $1 || $0.asciiLowercased == $1.asciiLowercased }
    }

    package func hash(into hasher: inout Hasher) {
        for byte in identifier.utf8 { hasher.combine(byte.asciiLowercased) }
    }
}

extension UniformType: LosslessStringConvertible {
    package var description: String { identifier }
}

extension UniformType: Codable {
    /// Reads one string.
    ///
    /// - Throws: `DecodingError.dataCorrupted` where `init(_:)` returns nil.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let type = UniformType(try container.decode(String.self)) else {
            // Without the text: it may be long and hostile.
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "could not read a uniform type identifier: expected 1 to \(Self.maximumByteCount) "
                    + "ASCII letters, digits, hyphens and dots, with no dot beside a dot or at an end"
            )
        }
        self = type
    }

    /// Writes the identifier, in the case in which it was written, as one string.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(identifier)
    }
}
