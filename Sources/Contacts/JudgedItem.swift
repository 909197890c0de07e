import Sharing
import UniformTypes

/// An item with what many rules ask of it, found out once.
struct JudgedItem {
    let item: OfferedItem
    /// Its own type and all that it conforms to.
    private let types: [UniformType]
    private var name: NamePattern.Name?

    init(_ item: OfferedItem, _ memo: inout TypeMemo) {
        self.item = item
        types = memo.types(of: item.type)
    }

    func conforms(toAnyOf wanted: [UniformType]) -> Bool { wanted.contains { types.contains($0) } }

    mutating func matches(anyOf patterns: [NamePattern]) -> Bool {
        let name = self.name ?? NamePattern.Name(item.name.text)
        self.name = name
        return patterns.contains { $0.matches(name) }
    }
}

/// What types conform to, for the items of one offer: they are mostly of few types.
struct TypeMemo {
    private let registry: TypeRegistry
    private var known: [UniformType: [UniformType]] = [:]
    /// A stranger can offer as many types as items.
    private static let most = 256

    init(_ registry: TypeRegistry) {
        self.registry = registry
    }

    mutating func types(of type: UniformType) -> [UniformType] {
        if let types = known[type] { return types }
        let resolved = registry.resolved(type)
        let types = [resolved] + registry.supertypes(of: resolved).map(\.type)
        if known.count < Self.most { known[type] = types }
        return types
    }
}
