import Foundation
import NIOCore

/// A value of a property list; kinds that no message uses are left out.
indirect enum PropertyListValue: Equatable {
    case bool(Bool)
    /// Integers of up to eight bytes, as their bits.
    case integer(UInt64)
    case string(String)
    case data(ByteBuffer)
    case array([PropertyListValue])
    case dictionary([String: PropertyListValue])
    /// A real number, a date, a null and the like.
    case other

    var string: String? {
        if case .string(let text) = self { return text }
        return nil
    }

    var array: [PropertyListValue]? {
        if case .array(let values) = self { return values }
        return nil
    }

    var dictionary: [String: PropertyListValue]? {
        if case .dictionary(let values) = self { return values }
        return nil
    }

    /// A truth value, also in the form of a number: some senders write one.
    var truth: Bool? {
        switch self {
        case .bool(let truth): truth
        case .integer(let number): number != 0
        default: nil
        }
    }

    var unsigned: UInt64? {
        if case .integer(let number) = self, number <= UInt64(Int64.max) { return number }
        return nil
    }
}

extension PropertyListValue: Encodable {
    /// The value as a binary property list.
    func encoded() throws -> ByteBuffer {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        return ByteBuffer(bytes: try encoder.encode(self))
    }

    func encode(to encoder: any Encoder) throws {
        switch self {
        case .array(let values):
            var container = encoder.unkeyedContainer()
            for value in values { try container.encode(value) }
        case .dictionary(let values):
            var container = encoder.container(keyedBy: Key.self)
            for (key, value) in values { try container.encode(value, forKey: Key(stringValue: key)) }
        case .bool(let truth): try Self.encode(truth, to: encoder)
        // Signed: Foundation writes unsigned numbers in sixteen bytes, which few readers expect.
        case .integer(let number): try Self.encode(Int64(clamping: number), to: encoder)
        case .string(let text): try Self.encode(text, to: encoder)
        case .data(let bytes): try Self.encode(Data(bytes.readableBytesView), to: encoder)
        case .other:
            let context = EncodingError.Context(codingPath: encoder.codingPath, debugDescription: "no message has this")
            throw EncodingError.invalidValue(self, context)
        }
    }

    private static func encode(_ value: some Encodable, to encoder: any Encoder) throws {
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
