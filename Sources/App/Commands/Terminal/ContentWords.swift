import ContentCheck
import UniformTypes

/// The result of a look into a file, in one line.
enum ContentWords {
    /// - Parameters:
    ///   - declared: the type by the name.
    ///   - words: the content in a few words, with identifiers.
    static func line(
        declared: UniformType, _ words: String, _ verdict: ContentVerdict, _ registry: TypeRegistry
    ) -> String {
        line(
            verdict.outcome.rawValue, declared: registry.name(of: declared),
            found: verdict.contentType.map(registry.name) ?? words, explanation: verdict.explanation)
    }

    /// - Parameters:
    ///   - outcome: `consistent`, `unverified`, `mislabelled` or `lying`.
    ///   - declared: the type by the name, in words.
    ///   - found: the content, in words.
    static func line(_ outcome: String, declared: String, found: String, explanation: String) -> String {
        let line =
            switch outcome {
            case "consistent": "contents match: \(found)"
            case "mislabelled": "the name says \(declared), the contents are \(found)"
            case "lying": "looks like \(declared), but is \(found): not opened"
            default: "contents not verified: \(explanation)"
            }
        return TerminalText.escaped(line, limit: 600)
    }
}
