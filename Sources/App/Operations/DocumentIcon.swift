import ContentCheck
package import HandlerCatalog
package import UniformTypes

/// The names of a document's icons in the themes of desktops, and the picture of its handler.
package struct DocumentIcon {
    /// `image-jpeg`.
    package let name: String
    /// `image-x-generic`: every theme has it.
    package let genericName: String
    /// The absolute path of a picture in the bundle of the first handler of the type.
    package let file: String?

    /// - Parameter snapshot: the handlers.
    package init(_ type: UniformType, kind: FileKind, in snapshot: CatalogSnapshot) {
        name = snapshot.registry.iconName(of: type, kind: kind)
        genericName = snapshot.registry.genericIconName(of: type, kind: kind)
        let claim = snapshot.claimants(of: type, kind: kind).first { snapshot.isEnabled($0.bundle) }
        file = claim.flatMap { $0.bundle.iconFile(of: $0.claimedType, in: snapshot.registry) }
    }
}
