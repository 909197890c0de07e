import ContentCheck
import Operations
import UniformTypes

/// The result of a look into a file, in one line.
enum ContentWords {
    /// - Parameters:
    ///   - declared: the type by the name.
    ///   - words: the content in a few words, with identifiers.
    static func line(
        declared: UniformType, _ words: String, _ verdict: ContentVerdict, _ registry: TypeRegistry
    ) -> String {
        verdict.line(declared: declared, words, registry)
    }
}
