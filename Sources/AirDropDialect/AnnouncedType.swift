import Sharing
import UniformTypes

/// The type of a file or folder that is asked about.
enum AnnouncedType {
    /// The more special one of the type that is announced and the type that the name says. Where they contradict each
    /// other, the nearest type that both conform to: a script that is announced as a picture is neither. An announced
    /// type that such a kind of item cannot have counts for nothing.
    ///
    /// - Parameters:
    ///   - said: the announced type; nil for none, or one that cannot be read.
    ///   - name: composed.
    ///   - kind: a file or a tree.
    static func of(said: UniformType?, name: String, kind: ItemKind, _ registry: TypeRegistry) -> UniformType {
        let named = registry.type(forFileName: name, kind: kind.fileKind)
        guard let said = said.map(registry.resolved), kind.admits(said, by: registry) else { return named }
        if registry.conforms(said, to: named) { return said }
        if registry.conforms(named, to: said) { return named }
        // A type that nobody here declares contradicts nothing.
        if !registry.isDeclared(named) || named == .data || named == .folder { return said }
        if !registry.isDeclared(said) { return named }
        let common = registry.supertypes(of: said).map(\.type).first { registry.conforms(named, to: $0) }
        guard let common, kind.admits(common, by: registry) else { return named }
        return common
    }
}
