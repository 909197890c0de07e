import Foundation
import Testing
import UniformTypes

/// Facts from other sources than the generator's data, in the files of `Vectors`.
enum TestData {
    struct TopExtension: Decodable {
        let `extension`: String
        let uti: String?
    }

    struct DynamicVector: Decodable, Sendable, CustomTestStringConvertible {
        let uti: String
        let ext: String?
        let mime: String?
        let ostype: String?
        let nspboard: String?
        let conformingTo: String?

        var testDescription: String { uti }
    }

    private struct DynamicVectors: Decodable {
        let alphabet: String
        let vectors: [DynamicVector]
    }

    static func topExtensions() throws -> [TopExtension] { try load("top-extensions.json") }
    static func dynamicVectors() throws -> [DynamicVector] {
        try (load("dyn-vectors.json") as DynamicVectors).vectors
    }

    /// The facts of one kind in `facts.txt`: a type and the words after it.
    static func facts(_ kind: String) throws -> [(type: UniformType, words: [String])] {
        let text = String(decoding: try contents(of: "facts.txt"), as: UTF8.self)
        let lines = text.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        return try lines.filter { $0[0] == kind }.map { (try UniformType(valid: $0[1]), Array($0[2...])) }
    }

    private static func load<Value: Decodable>(_ name: String) throws -> Value {
        try JSONDecoder().decode(Value.self, from: contents(of: name))
    }

    private static func contents(of name: String, file: String = #filePath) throws -> Data {
        try Data(contentsOf: URL(fileURLWithPath: file).deletingLastPathComponent().appending(path: "Vectors/\(name)"))
    }
}

extension UniformType {
    /// A literal that is known to be well formed.
    init(literal: StaticString) {
        guard let type = UniformType("\(literal)") else { preconditionFailure("\(literal) is not an identifier") }
        self = type
    }

    /// Any well-formed identifier; the test fails on another.
    init(valid identifier: String) throws {
        self = try #require(UniformType(identifier))
    }
}
