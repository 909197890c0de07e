import Foundation

extension PropertyList {
    /// The forms in which a list is written.
    package enum Form {
        case binary, xml
    }

    /// The list as a document. It must have neither dates nor values of an unknown kind.
    ///
    /// Uses an encoder: `PropertyListSerialization` refuses every dictionary in a program into which Foundation is linked
    /// statically (Swift 6.3).
    /// - Throws: `EncodingError` for a value that cannot be written.
    package func encoded(as form: Form) throws -> [UInt8] {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = form == .binary ? .binary : .xml
        return Array(try encoder.encode(Written(list: self)))
    }
}

/// A list for Foundation's encoder.
private struct Written: Encodable {
    let list: PropertyList

    func encode(to encoder: any Encoder) throws {
        switch list {
        case .array(let values):
            var container = encoder.unkeyedContainer()
            for value in values { try container.encode(Written(list: value)) }
        case .dictionary(let values):
            var container = encoder.container(keyedBy: Key.self)
            for (key, value) in values { try container.encode(Written(list: value), forKey: Key(stringValue: key)) }
        case .boolean(let truth): try encode(truth, to: encoder)
        // Signed: Foundation writes unsigned numbers in sixteen bytes, which few readers expect.
        case .integer(let number): try encode(number, to: encoder)
        case .real(let number): try encode(number, to: encoder)
        case .string(let text): try encode(text, to: encoder)
        case .data(let bytes): try encode(Data(bytes), to: encoder)
        case .date, .other:
            let context = EncodingError.Context(
                codingPath: encoder.codingPath, debugDescription: "\(list.kind) cannot be written")
            throw EncodingError.invalidValue(list, context)
        }
    }

    private func encode(_ value: some Encodable, to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }

    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) {
            self.stringValue = stringValue
        }

        init?(intValue: Int) { nil }
    }
}
