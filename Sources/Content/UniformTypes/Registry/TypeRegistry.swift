/// The known types: the system's own, and those that bundles declare.
///
/// A value: adding gives another registry and leaves this one as it is, so one can be handed to any number of tasks
/// and replaced as a whole. A question about a type that is not declared has an answer too: it conforms to itself
/// and has no tags.
package struct TypeRegistry: Sendable {
    let additions: Additions

    /// The system's types alone: 764 of Apple's and 17 of Waft's for common formats that Apple has none for. Costs
    /// nothing to make; questions are answered out of the program's read-only data.
    package static var system: TypeRegistry { TypeRegistry(additions: Additions()) }

    /// The declaration of a type; nil for a type that is not declared, which includes dynamic ones.
    package func declaration(of type: UniformType) -> TypeDeclaration? {
        guard let declaration = SystemTable.declaration(of: type) else { return additions.declarations[type] }
        return TypeDeclaration(
            declaration.type,
            parents: declaration.parents,
            extensions: declaration.extensions,
            mimeTypes: declaration.mimeTypes,
            description: declaration.description
        )
    }

    /// Whether the system or a bundle declares the type.
    package func isDeclared(_ type: UniformType) -> Bool {
        SystemTable.declaration(of: type) != nil || additions.declarations[type] != nil
    }

    /// The types that a type conforms to in one step, in declared order; those in its identifier for a dynamic one.
    package func parents(of type: UniformType) -> [UniformType] {
        if let declaration = SystemTable.declaration(of: type) { return declaration.parents }
        if let declaration = additions.declarations[type] { return declaration.parents }
        return DynamicType(type)?.supertypes ?? []
    }

    /// A few words for people: the type's own, or those of the first type it conforms to that has some, searched
    /// depth-first in declared order.
    package func description(of type: UniformType) -> String? {
        var seen: Set<UniformType> = []
        var pending = [type]
        while let next = pending.popLast() {
            guard seen.insert(next).inserted else { continue }
            let system = SystemTable.declaration(of: next)
            if let text = system?.description ?? additions.declarations[next]?.description { return text }
            pending += parents(of: next).reversed()
        }
        return nil
    }

    /// The name for people: the description of the type or of a type above it, otherwise its identifier.
    package func name(of type: UniformType) -> String { description(of: type) ?? type.identifier }

    /// All declared types: the system's in the order of their lower-case identifiers, then the added ones in the order
    /// in which they were added, exported before imported.
    package var types: [UniformType] { SystemTable.types + additions.order }
}
