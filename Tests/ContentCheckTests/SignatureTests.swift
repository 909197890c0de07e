import Foundation
import Testing
import UniformTypes

@testable import ContentCheck

@Suite("Signatures")
struct SignatureTests {
    /// The lines of `Vectors/signatures.txt`: a type and the start of a file.
    private static func vectors(file: String = #filePath) throws -> [(type: String, bytes: [UInt8])] {
        let path = URL(fileURLWithPath: file).deletingLastPathComponent().appending(path: "Vectors/signatures.txt")
        let lines = try String(contentsOf: path, encoding: .utf8).split(separator: "\n").filter { !$0.hasPrefix("#") }
        return try lines.map { line in
            let words = line.split(separator: " ")
            let hex = Array(words[2])
            let signature = try stride(from: 0, to: hex.count, by: 2).map {
                try #require(UInt8(String(hex[$0...$0 + 1]), radix: 16))
            }
            return (String(words[0]), [UInt8](repeating: 0, count: try #require(Int(words[1]))) + signature)
        }
    }

    @Test(
        "each signature of the specifications is recognised, with the database and without",
        arguments: Knowledge.allCases)
    private func recognized(knowledge: Knowledge) throws {
        let vectors = try Self.vectors()
        #expect(vectors.count > 40)
        for (type, start) in vectors {
            // A script is text; padding would make it something else.
            let bytes = start.starts(with: Samples.bytes("#!")) ? start : Samples.padded(start)
            let verdict = knowledge.checker.check(bytes: bytes, declared: .data)
            #expect(verdict.contentType?.identifier == type, "\(knowledge): \(verdict.explanation)")
        }
    }
}
