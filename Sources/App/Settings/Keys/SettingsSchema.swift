import Foundation

/// The form of `config.yaml` as a JSON Schema (draft 2020-12), made from the rows of `SettingKey`.
package struct SettingsSchema: Encodable, Sendable {
    /// A schema of a value, with its keywords.
    private indirect enum Schema: Encodable {
        case text(String)
        case number(Int)
        case truth(Bool)
        case list([Schema])
        case object([String: Schema])

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .text(let text): try container.encode(text)
            case .number(let number): try container.encode(number)
            case .truth(let truth): try container.encode(truth)
            case .list(let list): try container.encode(list)
            case .object(let object): try container.encode(object)
            }
        }
    }

    package init() {}

    package func encode(to encoder: any Encoder) throws {
        var root = Self.mapping(SettingKey.all.map { ($0.name.split(separator: ".").map(String.init), $0) })
        root["$schema"] = .text("https://json-schema.org/draft/2020-12/schema")
        root["$id"] = .text("urn:waft:config:1")
        root["title"] = .text("Settings of Waft")
        try Schema.object(root).encode(to: encoder)
    }

    /// A document of several lines.
    package var text: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        // Nothing in it cannot be encoded.
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }

    private static func mapping(_ rows: [(path: [String], key: SettingKey)]) -> [String: Schema] {
        var properties: [String: Schema] = [:]
        for (name, group) in Dictionary(grouping: rows, by: { $0.path[0] }) {
            if group.count == 1, group[0].path.count == 1 {
                properties[name] = .object(schema(of: group[0].key))
            } else {
                properties[name] = .object(mapping(group.map { (Array($0.path.dropFirst()), $0.key) }))
            }
        }
        return [
            "type": .list([.text("object"), .text("null")]), "additionalProperties": .truth(false),
            "properties": .object(properties),
        ]
    }

    private static func schema(of key: SettingKey) -> [String: Schema] {
        let texts = [key.summary, key.detail.map { ": \($0)" }].compactMap(\.self).joined()
        var schema: [String: Schema] = [
            "description": .text(texts + "." + (key.unit.map { " In \(words($0))." } ?? "")),
            "$comment": .text("Default: \(key.standard)."),
        ]
        switch key.kind {
        case .text:
            schema["type"] = .list([.text("string"), .text("number")])
        case .truth:
            schema["type"] = .text("boolean")
        case .number(let bounds):
            schema["type"] = .text("integer")
            schema["minimum"] = .number(bounds.lowerBound)
            schema["maximum"] = .number(bounds.upperBound)
        case .words:
            schema["oneOf"] = .list(
                key.meanings.map { .object(["const": .text($0.word), "description": .text($0.line)]) })
        case .list:
            schema["type"] = .list([.text("array"), .text("string")])
            schema["items"] = .object(["type": .text("string")])
        case .rules:
            schema["type"] = .list([.text("array"), .text("null")])
            schema["items"] = .object(["type": .text("object"), "required": .list([.text("then")])])
        }
        return schema
    }

    private static func words(_ unit: SettingUnit) -> String {
        switch unit {
        case .seconds: "seconds"
        case .bytes: "bytes, or with a unit, such as 20 GB"
        case .time: "a number with a unit, such as 12h"
        }
    }
}
