package import UniformTypes

/// How strongly a handler claims a type (`LSHandlerRank`).
package enum HandlerRank: String, Hashable, Sendable, CaseIterable {
    /// The handler makes files of this type.
    case owner = "Owner"
    /// The handler opens them. The default if a bundle gives no rank.
    case `default` = "Default"
    /// The handler can show them.
    case alternate = "Alternate"
    /// The handler is never chosen to open them.
    case none = "None"
}

extension HandlerRank: Comparable {
    /// The stronger rank is the lesser one: it comes first.
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

/// How a handler uses the items that it opens (`CFBundleTypeRole`).
package enum HandlerRole: String, Hashable, Sendable, CaseIterable {
    /// Reads, changes and saves the item.
    case editor = "Editor"
    /// Reads the item. The default if a bundle gives no role.
    case viewer = "Viewer"
    /// Runs the item.
    case shell = "Shell"
    /// Draws previews of the item: does not open it.
    case previewGenerator = "QLGenerator"
    /// Describes the item to a search index: does not open it.
    case importer = "MDImporter"
    /// Knows the item's name, not its contents: does not open it.
    case none = "None"

    /// Whether a handler in this role can be chosen to open an item.
    package var opens: Bool {
        switch self {
        case .editor, .viewer, .shell: true
        case .previewGenerator, .importer, .none: false
        }
    }
}

extension HandlerRole: Comparable {
    package static func < (left: HandlerRole, right: HandlerRole) -> Bool { left.order < right.order }

    /// The position of the role in their order, from 0.
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

/// Types that a handler declares that it opens: an element of `CFBundleDocumentTypes`.
package struct DocumentType: Hashable, Sendable {
    /// How a bundle names the types.
    package enum Contents: Hashable, Sendable {
        /// By identifier (`LSItemContentTypes`).
        case types([UniformType])
        /// By extension and MIME type, the form that is older than identifiers (`CFBundleTypeExtensions`,
        /// `CFBundleTypeMIMETypes`, `LSTypeIsPackage`). The types depend on the declared ones.
        case tags(extensions: [String], mimeTypes: [String], isPackage: Bool)
    }

    /// A few words for people (`CFBundleTypeName`); nil if the bundle has none.
    package var name: String?
    package var contents: Contents
    package var rank: HandlerRank
    package var role: HandlerRole
    /// Names of picture files below the bundle (`CFBundleTypeIconFiles`); they may be missing.
    package var iconFiles: [String]

    package init(
        name: String? = nil,
        contents: Contents,
        rank: HandlerRank = .default,
        role: HandlerRole = .viewer,
        iconFiles: [String] = []
    ) {
        self.name = name
        self.contents = contents
        self.rank = rank
        self.role = role
        self.iconFiles = iconFiles
    }

    /// The types of this entry, by the registry: each extension's or MIME type's declared type, or a dynamic one.
    package func types(in registry: TypeRegistry) -> [UniformType] {
        switch contents {
        case .types(let types): return types
        case .tags(let extensions, let mimeTypes, let isPackage):
            let kind: FileKind = isPackage ? .directory : .regularFile
            // The supertype of Apple's dynamic types for such entries.
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
