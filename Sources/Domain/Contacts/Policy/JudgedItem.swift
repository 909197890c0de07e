import Sharing
import UniformTypes

/// An item with the properties that many rules compare, computed once.
struct JudgedItem {
    let item: OfferedItem
    /// The types that rules and limits compare: see `TypeMemo.types(of:)`.
    private let types: [UniformType]
    private var name: NamePattern.Name?

    init(_ item: OfferedItem, _ memo: inout TypeMemo) {
        self.item = item
        types = memo.types(of: item)
    }

    func conforms(toAnyOf wanted: [UniformType]) -> Bool { wanted.contains { types.contains($0) } }

    mutating func matches(anyOf patterns: [NamePattern]) -> Bool {
        let name = self.name ?? NamePattern.Name(item.name.text)
        self.name = name
        return patterns.contains { $0.matches(name) }
    }
}

/// The types that a type conforms to, stored for the items of one offer: most items have one of a few types.
struct TypeMemo {
    private let registry: TypeRegistry
    private var known: [Key: [UniformType]] = [:]

    private struct Key: Hashable {
        var type: UniformType
        var kind: FileKind
    }

    /// Maximum number of stored types: a stranger can offer as many types as items.
    private static let most = 256

    init(_ registry: TypeRegistry) {
        self.registry = registry
    }

    /// The item's type and all types that it conforms to. For a folder, declared types other than folder types are left
    /// out, except `public.item`, which matches everything: a rule for such a type is about a file, and the folder's
    /// content is unknown.
    mutating func types(of item: OfferedItem) -> [UniformType] {
        let key = Key(type: item.type, kind: item.kind.fileKind)
        if let types = known[key] { return types }
        var types = registry.reach(of: registry.resolved(item.type), kind: key.kind).map(\.type)
        if key.kind == .directory {
            types.removeAll { $0 != .item && registry.isDeclared($0) && !registry.conforms($0, to: .directory) }
        }
        if known.count < Self.most { known[key] = types }
        return types
    }
}
