/// The meaning of a dynamic identifier (`dyn.a…`): an undeclared type, given by its tags and supertypes.
///
/// The encoding is Apple's (macOS 10.4 to 15; not documented, established from observed identifiers). Apple asks not to
/// keep or send dynamic identifiers; a message that carries one carries the file name too.
package struct DynamicType: Hashable, Sendable {
    /// The types that it conforms to, besides itself.
    package let supertypes: [UniformType]

    /// At least one.
    package let tags: [TypeTag]

    /// The only identifier with this meaning.
    package let type: UniformType

    /// Makes up a type for tags.
    ///
    /// Returns nil if no identifier can express it: no tag, an empty tag, an OSType of more than four bytes, a
    /// supertype or tag class with a name like `6` or `A` (it would read as an abbreviation), or a result of more than
    /// `UniformType.maximumByteCount` bytes.
    package init?(supertypes: [UniformType] = [], tags: [TypeTag]) {
        guard !tags.isEmpty,
            (supertypes + tags.map(\.tagClass.type)).allSatisfy({ Int($0.identifier, radix: 16) == nil })
        else { return nil }
        var payload = DynamicPayload()
        if !supertypes.isEmpty { payload.append(supertypes: supertypes) }
        for tag in tags {
            guard !tag.value.isEmpty, payload.bytes.count < UniformType.maximumByteCount else { return nil }
            guard tag.tagClass != .osType || tag.value.utf8.count <= 4 else { return nil }
            payload.append(tag: tag)
        }
        let identifier = Self.prefix + DynamicBase32.encode(payload.bytes)
        guard identifier.utf8.count <= UniformType.maximumByteCount else { return nil }
        self.supertypes = supertypes
        self.tags = tags
        self.type = UniformType(known: identifier)
    }

    /// Reads a dynamic identifier.
    ///
    /// Returns nil for other identifiers, for damaged ones, and for those in another form than the one written here:
    /// two identifiers never mean the same.
    package init?(_ type: UniformType) {
        guard type.isDynamic else { return nil }
        let identifier = type.identifier.lowercased()
        guard identifier.hasPrefix(Self.prefix),
            let bytes = DynamicBase32.decode(identifier.utf8.dropFirst(Self.prefix.utf8.count)),
            let (supertypes, tags) = DynamicPayload(bytes: bytes).parsed(),
            let canonical = DynamicType(supertypes: supertypes, tags: tags),
            canonical.type == type
        else { return nil }
        self = canonical
    }

    private static let prefix = "dyn.a"
}

extension UniformType {
    /// The type's name in a message; its tag if no bundle declares it. May quote a bundle or a name: foreign text.
    package var words: String {
        guard let tag = DynamicType(self)?.tags.first else { return identifier }
        return switch tag.tagClass {
        case .filenameExtension: ".\(tag.value) files"
        default: tag.value
        }
    }
}

/// Five bits a character, the most significant first, the last character filled up with zeros, no padding, and an
/// alphabet of its own (no `i`, `j`, `l`, `o`).
enum DynamicBase32 {
    private static let alphabet = Array("abcdefghkmnpqrstuvwxyz0123456789".utf8)

    static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count * 8 + 4) / 5)
        // The `count` low bits are not written yet.
        var bits = 0
        var count = 0
        for byte in bytes {
            bits = (bits << 8 | Int(byte)) & 0xFFF
            count += 8
            while count >= 5 {
                count -= 5
                text.append(alphabet[bits >> count & 31])
            }
        }
        if count > 0 { text.append(alphabet[bits << (5 - count) & 31]) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns nil for a character outside the alphabet, and for a last character that is not needed or not filled up
    /// with zeros.
    static func decode(_ text: some Sequence<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        var bits = 0
        var count = 0
        for character in text {
            guard let value = alphabet.firstIndex(of: character) else { return nil }
            bits = (bits << 5 | value) & 0xFFF
            count += 5
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> count))
            }
        }
        guard count < 5, bits & ((1 << count) - 1) == 0 else { return nil }
        return bytes
    }
}
