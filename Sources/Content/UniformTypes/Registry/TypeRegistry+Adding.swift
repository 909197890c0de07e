extension TypeRegistry {
    /// This registry and the declarations of bundles, in the order of installation.
    ///
    /// - The system's declarations stay as they are, with their parents and tags. An import of one of its types is an
    ///   unneeded copy; an export of one is refused.
    /// - An exported declaration goes before an imported one of the same type, whichever came first; between two
    ///   exports, or two imports, the older stands and the other is left aside as a whole.
    /// - `public.` and `com.apple.` are reserved: such types can only be imported. Dynamic identifiers are refused.
    /// - Parents that nothing declares are left out. A declaration that would close a cycle is refused, exports before
    ///   imports, the older one standing.
    ///
    /// The earlier additions of this registry come first in both lists, and everything is judged again: an imported
    /// type may now be exported, an unknown parent may now be known. The refusals, whose indices count from there,
    /// cover the whole result; unneeded imports are not among them.
    package func adding(
        exported: [TypeDeclaration],
        imported: [TypeDeclaration]
    ) -> (registry: TypeRegistry, refusals: [DeclarationRefusal]) {
        var builder = AdditionsBuilder()
        for (index, declaration) in (additions.exported + exported).enumerated() {
            builder.take(declaration, .exported, index)
        }
        for (index, declaration) in (additions.imported + imported).enumerated() {
            builder.take(declaration, .imported, index)
        }
        let (result, refusals) = builder.finish(
            exported: additions.exported + exported,
            imported: additions.imported + imported
        )
        return (TypeRegistry(additions: result), refusals)
    }
}

/// The declarations of bundles, indexed.
struct Additions: Sendable {
    // As given: the start of a further `adding`.
    fileprivate(set) var exported: [TypeDeclaration] = []
    fileprivate(set) var imported: [TypeDeclaration] = []

    /// The declarations that hold, without their refused parts.
    fileprivate(set) var declarations: [UniformType: TypeDeclaration] = [:]
    /// Their types, exported before imported, the oldest first.
    fileprivate(set) var order: [UniformType] = []
    /// The types that claim a normalized tag, in order of preference.
    fileprivate(set) var extensions: [String: [UniformType]] = [:]
    fileprivate(set) var mimeTypes: [String: [UniformType]] = [:]
}

/// Judges declarations one after the other. Parents may be declared later, so they are judged at the end.
private struct AdditionsBuilder {
    private struct Candidate {
        var declaration: TypeDeclaration
        let origin: DeclarationRefusal.Origin
        let index: Int
    }

    private var candidates: [UniformType: Candidate] = [:]
    private var order: [UniformType] = []
    /// Every parent that something taken names.
    private var named: Set<UniformType> = []
    private var refusals: [DeclarationRefusal] = []

    mutating func take(_ declaration: TypeDeclaration, _ origin: DeclarationRefusal.Origin, _ index: Int) {
        let candidate = Candidate(declaration: declaration, origin: origin, index: index)
        switch judge(declaration, origin) {
        case .take:
            candidates[declaration.type] = candidate
            order.append(declaration.type)
            named.formUnion(declaration.parents)
        case .notNeeded: break
        case .refuse(let reason): refuse(candidate, reason)
        }
    }

    private enum Judgement {
        case take
        case notNeeded
        case refuse(DeclarationRefusal.Reason)
    }

    private func judge(_ declaration: TypeDeclaration, _ origin: DeclarationRefusal.Origin) -> Judgement {
        let type = declaration.type
        if type.isDynamic { return .refuse(.reservedIdentifier) }
        switch origin {
        case .exported:
            if type.isPublic || type.identifier.hasPrefix(caseInsensitive: "com.apple.") {
                return .refuse(.reservedIdentifier)
            }
            if SystemTable.declaration(of: type) != nil { return .refuse(.declaredBySystem) }
            if candidates[type] != nil { return .refuse(.exportedBefore) }
        case .imported:
            if SystemTable.declaration(of: type) != nil || candidates[type] != nil { return .notNeeded }
        }
        guard declaration.parents.count <= TypeDeclaration.Limits.parents,
            declaration.extensions.count <= TypeDeclaration.Limits.tags,
            declaration.mimeTypes.count <= TypeDeclaration.Limits.tags
        else { return .refuse(.tooLarge) }
        guard candidates.count < TypeDeclaration.Limits.declarations else { return .refuse(.tooManyDeclarations) }
        if closesCycle(declaration) { return .refuse(.cycle) }
        return .take
    }

    /// Whether the type can be reached from its parents through the taken declarations. The system's types conform only
    /// to each other, so the path contains candidates only.
    private func closesCycle(_ declaration: TypeDeclaration) -> Bool {
        // A type that no declaration names cannot be reached; this spares the walk in all but hostile bundles.
        guard named.contains(declaration.type) || declaration.parents.contains(declaration.type) else { return false }
        var seen: Set<UniformType> = []
        var pending = declaration.parents
        while let next = pending.popLast() {
            if next == declaration.type { return true }
            guard seen.insert(next).inserted else { continue }
            pending += candidates[next]?.declaration.parents ?? []
        }
        return false
    }

    private mutating func refuse(_ candidate: Candidate, _ reason: DeclarationRefusal.Reason) {
        refusals.append(
            DeclarationRefusal(
                type: candidate.declaration.type,
                origin: candidate.origin,
                index: candidate.index,
                reason: reason
            )
        )
    }

    /// Leaves out unknown parents and malformed tags, and makes the indices.
    mutating func finish(
        exported: [TypeDeclaration],
        imported: [TypeDeclaration]
    ) -> (Additions, [DeclarationRefusal]) {
        var additions = Additions()
        additions.exported = exported
        additions.imported = imported
        additions.order = order
        for type in order {
            guard let candidate = candidates[type] else { continue }
            additions.declarations[type] = cleaned(candidate)
        }
        // Between several types with a tag, Apple prefers public ones; those can only be imported.
        for type in order.filter(\.isPublic) + order.filter({ !$0.isPublic }) {
            guard let declaration = additions.declarations[type] else { continue }
            for tag in declaration.extensions { additions.extensions[tag, default: []].append(type) }
            for tag in declaration.mimeTypes {
                if let key = MIMEType.normalized(tag) { additions.mimeTypes[key, default: []].append(type) }
            }
        }
        return (additions, refusals)
    }

    private mutating func cleaned(_ candidate: Candidate) -> TypeDeclaration {
        var declaration = candidate.declaration
        declaration.parents = declaration.parents.filter { parent in
            let isKnown = SystemTable.declaration(of: parent) != nil || candidates[parent] != nil
            if !isKnown { refuse(candidate, .unknownParent(parent)) }
            return isKnown
        }
        declaration.extensions = declaration.extensions.enumerated().compactMap { index, tag in
            let normalized = FilenameExtension.normalized(tag)
            if normalized == nil { refuse(candidate, .malformedExtension(at: index)) }
            return normalized
        }
        declaration.mimeTypes = declaration.mimeTypes.enumerated().compactMap { index, tag in
            let isWellFormed = MIMEType.normalized(tag) != nil
            if !isWellFormed { refuse(candidate, .malformedMIMEType(at: index)) }
            return isWellFormed ? tag : nil
        }
        if let text = declaration.description,
            text.utf8.prefix(TypeDeclaration.Limits.descriptionByteCount + 1).count
                > TypeDeclaration.Limits.descriptionByteCount
        {
            declaration.description = nil
        }
        return declaration
    }
}
