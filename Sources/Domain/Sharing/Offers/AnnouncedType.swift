package import UniformTypes

/// Finds the type of an offered file or folder.
package enum AnnouncedType {
    /// The more specific of the announced type and the type of the name. If neither conforms to the other, the nearest
    /// type that both conform to: a script announced as a picture is neither. An announced type that does not fit the
    /// kind is ignored.
    ///
    /// - Parameters:
    ///   - said: the announced type; nil for none, or one that cannot be read.
    ///   - name: composed.
    ///   - kind: a file or a tree.
    package static func of(
        said: UniformType?, name: String, kind: ItemKind, _ registry: TypeRegistry
    ) -> UniformType {
        let named = registry.type(forFileName: name, kind: kind.fileKind)
        guard let said = said.map(registry.resolved), kind.admits(said, by: registry) else { return named }
        if registry.conforms(said, to: named) { return said }
        if registry.conforms(named, to: said) { return named }
        // An undeclared type contradicts nothing.
        if !registry.isDeclared(named) || named == .data || named == .folder { return said }
        if !registry.isDeclared(said) { return named }
        let common = registry.supertypes(of: said).map(\.type).first { registry.conforms(named, to: $0) }
        guard let common, kind.admits(common, by: registry) else { return named }
        return common
    }
}
