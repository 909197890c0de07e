package import UniformTypes

/// How strongly a handler claims a type (`LSHandlerRank`).
package enum HandlerRank: String, Hashable, Sendable, CaseIterable {
    /// It makes files of this type.
    case owner = "Owner"
    /// It opens them. What holds where a bundle says nothing.
    case `default` = "Default"
    /// It can look at them.
    case alternate = "Alternate"
    /// It is never chosen to open them.
    case none = "None"
}

extension HandlerRank: Comparable {
    /// The stronger one is the lesser: it comes first.
    package static func < (left: HandlerRank, right: HandlerRank) -> Bool { left.order < right.order }

    private var order: Int {
        switch self {
        case .owner: 0
        case .default: 1
        case .alternate: 2
        case .none: 3
        }
    }
}

/// What a handler does with what it opens (`CFBundleTypeRole`).
package enum HandlerRole: String, Hashable, Sendable, CaseIterable {
    /// Reads, changes and saves it.
    case editor = "Editor"
    /// Reads it. What holds where a bundle says nothing.
    case viewer = "Viewer"
    /// Runs it.
    case shell = "Shell"
    /// Draws previews of it: does not open it.
    case previewGenerator = "QLGenerator"
    /// Describes it to a search index: does not open it.
    case importer = "MDImporter"
    /// Knows its name, not its contents: does not open it.
    case none = "None"

    /// Whether a handler in this role can be chosen to open something.
    package var opens: Bool {
        switch self {
        case .editor, .viewer, .shell: true
        case .previewGenerator, .importer, .none: false
        }
    }
}

extension HandlerRole: Comparable {
    package static func < (left: HandlerRole, right: HandlerRole) -> Bool { left.order < right.order }

    /// Its place among roles, from 0.
    var order: Int {
        switch self {
        case .editor: 0
        case .viewer: 1
        case .shell: 2
        case .previewGenerator: 3
        case .importer: 4
        case .none: 5
        }
    }
}

/// Something that a handler says it can open: an element of `CFBundleDocumentTypes`.
package struct DocumentType: Hashable, Sendable {
    /// How a bundle names the types it means.
    package enum Contents: Hashable, Sendable {
        /// By identifier (`LSItemContentTypes`).
        case types([UniformType])
        /// By extension and MIME type, the way before identifiers (`CFBundleTypeExtensions`, `CFBundleTypeMIMETypes`,
        /// `LSTypeIsPackage`). Which types these are depends on what is declared.
        case tags(extensions: [String], mimeTypes: [String], isPackage: Bool)
    }

    /// A few words for people (`CFBundleTypeName`); nil where the bundle has none.
    package var name: String?
    package var contents: Contents
    package var rank: HandlerRank
    package var role: HandlerRole

    package init(
        name: String? = nil,
        contents: Contents,
        rank: HandlerRank = .default,
        role: HandlerRole = .viewer
    ) {
        self.name = name
        self.contents = contents
        self.rank = rank
        self.role = role
    }

    /// The types it means, given what is declared: each extension or MIME type's declared type, or a dynamic one.
    package func types(in registry: TypeRegistry) -> [UniformType] {
        switch contents {
        case .types(let types): return types
        case .tags(let extensions, let mimeTypes, let isPackage):
            let kind: FileKind = isPackage ? .directory : .regularFile
            // What Apple's dynamic types for such entries conform to.
            let supertype: UniformType = isPackage ? .package : .data
            let named = extensions.compactMap { text in
                registry.type(forExtension: text, kind: kind)
                    ?? DynamicType(supertypes: [supertype], tags: [TypeTag(.filenameExtension, text)])?.type
            }
            let described = mimeTypes.compactMap { text in
                registry.type(forMIMEType: text)
                    ?? DynamicType(supertypes: [supertype], tags: [TypeTag(.mimeType, text)])?.type
            }
            return named + described
        }
    }
}
