package import ContentCheck
package import UniformTypes

/// Reads previews by the type that a content really has. Stateless; blocks on the disk for at most some seconds.
package struct PreviewReader: Sendable {
    /// The preview of a file with the facts that its line names.
    package struct Finding: Sendable {
        /// The comparison of the content with the declared type.
        package let verdict: ContentVerdict
        /// The type of the content; the declared one if nothing contradicts it and nothing says more.
        package let type: UniformType
        /// The content in a few words, with identifiers.
        package let words: String
        /// Nil if there is nothing to show.
        package let preview: Preview?
    }

    private let types: TypeRegistry
    private let checker: ContentChecker

    package init(types: TypeRegistry, checker: ContentChecker) {
        (self.types, self.checker) = (types, checker)
    }

    /// - Parameters:
    ///   - declared: the type that the file claims, by its name or in its offer.
    ///   - isText: whether it was sent as a text, which is never run.
    ///   - lines: maximum number of lines of a text.
    package func finding(
        in source: PreviewSource, declared: UniformType, isText: Bool = false, lines: Int = PreviewBounds.lines
    ) -> Finding {
        let content = checker.content(descriptor: source.descriptor, size: source.size) ?? checker.content(bytes: [])
        let verdict =
            isText
            ? checker.verdict(onText: content, declared: declared) : checker.verdict(on: content, declared: declared)
        let type = type(of: content, declared, verdict)
        return Finding(
            verdict: verdict, type: type, words: checker.words(for: content),
            preview: preview(of: content, type, source, lines: lines))
    }

    /// The type that decides the form of the preview.
    private func type(of content: Content, _ declared: UniformType, _ verdict: ContentVerdict) -> UniformType {
        let isBelieved = verdict.outcome == .consistent
        if let found = content.type, !content.isEmpty {
            // The declared type can be a kind of the one that was found.
            let saysMore =
                types.conforms(declared, to: found) || (content.text != nil && types.conforms(declared, to: .text))
            return isBelieved && saysMore ? declared : found
        }
        if content.text != nil { return isBelieved || content.isEmpty ? declared : .plainText }
        // Nearly all archives are recognised: this is none.
        return isBelieved && !types.conforms(declared, to: .archive) ? declared : .data
    }

    private func preview(
        of content: Content, _ type: UniformType, _ source: PreviewSource, lines: Int
    ) -> Preview? {
        if content.isEmpty { return .text(TextPreview(encoding: .utf8, lines: [], isCut: false)) }
        if types.conforms(type, to: .image),
            let size = PixelSize(descriptor: source.descriptor, size: source.size)
        {
            return .image(size)
        }
        if types.conforms(type, to: .pdf) { return .document }
        if let text = content.text { return .text(TextPreview(source, text, lines: lines)) }
        let isArchive = Self.archives.contains { types.conforms(type, to: $0) }
        return isArchive ? ArchiveListing(source).map(Preview.archive) : nil
    }

    /// Archives, and forms of compression in which archives are.
    private static let archives: [UniformType] =
        [.archive] + ["org.waft.zst", "public.cpio-archive"].compactMap { UniformType($0) }
}
