/// The declaration of a type: by the system's table, or by a bundle under `UTExportedTypeDeclarations` or
/// `UTImportedTypeDeclarations`.
package struct TypeDeclaration: Hashable, Sendable {
    /// The type (`UTTypeIdentifier`), in the case in which it was declared.
    package var type: UniformType

    /// The types that it conforms to directly (`UTTypeConformsTo`), in declared order.
    package var parents: [UniformType]

    /// File name extensions without the first dot (`public.filename-extension`), the preferred one first.
    package var extensions: [String]

    /// MIME types (`public.mime-type`), the preferred one first.
    package var mimeTypes: [String]

    /// A few words for people (`UTTypeDescription`); nil if none are declared.
    package var description: String?

    /// Nothing is checked here: `TypeRegistry.adding(exported:imported:)` does.
    package init(
        _ type: UniformType,
        parents: [UniformType] = [],
        extensions: [String] = [],
        mimeTypes: [String] = [],
        description: String? = nil
    ) {
        self.type = type
        self.parents = parents
        self.extensions = extensions
        self.mimeTypes = mimeTypes
        self.description = description
    }

    /// The limits of a declaration by a bundle.
    package enum Limits {
        /// Parents of one type.
        package static let parents = 16

        /// Extensions of one type, and MIME types of one type.
        package static let tags = 256

        /// Bytes of a description; a longer one is left out.
        package static let descriptionByteCount = 1024

        /// Exported and imported declarations in one registry, together.
        package static let declarations = 1024
    }
}
