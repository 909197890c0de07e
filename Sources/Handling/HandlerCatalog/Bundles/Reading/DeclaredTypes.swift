import UniformTypes

/// The types of all bundles, merged: those of the bundle installed first take precedence.
struct DeclaredTypes {
    let registry: TypeRegistry
    /// The bundle that exports a type, if its export is in effect.
    let exporters: [UniformType: BundleIdentifier]
    /// Declarations, or parts of them, that did not take effect.
    let problems: [HandlerProblem]

    init(_ bundles: [HandlerBundle]) {
        let exported = bundles.flatMap { bundle in bundle.exportedTypes.map { (bundle: bundle, declaration: $0) } }
        let imported = bundles.flatMap { bundle in bundle.importedTypes.map { (bundle: bundle, declaration: $0) } }
        let (registry, refusals) = TypeRegistry.system.adding(
            exported: exported.map(\.declaration),
            imported: imported.map(\.declaration)
        )
        var exporters: [UniformType: BundleIdentifier] = [:]
        let refused = Set(refusals.lazy.filter { $0.origin == .exported && !$0.isPartial }.map(\.index))
        for (index, export) in exported.enumerated() where !refused.contains(index) {
            exporters[export.declaration.type] = export.bundle.identifier
        }
        self.registry = registry
        self.exporters = exporters
        problems = refusals.compactMap { refusal in
            let list = refusal.origin == .exported ? exported : imported
            guard list.indices.contains(refusal.index) else { return nil }
            let bundle = list[refusal.index].bundle
            return HandlerProblem(
                path: bundle.path,
                name: bundle.folderName,
                identifier: bundle.identifier,
                severity: .warning,
                reason: refusal.description
            )
        }
    }

    /// The rank that counts. No bundle owns a type that another bundle exports, or of which it only has a copy.
    func rank(_ declared: HandlerRank, of bundle: HandlerBundle, for type: UniformType) -> HandlerRank {
        guard declared == .owner else { return declared }
        if let exporter = exporters[type] { return exporter == bundle.identifier ? .owner : .default }
        return bundle.importedTypes.contains { $0.type == type } ? .default : .owner
    }
}
