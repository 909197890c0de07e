extension TypeRegistry {
    /// Whether a type is the other, or reaches it by way of its parents.
    package func conforms(_ type: UniformType, to other: UniformType) -> Bool {
        distance(from: type, to: other) != nil
    }

    /// The least number of steps from a type to one that it conforms to; 0 for itself, nil if it does not conform.
    package func distance(from type: UniformType, to other: UniformType) -> Int? {
        if type == other { return 0 }
        var walk = ConformanceWalk(from: type, in: self)
        while let step = walk.next() {
            if step.type == other { return step.distance }
        }
        return nil
    }

    /// Everything that a type conforms to besides itself, each once with the least number of steps to it; the nearest
    /// first, and those equally near in declared order.
    package func supertypes(of type: UniformType) -> [(type: UniformType, distance: Int)] {
        Array(IteratorSequence(ConformanceWalk(from: type, in: self)))
    }

    /// The type of an item and all types to which the item conforms, the nearest first.
    ///
    /// An item is always a file or a folder. If its type does not conform to `public.item`, for example because it is
    /// not declared here, then `public.data` or `public.directory`, and `public.item`, come last. Some types conform to
    /// both: a folder keeps no types of files, and a file none of folders. So a bundle of HTML pages conforms to
    /// `com.apple.package` and not to `public.html`.
    ///
    /// - Parameter kind: whether the item is a file or a folder; nil if unknown.
    package func reach(of type: UniformType, kind: FileKind?) -> [(type: UniformType, steps: Int)] {
        var reach = [(type: type, steps: 0)]
        reach += supertypes(of: type).map { (type: $0.type, steps: $0.distance) }
        if kind == .directory, reach.contains(where: { $0.type == .data }) {
            reach.removeAll { conforms($0.type, to: .data) && !conforms($0.type, to: .directory) }
        } else if kind == .regularFile, reach.contains(where: { $0.type == .directory }) {
            reach.removeAll { conforms($0.type, to: .directory) }
        } else if reach.contains(where: { $0.type == .item }) {
            return reach
        }
        let physical: UniformType? =
            switch kind {
            case .regularFile: .data
            case .directory: .directory
            case nil: nil
            }
        var steps = reach.last?.steps ?? 0
        for case let type? in [physical, .item] where !reach.contains(where: { $0.type == type }) {
            steps += 1
            reach.append((type, steps))
        }
        return reach
    }
}

/// Breadth-first through the parents of a type, which it leaves out itself. Ends even if there were a cycle.
private struct ConformanceWalk: IteratorProtocol {
    private let registry: TypeRegistry
    // The types found, in order; the parents of those before `expanded` have been looked up.
    private var found: [(type: UniformType, distance: Int)]
    // The same types, once there are many. A type of the system's has 9 supertypes at most, and searching so few is
    // quicker than hashing them; a bundle may declare a long chain.
    private var seen: Set<UniformType> = []
    private static let few = 32
    private var expanded = 0
    private var given = 1

    init(from type: UniformType, in registry: TypeRegistry) {
        self.registry = registry
        found = [(type, 0)]
    }

    mutating func next() -> (type: UniformType, distance: Int)? {
        while given == found.count, expanded < found.count {
            let (type, distance) = found[expanded]
            expanded += 1
            for parent in registry.parents(of: type) where isNew(parent) { found.append((parent, distance + 1)) }
        }
        guard given < found.count else { return nil }
        defer { given += 1 }
        return found[given]
    }

    private mutating func isNew(_ type: UniformType) -> Bool {
        guard found.count > Self.few else { return !found.contains { $0.type == type } }
        if seen.isEmpty { seen = Set(found.lazy.map(\.type)) }
        return seen.insert(type).inserted
    }
}
