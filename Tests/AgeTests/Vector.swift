import Foundation
import Testing

/// A published test file: the lines that say what must happen, and an age file. `Vectors/README.md` has its origin.
struct Vector: Sendable, CustomTestStringConvertible {
    let name: String
    /// The lines before the file; a key can appear more than once.
    private let lines: [(key: String, value: String)]
    let file: [UInt8]

    static let all: [Vector] = {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "Vectors")
        let names = try? FileManager.default.contentsOfDirectory(atPath: folder.path)
        return (names ?? []).filter { !$0.contains(".") }.sorted().compactMap { Vector(folder.appending(path: $0)) }
    }()

    private init?(_ place: URL) {
        guard let whole = try? [UInt8](Data(contentsOf: place)) else { return nil }
        guard let end = whole.indices.dropLast().first(where: { whole[$0] == 10 && whole[$0 + 1] == 10 }) else {
            return nil
        }
        name = place.lastPathComponent
        file = Array(whole[(end + 2)...])
        lines = String(decoding: whole[..<end], as: UTF8.self).split(separator: "\n").compactMap { line in
            line.firstRange(of: ": ").map { (String(line[..<$0.lowerBound]), String(line[$0.upperBound...])) }
        }
    }

    func values(_ key: String) -> [String] { lines.filter { $0.key == key }.map(\.value) }

    /// What must happen: `success`, `no match`, `HMAC failure`, `header failure` or `payload failure`.
    var expected: String? { values("expect").first }

    var testDescription: String { name }
}
