extension Digest: LosslessStringConvertible, Codable {
    /// The text form: `xxh3-128:` and 32, or `sha-256:` and 64, lower-case hexadecimal digits.
    package var description: String {
        let name = algorithm.rawValue.utf8
        let count = name.count + 1 + algorithm.byteCount * 2
        return String(unsafeUninitializedCapacity: count) { text in
            var end = text.initialize(fromContentsOf: name)
            text.initializeElement(at: end, to: UInt8(ascii: ":"))
            end += 1
            withUnsafeBytes { bytes in
                for byte in bytes {
                    text.initializeElement(at: end, to: Self.digit(byte >> 4))
                    text.initializeElement(at: end + 1, to: Self.digit(byte & 15))
                    end += 2
                }
            }
            return end
        }
    }

    /// Reads the text form, and nothing else: no upper case, no white space, no missing or further digits.
    ///
    /// - Throws: `DigestError`. The time taken does not grow with a text longer than the longest digest.
    package init(parsing text: some StringProtocol) throws(DigestError) {
        guard let colon = text.utf8.prefix(Self.longestAlgorithmName + 1).firstIndex(of: UInt8(ascii: ":")) else {
            throw .malformedText
        }
        guard let algorithm = DigestAlgorithm(rawValue: String(text[..<colon])) else { throw .unknownAlgorithm }

        // One digit too many is enough to know that there are too many.
        let digits = text.utf8[text.utf8.index(after: colon)...].prefix(algorithm.byteCount * 2 + 1)
        guard digits.count == algorithm.byteCount * 2 else { throw .wrongLength(for: algorithm) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(algorithm.byteCount)
        var high: UInt8?
        for digit in digits {
            guard let value = Self.value(ofDigit: digit) else { throw .malformedText }
            if let upper = high {
                bytes.append(upper << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
        try self.init(algorithm, bytes: bytes)
    }

    /// Reads the text form; nil if `init(parsing:)` throws.
    package init?(_ description: String) {
        do { try self.init(parsing: description) } catch { return nil }
    }

    /// Reads the text form out of one string.
    ///
    /// - Throws: `DecodingError.dataCorrupted` whose underlying error is a `DigestError`.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        do {
            try self.init(parsing: text)
        } catch {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: error.description, underlyingError: error)
            )
        }
    }

    /// Writes the text form as one string.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }

    private static let longestAlgorithmName = DigestAlgorithm.allCases.map(\.rawValue.utf8.count).max() ?? 0

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + (value - 10)
    }

    private static func value(ofDigit digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
