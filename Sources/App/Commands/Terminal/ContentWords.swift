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
        let found = verdict.contentType.map(registry.name) ?? words
        let line =
            switch verdict.outcome {
            case .consistent: "contents match: \(found)"
            case .mislabelled: "the name says \(registry.name(of: declared)), the contents are \(found)"
            case .lying: "looks like \(registry.name(of: declared)), but is \(found): not opened"
            case .unverified: "contents not verified: \(verdict.explanation)"
            }
        return TerminalText.escaped(line, limit: 600)
    }
}
