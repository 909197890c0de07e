package import UniformTypes

/// The recognised form of some content, by its bytes alone. The name plays no part.
package struct Content: Sendable, Hashable {
    /// The type. If none is declared, a dynamic type for the usual extension, or a type that the content conforms to.
    /// nil if the content is not recognised.
    package internal(set) var type: UniformType?

    /// The MIME type, where the shared MIME database knew it; printable ASCII.
    package internal(set) var mimeType: String?

    /// How the first 64 KiB read as text; nil if they are not text.
    package internal(set) var text: TextForm?

    /// Whether it is text in UTF-8 and longer than the signatures made of letters: not the first bytes of a broken file.
    var isClearlyText = false

    /// Whether there are no bytes at all.
    package internal(set) var isEmpty = false

    /// The program signature at the start, if there is one.
    var signature: ExecutableSignature?

    /// Whether the signature is `MZ` and all bytes examined are text in UTF-8: a sentence may start so, and no header
    /// of a program is without control characters.
    var mayBeProse = false

    /// The form of storage. It may be all that is known, or less.
    var storage: Storage?

    /// For a zip archive.
    var listing: ZipListing?

    /// The extensions in the shared MIME database for the recognised MIME type.
    var extensions: [String] = []

    /// Whether `type` is a type that is declared for this content, not merely something that it conforms to.
    var isExact = false

    /// Whether it was recognised by so little that chance may have done it.
    var isWeak = false

    /// Types that it can be taken for as well.
    var alternatives: [UniformType] = []

    /// Whether the format inside is unknown: nothing was recognised, or only a form of storage.
    var isPlainStorage: Bool {
        guard let storage, !isUnusualZip else { return false }
        return type.map { storage.plain.contains($0) } ?? true
    }

    private var isUnusualZip: Bool { listing.map { !$0.families.isEmpty || $0.mimeType != nil } ?? false }
}

extension Content {
    /// A few words for people, such as `PNG image (public.png)` or `text in UTF-8`; they start in lower case where the
    /// type's description does.
    package func words(types: TypeRegistry) -> String {
        if isEmpty { return "nothing: the file is empty" }
        if let signature, !mayBeProse { return "\(types.words(for: signature.type)), which runs" }
        if let type, isExact || type.isDynamic { return words(for: type, types) }
        if let storage { return storage.words }
        if let type { return "some kind of \(types.words(for: type))" + mimeWords }
        if let mimeType { return mimeType }
        return switch text {
        case .utf8: "text in UTF-8"
        case .utf16: "text in UTF-16"
        case .eightBit: "text in an 8-bit encoding"
        case nil: "nothing that is recognised"
        }
    }

    private func words(for type: UniformType, _ types: TypeRegistry) -> String {
        guard type.isDynamic, let kind = types.parents(of: type).first else { return types.words(for: type) }
        if kind == .data, let mimeType { return mimeType }
        return "some kind of \(types.words(for: kind))" + mimeWords
    }

    private var mimeWords: String { mimeType.map { ", \($0)" } ?? "" }
}

extension TypeRegistry {
    /// The type's description and identifier, for a sentence.
    func words(for type: UniformType) -> String {
        guard !type.isDynamic, let description = declaration(of: type)?.description else { return type.identifier }
        return "\(description) (\(type.identifier))"
    }
}
