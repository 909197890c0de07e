import Foundation

/// What Waft says about one thing: a line of `--json`, and the value from which a face makes its words.
///
/// The JSON object of a line has the version `v`, the name `event`, and the properties of the value, by their names.
/// Absent values are left out. `events.schema.json` describes every line.
package protocol Line: Encodable, Sendable {
    /// The value of `event`.
    static var event: String { get }
}

extension Line {
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
        try head.encode(Value.event, forKey: .event)
        try line.encode(to: encoder)
    }
}

/// A property of a line that `--json` does not have: the words for people need it.
@propertyWrapper
package struct Unsaid<Value: Sendable>: Encodable, Sendable {
    package var wrappedValue: Value

    package init(wrappedValue: Value) { self.wrappedValue = wrappedValue }

    package func encode(to encoder: any Encoder) throws {}
}

extension KeyedEncodingContainer {
    /// The synthesized coding of a line calls this one: the key is left out too.
    package mutating func encode<Value>(_ value: Unsaid<Value>, forKey key: Key) throws {}
}

/// Items that a line lists; offers can have tens of thousands.
package let shownItems = 100
