import ArgumentParser
import Foundation
import Lines
import Sharing

/// Facts of the user for the program that opens something, here or at a receiver: `--annotation KEY=VALUE`.
struct Annotation: Equatable, Sendable {
    /// The variable of an application, with a JSON object.
    static let variable = "WAFT_ANNOTATION"

    /// The values by their keys.
    private(set) var values: [String: String] = [:]

    var isEmpty: Bool { values.isEmpty }

    init() {}

    /// - Parameter words: `KEY=VALUE` each.
    /// - Throws: `CommandError` `usage` for an empty key, one that is given twice, or too much in all.
    init(_ words: [String]) throws(CommandError) {
        for word in words {
            guard let sign = word.firstIndex(of: "="), sign > word.startIndex else {
                throw CommandError(.usage, "--annotation \(TerminalText.escaped(word)): it is not KEY=VALUE")
            }
            let key = String(word[..<sign])
            guard values.updateValue(String(word[word.index(after: sign)...]), forKey: key) == nil else {
                throw CommandError(.usage, "--annotation \(TerminalText.escaped(key)) is given twice")
            }
        }
        guard Self.bytes(of: values) <= Limits.annotationBytes else {
            throw CommandError(.usage, "the annotations are longer than \(Limits.annotationBytes) bytes in all")
        }
    }

    /// Bytes of an annotation, as they are counted against `Limits.annotationBytes`.
    static func bytes(of values: [String: String]) -> Int {
        values.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
    }

    /// The environment of an application.
    var environment: [String: String?] { [Self.variable: isEmpty ? nil : json] }

    /// One line: an object of texts.
    var json: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(values)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }
}

/// Options of the verbs that give an annotation to a program.
struct AnnotationOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "A fact for the program that opens it: a key and its value, at most 16 KiB in all. Repeatable.",
            valueName: "key=value"))
    var annotation: [String] = []

    func read() throws(CommandError) -> Annotation { try Annotation(annotation) }
}
