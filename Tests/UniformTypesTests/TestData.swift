import Foundation
import Testing
import UniformTypes

/// The tables that the system's types were generated from, read from beside this file.
enum TestData {
    struct DeclaredType: Decodable {
        let identifier: String
        let conformsTo: [String]
        let extensions: [String]
        let mimeTypes: [String]
        let description: String
    }

    struct Preferred: Decodable {
        struct Kinds: Decodable {
            let file: String?
            let directory: String?
        }
        let `extension`: [String: Kinds]
        let mime: [String: String]
    }

    struct Gap: Decodable {
        let `extension`: String
        let mime: String
        let appleAnswer: String
        let proposedImportParents: [String]
    }

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

    static func types() throws -> [DeclaredType] { try load("uti.json") }
    static func preferred() throws -> Preferred { try load("uti-preferred.json") }
    static func gaps() throws -> [Gap] { try load("uti-gap-proposals.json") }
    static func topExtensions() throws -> [TopExtension] { try load("top-extensions.json") }
    static func dynamicVectors() throws -> [DynamicVector] {
        try (load("dyn-vectors.json") as DynamicVectors).vectors
    }

    private static func load<Value: Decodable>(_ name: String, file: String = #filePath) throws -> Value {
        let folder = URL(fileURLWithPath: file).deletingLastPathComponent().appendingPathComponent("Data")
        return try JSONDecoder().decode(Value.self, from: Data(contentsOf: folder.appendingPathComponent(name)))
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
