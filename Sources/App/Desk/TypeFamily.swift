import UniformTypes

/// The people's word for a type. The icons, the filters and the pictures of the pages go by it.
enum TypeFamily: String, CaseIterable, Sendable {
    // In this order: a type is of the first family that it conforms to.
    case link, image, movie, sound, pdf, document, program, archive, folder, text

    /// The types to one of which all types of the family conform.
    private var roots: [String] {
        switch self {
        case .link: ["public.url", "com.apple.internet-location"]
        case .image: ["public.image"]
        case .movie: ["public.movie", "public.video"]
        case .sound: ["public.audio"]
        case .pdf: ["com.adobe.pdf"]
        case .document:
            [
                "public.composite-content", "public.presentation", "public.spreadsheet", "public.html", "public.rtf",
                "org.openxmlformats.openxml", "org.oasis-open.opendocument",
            ]
        case .program: ["public.executable", "public.script", "org.debian.deb-archive", "com.redhat.rpm-archive"]
        case .archive: ["public.archive"]
        case .folder: ["public.directory"]
        case .text: ["public.text"]
        }
    }

    /// - Returns: nil for a type of no family.
    init?(_ type: UniformType, in registry: TypeRegistry) {
        let family = Self.allCases.first { family in
            family.roots.contains { root in UniformType(root).map { registry.conforms(type, to: $0) } ?? false }
        }
        guard let family else { return nil }
        self = family
    }

    /// The families with the identifiers of their types.
    static func table(_ registry: TypeRegistry) -> [String: [String]] {
        var table: [String: [String]] = [:]
        for type in registry.types {
            if let family = Self(type, in: registry) { table[family.rawValue, default: []].append(type.identifier) }
        }
        return table
    }
}
