import PropertyLists

/// A value of a handler's setting.
///
/// A number has one form: one without a fraction is an `integer`, so that `1` and `1.0` are equal.
package enum HandlerSettingValue: Hashable, Sendable {
    case truth(Bool)
    case integer(Int64)
    /// Finite, with a fraction or beyond the integers.
    case real(Double)
    /// At most `CatalogLimits.settingValueBytes` bytes, none of them NUL: a variable could not have it.
    case text(String)

    /// - Returns: nil for a number that is not finite.
    package init?(number: Double) {
        guard number.isFinite else { return nil }
        self = Int64(exactly: number).map { .integer($0) } ?? .real(number)
    }

    /// - Returns: nil for a text that is too long or has a NUL.
    package init?(text: String) {
        guard text.utf8.count <= CatalogLimits.settingValueBytes, !text.utf8.contains(0) else { return nil }
        self = .text(text)
    }

    /// - Returns: nil for a list, a dictionary, data or a date, and for values that do not fit.
    init?(_ value: PropertyList) {
        switch value {
        case .boolean(let truth): self = .truth(truth)
        case .integer(let number): self = .integer(number)
        case .real(let number): self.init(number: number)
        case .string(let text): self.init(text: text)
        case .date, .data, .array, .dictionary, .other: return nil
        }
    }

    /// The value in a variable and for people: `true`, `5`, `0.5`, or the text itself.
    package var text: String {
        switch self {
        case .truth(let truth): String(truth)
        case .integer(let number): String(number)
        case .real(let number): String(number)
        case .text(let text): text
        }
    }

    /// Nil for a value that is no number.
    var number: Double? {
        switch self {
        case .integer(let number): Double(number)
        case .real(let number): number
        case .truth, .text: nil
        }
    }
}

extension HandlerSettingValue: Codable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let value: Self? =
            if let truth = try? container.decode(Bool.self) {
                .truth(truth)
            } else if let number = try? container.decode(Int64.self) {
                .integer(number)
            } else if let number = try? container.decode(Double.self) {
                Self(number: number)
            } else {
                (try? container.decode(String.self)).flatMap { Self(text: $0) }
            }
        guard let value else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "it is no value of a setting")
        }
        self = value
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .truth(let truth): try container.encode(truth)
        case .integer(let number): try container.encode(number)
        case .real(let number): try container.encode(number)
        case .text(let text): try container.encode(text)
        }
    }
}
