import UniformTypes

/// A handler's claim to one type.
struct TypeClaim: Hashable, Sendable {
    let bundle: HandlerBundle
    let isEnabled: Bool
    let type: UniformType
    let declaredRank: HandlerRank
    /// The rank that counts: see `DeclaredTypes.rank`.
    let rank: HandlerRank
    let role: HandlerRole

    /// Whether its handler can be chosen because of this claim.
    var counts: Bool { isEnabled && rank != .none && role.opens }
}

/// All claims, by the types they name.
struct TypeClaims: Sendable {
    private var byType: [UniformType: [TypeClaim]] = [:]
    /// Claims to types that no bundle declares, by a tag.
    private var dynamic: [(claim: TypeClaim, type: DynamicType)] = []
    private let registry: TypeRegistry

    init(_ bundles: [HandlerBundle], choices: UserChoices, declared: DeclaredTypes) {
        registry = declared.registry
        for bundle in bundles {
            let isEnabled = !choices.disabled.contains(bundle.identifier)
            for documentType in bundle.documentTypes {
                for type in documentType.types(in: declared.registry) {
                    let claim = TypeClaim(
                        bundle: bundle,
                        isEnabled: isEnabled,
                        type: type,
                        declaredRank: documentType.rank,
                        rank: declared.rank(documentType.rank, of: bundle, for: type),
                        role: documentType.role
                    )
                    byType[type, default: []].append(claim)
                    if let dynamicType = DynamicType(type) { dynamic.append((claim, dynamicType)) }
                }
            }
        }
    }

    /// The claims to exactly this type. A type that no bundle declares also matches a claim to another such type, if it
    /// has all tags of that type and conforms to the same types (by default to `public.data`).
    func naming(_ type: UniformType) -> [TypeClaim] {
        let named = byType[type] ?? []
        guard !dynamic.isEmpty, let item = DynamicType(type) else { return named }
        let physical = item.supertypes.isEmpty ? .data : type
        let others = dynamic.lazy.filter { other in
            other.claim.type != type && other.type.tags.allSatisfy(item.tags.contains)
                && other.type.supertypes.allSatisfy { registry.conforms(physical, to: $0) }
        }
        return named + others.map(\.claim)
    }

    /// The types that handlers in use open, in the order of their identifiers.
    var openedTypes: [UniformType] {
        byType.filter { $0.value.contains(where: \.counts) }.keys
            .sorted { $0.identifier.lowercased() < $1.identifier.lowercased() }
    }
}
