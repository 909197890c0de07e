/// The text inside a dynamic identifier:
/// `[ "?0=" supertype { "," supertype } ":" ] tagClass "=" tag { ":" tagClass "=" tag }`.
///
/// Well-known identifiers are written as an upper-case hexadecimal index, and `\` stands before each of `:` `=` `,` `\`
/// and NUL inside a value.
struct DynamicPayload {
    private(set) var bytes: [UInt8] = []

    init() {}

    init(bytes: [UInt8]) { self.bytes = bytes }

    private static let abbreviations: [UniformType] = [
        UniformType(known: "UTTypeConformsTo"),
        TagClass.filenameExtension.type,
        TagClass.osType.type,
        TagClass.mimeType.type,
        TagClass.pasteboardType.type,
        TagClass.urlScheme.type,
        .data,
        .text,
        .plainText,
        UniformType(known: "public.utf16-plain-text"),
        UniformType(known: "com.apple.traditional-mac-plain-text"),
        .image,
        .video,
        .audio,
        .directory,
        .folder,
        .package,
    ]

    // MARK: Writing

    mutating func append(supertypes: [UniformType]) {
        bytes += Array("?0=".utf8)
        for (index, supertype) in supertypes.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            append(identifier: supertype)
        }
    }

    mutating func append(tag: TypeTag) {
        if !bytes.isEmpty { bytes.append(UInt8(ascii: ":")) }
        append(identifier: tag.tagClass.type)
        bytes.append(UInt8(ascii: "="))
        append(escaped: tag.value.utf8)
        if tag.tagClass == .osType {
            // Always four bytes long.
            append(escaped: repeatElement(0, count: max(0, 4 - tag.value.utf8.count)))
        }
    }

    private mutating func append(identifier type: UniformType) {
        if let index = Self.abbreviations.firstIndex(of: type) {
            bytes += Array(String(index, radix: 16, uppercase: true).utf8)
        } else {
            append(escaped: type.identifier.utf8)
        }
    }

    private mutating func append(escaped value: some Sequence<UInt8>) {
        for byte in value {
            if Self.isSpecial(byte) { bytes.append(UInt8(ascii: "\\")) }
            bytes.append(byte)
        }
    }

    private static func isSpecial(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: ":"), UInt8(ascii: "="), UInt8(ascii: ","), UInt8(ascii: "\\"), 0: true
        default: false
        }
    }

    // MARK: Reading

    /// The supertypes and tags; nil for an unreadable payload. Accepts more than is written here: the caller writes the
    /// result again and compares.
    func parsed() -> (supertypes: [UniformType], tags: [TypeTag])? {
        var supertypes: [UniformType] = []
        var tags: [TypeTag] = []
        for (index, component) in Self.split(bytes[...], at: UInt8(ascii: ":")).enumerated() {
            let sides = Self.split(component, at: UInt8(ascii: "="))
            guard sides.count == 2 else { return nil }
            if index == 0, sides[0].elementsEqual("?0".utf8) {
                for part in Self.split(sides[1], at: UInt8(ascii: ",")) {
                    guard let supertype = Self.type(part) else { return nil }
                    supertypes.append(supertype)
                }
            } else {
                guard let tagClass = Self.type(sides[0]).map({ TagClass($0) }),
                    var value = Self.unescaped(sides[1])
                else { return nil }
                if tagClass == .osType {
                    while value.unicodeScalars.last == "\0" { value.unicodeScalars.removeLast() }
                }
                tags.append(TypeTag(tagClass, value))
            }
        }
        return (supertypes, tags)
    }

    /// The parts between separators that have no backslash before them.
    private static func split(_ bytes: ArraySlice<UInt8>, at separator: UInt8) -> [ArraySlice<UInt8>] {
        var parts: [ArraySlice<UInt8>] = []
        var start = bytes.startIndex
        var isEscaped = false
        for (index, byte) in zip(bytes.indices, bytes) {
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == separator {
                parts.append(bytes[start..<index])
                start = index + 1
            }
        }
        parts.append(bytes[start...])
        return parts
    }

    private static func unescaped(_ bytes: ArraySlice<UInt8>) -> String? {
        var value: [UInt8] = []
        var isEscaped = false
        for byte in bytes {
            if !isEscaped, byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else {
                value.append(byte)
                isEscaped = false
            }
        }
        return isEscaped ? nil : String(validating: value, as: UTF8.self)
    }

    private static func type(_ bytes: ArraySlice<UInt8>) -> UniformType? {
        guard let text = unescaped(bytes) else { return nil }
        if let index = Int(text, radix: 16), abbreviations.indices.contains(index) { return abbreviations[index] }
        return UniformType(text)
    }
}
