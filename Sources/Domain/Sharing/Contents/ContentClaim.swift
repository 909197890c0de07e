package import ContentCheck
package import UniformTypes

/// The declared kind and type of an item that is one file. The content is checked against them.
package struct ContentClaim: Hashable, Sendable {
    package var kind: ItemKind
    package var type: UniformType
    /// The content must have at least one type of each list: the item was accepted without a question because of them.
    package var admittedAs: [[UniformType]]

    package init(kind: ItemKind, type: UniformType, admittedAs: [[UniformType]] = []) {
        (self.kind, self.type, self.admittedAs) = (kind, type, admittedAs)
    }

    /// - Returns: nil for a tree, whose files have no declared types.
    init?(_ item: OfferedItem, admittedAs: [[UniformType]]) {
        guard item.kind != .tree else { return nil }
        self.init(kind: item.kind, type: item.type, admittedAs: admittedAs)
    }

    /// Leading bytes of a URL, which are compared with a shortcut: one more than in the longest shortcut.
    private var startBytes: Int { kind == .url ? InternetShortcut.maximumFileBytes + 1 : 0 }

    /// The verdict on an open file; see `ContentChecker.check`.
    package func verdict(by checker: ContentChecker, descriptor: Int32, size: UInt64) -> ContentVerdict {
        checker.check(descriptor: descriptor, size: size, startBytes: startBytes) { content, start in
            verdict(on: content, start, checker)
        }
    }

    /// The verdict on content that is read by `reading`; see `ContentChecker.check`.
    package func verdict(
        by checker: ContentChecker, size: UInt64, reading: @escaping (UInt64, Int) -> [UInt8]?
    ) -> ContentVerdict {
        checker.check(size: size, reading: reading, startBytes: startBytes) { content, start in
            verdict(on: content, start, checker)
        }
    }

    /// The verdict on content in memory.
    package func verdict(by checker: ContentChecker, bytes: [UInt8]) -> ContentVerdict {
        checker.check(bytes: bytes, startBytes: startBytes) { content, start in
            verdict(on: content, start, checker)
        }
    }

    private func verdict(on content: Content, _ start: [UInt8], _ checker: ContentChecker) -> ContentVerdict {
        let verdict =
            switch kind {
            case .file, .tree: checker.verdict(on: content, declared: type)
            case .text: checker.verdict(onText: content, declared: type)
            case .url: Self.verdictOnURL(content, start, checker)
            }
        guard verdict.outcome != .lying else { return verdict }
        for types in admittedAs where !types.contains(where: { checker.isContent(content, of: $0) }) {
            let wanted = types.prefix(4).map(\.identifier).joined(separator: " or ")
            return ContentVerdict(
                .lying, verdict.contentType, "accepted as \(wanted), but the content is \(checker.words(for: content))")
        }
        return verdict
    }

    /// A URL must have exactly one form, so that no other content can hide in the file.
    private static func verdictOnURL(
        _ content: Content, _ start: [UInt8], _ checker: ContentChecker
    ) -> ContentVerdict {
        let url = InternetShortcut.url(in: start).flatMap { try? InternetShortcut($0) }
        if let url, url.contents == start {
            return ContentVerdict(.consistent, nil, "the content is an Internet shortcut, as declared")
        }
        return ContentVerdict(
            .lying, content.type,
            "sent as a URL, but the content is not an Internet shortcut: \(checker.words(for: content))")
    }
}
