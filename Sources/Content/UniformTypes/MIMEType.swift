/// The rules of MIME types, as far as types are looked up by them.
enum MIMEType {
    /// The length of the longest MIME type with its parameters, in bytes.
    static let maximumByteCount = 255

    /// The lower-case form with its parameters in the form `type/subtype; name=value`, the way the table writes them.
    ///
    /// Returns nil if the text is no MIME type: empty or too long, not `type/subtype`, or not printable ASCII.
    static func normalized(_ text: some StringProtocol) -> String? {
        guard text.utf8.prefix(maximumByteCount + 1).count <= maximumByteCount else { return nil }
        let parts = text.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: true)
            .map { part in
                let trimmed = part.drop(while: isBlank).reversed().drop(while: isBlank).reversed()
                return String(decoding: trimmed.map(\.asciiLowercased), as: UTF8.self)
            }
            .filter { !$0.isEmpty }
        guard let type = parts.first, isTypeAndSubtype(type),
            parts.dropFirst().allSatisfy({ $0.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F } })
        else { return nil }
        return parts.joined(separator: "; ")
    }

    /// A normalized MIME type without its parameters.
    static func withoutParameters(_ normalized: String) -> String {
        String(normalized.prefix { $0 != ";" })
    }

    private static func isTypeAndSubtype(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return parts.count == 2
            && parts.allSatisfy { part in !part.isEmpty && part.allSatisfy { $0 > 0x20 && $0 < 0x7F } }
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
    }
}
