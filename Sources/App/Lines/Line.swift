import Foundation

/// A statement of Waft about one thing: a line of `--json`, and the value from which a face makes its words.
///
/// The JSON object of a line has the version `v`, the name `event`, and the properties of the value, by their names.
/// Absent values are left out. `events.schema.json` describes every line.
package protocol Line: Encodable, Sendable {
    /// The value of `event`.
    static var event: String { get }
    /// The same of this line, where it has one of several.
    var event: String { get }
}

extension Line {
    package var event: String { Self.event }

    /// The line as a JSON document, without escapes for a terminal.
    package var json: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Only infinities and the like cannot be encoded, and there are none.
        guard let data = try? encoder.encode(Document(line: self)) else { return "{}" }
        return String(decoding: data, as: UTF8.self)
    }
}

/// A line with the fields that all lines have.
private struct Document<Value: Line>: Encodable {
    private enum Head: CodingKey { case v, event }

    let line: Value

    func encode(to encoder: any Encoder) throws {
        var head = encoder.container(keyedBy: Head.self)
        try head.encode(1, forKey: .v)
        try head.encode(line.event, forKey: .event)
        try line.encode(to: encoder)
    }
}

/// A property of a line that `--json` does not have: the words for people need it. The control socket carries it.
@propertyWrapper
package struct Unsaid<Value: Codable & Equatable & Sendable>: Codable, Equatable, Sendable {
    package var wrappedValue: Value

    package init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
}

package enum UnsaidProperties {
    /// Whether an encoder that runs in this task writes them.
    @TaskLocal package static var areCarried = false
}

// The synthesized coding of a line calls these.

extension KeyedEncodingContainer {
    package mutating func encode<Value>(_ property: Unsaid<Value>, forKey key: Key) throws {
        if UnsaidProperties.areCarried { try encode(property.wrappedValue, forKey: key) }
    }

    package mutating func encode<Value>(_ property: Unsaid<Value?>, forKey key: Key) throws {
        if UnsaidProperties.areCarried { try encodeIfPresent(property.wrappedValue, forKey: key) }
    }
}

extension KeyedDecodingContainer {
    package func decode<Value>(_ type: Unsaid<Value>.Type, forKey key: Key) throws -> Unsaid<Value> {
        Unsaid(wrappedValue: try decode(Value.self, forKey: key))
    }

    package func decode<Value>(_ type: Unsaid<Value?>.Type, forKey key: Key) throws -> Unsaid<Value?> {
        Unsaid(wrappedValue: try decodeIfPresent(Value.self, forKey: key))
    }
}

/// Items that a line lists; offers can have tens of thousands.
package let shownItems = 100
