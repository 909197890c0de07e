package import UniformTypes

extension ItemKind {
    /// The form of such an item on a disk.
    package var fileKind: FileKind { self == .tree ? .directory : .regularFile }

    /// Whether an item of this kind can have a type: a tree has a type of folders (packages among them), a text one of
    /// texts, a URL one of URLs, and a file any but a type of folders.
    ///
    /// Every kind admits a type if the registry declares neither the type nor one of its supertypes.
    package func admits(_ type: UniformType, by registry: TypeRegistry) -> Bool {
        let resolved = registry.resolved(type)
        let lineage = [resolved] + registry.supertypes(of: resolved).map(\.type)
        guard lineage.contains(where: registry.isDeclared) else { return true }
        let isOfFolders = lineage.contains(.directory)
        return switch self {
        case .tree: isOfFolders
        case .text: lineage.contains(.text) && !isOfFolders
        case .url: lineage.contains(.url) && !isOfFolders
        case .file: !isOfFolders
        }
    }

    /// Whether its contents can have the executable bit.
    package var canBeExecutable: Bool { self == .file || self == .tree }

    /// The rule that a refused type breaks, as the second half of a sentence.
    fileprivate var demand: String {
        switch self {
        case .tree: "a folder needs a type of folders, such as public.folder"
        case .text: "a text needs a type of texts, such as public.plain-text"
        case .url: "a URL needs a type of URLs, such as public.url"
        case .file: "a file cannot have a type of folders"
        }
    }
}

extension OfferedItem {
    /// Why its kind and its type disagree, in one line with the name and the type; nil if they agree.
    package func disagreement(by registry: TypeRegistry) -> String? {
        kind.admits(type, by: registry) ? nil : "\(name) cannot be of the type \(type): \(kind.demand)"
    }
}

extension Offer {
    /// The same offer, if kind and type of each item agree. Each dialect checks the offers that it receives with this,
    /// so that rules, limits and handlers can rely on an item's type (security rule 19).
    ///
    /// - Parameter registry: the types that are known here.
    /// - Throws: `protocolViolation` that names the first item whose kind and type do not agree.
    package func checked(by registry: TypeRegistry) throws(TransferError) -> Offer {
        struct Pair: Hashable {
            var kind: ItemKind
            var type: UniformType
        }
        // An offer can have tens of thousands of items, mostly of few types.
        var agreed: Set<Pair> = []
        for (number, item) in items.enumerated() {
            let pair = Pair(kind: item.kind, type: item.type)
            if agreed.contains(pair) { continue }
            if let disagreement = item.disagreement(by: registry) {
                throw TransferError(.protocolViolation, "the message is malformed: item \(number), \(disagreement)")
            }
            agreed.insert(pair)
        }
        return self
    }
}
