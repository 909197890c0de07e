import ContentCheck
import HandlerCatalog
import Sharing
import UniformTypes

/// The names of a document's icons in the themes of desktops, and the picture of its handler.
struct DocumentIcon {
    /// `image-jpeg`.
    let name: String
    /// `image-x-generic`: every theme has it.
    let genericName: String
    /// The absolute path of a picture in the bundle of the first handler of the type.
    let file: String?

    /// - Parameter snapshot: the handlers.
    init(_ type: UniformType, kind: FileKind, in snapshot: CatalogSnapshot) {
        name = snapshot.registry.iconName(of: type, kind: kind)
        genericName = snapshot.registry.genericIconName(of: type, kind: kind)
        let claim = snapshot.claimants(of: type, kind: kind).first { snapshot.isEnabled($0.bundle) }
        file = claim.flatMap { $0.bundle.iconFile(of: $0.claimedType, in: snapshot.registry) }
    }

    /// For people; escaped.
    var words: String {
        ([name, genericName] + [file].compactMap(\.self)).map { TerminalText.escaped($0, limit: 4_096) }
            .joined(separator: ", ")
    }
}
