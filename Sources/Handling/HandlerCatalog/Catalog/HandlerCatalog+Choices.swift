package import UniformTypes

extension CatalogSnapshot {
    /// The usable bundle with a name that a person typed: its identifier, its folder's name (with or without
    /// `.handler`) or its own name. Case is ignored only if no name matches exactly.
    ///
    /// - Throws: `CatalogError` `unknownHandler`, `ambiguousName`.
    package func bundle(named name: String) throws(CatalogError) -> HandlerBundle {
        let all = handlers
        let plain = name.hasSuffix(BundleFolder.suffix) ? String(name.dropLast(BundleFolder.suffix.count)) : name
        let lowercased = plain.lowercased()
        let ways: [(HandlerBundle) -> Bool] = [
            { $0.identifier.text.lowercased() == name.lowercased() },
            { $0.folderName == plain },
            { $0.name == plain },
            { $0.folderName.lowercased() == lowercased || $0.name.lowercased() == lowercased },
            { $0.shownName.lowercased() == lowercased },
        ]
        for matches in ways {
            let found = all.filter(matches)
            if found.count > 1 { throw .ambiguousName(name, found.map(\.identifier)) }
            if let bundle = found.first { return bundle }
        }
        throw .unknownHandler(name, among: all.map(\.shownName))
    }
}

extension HandlerBundle {
    /// - Throws: `CatalogError` `notYours` for the hook and built-in handlers.
    func checkInstalled() throws(CatalogError) {
        switch origin {
        case .builtIn: throw .builtIn
        case .configuration: throw .hook
        case .user, .machine, .distribution: break
        }
    }
}

extension HandlerCatalog {
    /// Enables a handler again.
    ///
    /// - Parameter name: as in `CatalogSnapshot.bundle(named:)`.
    /// - Throws: `CatalogError` `unknownHandler`, `ambiguousName`, `notYours` (the hook, built-in handlers), `storage`.
    /// - Returns: the handler.
    @discardableResult
    package func enable(_ name: String) throws(CatalogError) -> HandlerBundle {
        try choose(name) { choices, bundle in choices.disabled.remove(bundle.identifier) }
    }

    /// Disables a handler, as if it were not installed. Keeps the user's defaults for it.
    ///
    /// - Throws: as `enable`.
    /// - Returns: the handler.
    @discardableResult
    package func disable(_ name: String) throws(CatalogError) -> HandlerBundle {
        try choose(name) { choices, bundle in choices.disabled.insert(bundle.identifier) }
    }

    private func choose(
        _ name: String,
        _ body: (inout UserChoices, HandlerBundle) -> Void
    ) throws(CatalogError) -> HandlerBundle {
        let bundle = try load().bundle(named: name)
        try bundle.checkInstalled()
        try change { body(&$0, bundle) }
        return bundle
    }

    /// Asks a handler first for items of a type, and of subtypes as far as it opens them. With `inbox`, such items are
    /// left in the Inbox.
    ///
    /// - Throws: `CatalogError` `unknownHandler`, `ambiguousName`, `unfit` if it does not open the type, `storage`.
    /// - Returns: the handler.
    @discardableResult
    package func setDefault(_ name: String, for type: UniformType) throws(CatalogError) -> HandlerBundle {
        let snapshot = load()
        let bundle = try snapshot.bundle(named: name)
        guard bundle.origin != .configuration else { throw .hookIsLast }
        guard snapshot.isEnabled(bundle) else { throw .disabled(bundle.name) }
        let opens = snapshot.claimants(of: type).contains { $0.bundle.identifier == bundle.identifier }
        guard opens else { throw .doesNotOpen(bundle.name, type.words) }
        let type = snapshot.registry.resolved(type)
        try change { $0.typeDefaults[type] = bundle.identifier }
        return bundle
    }

    /// Asks a handler first for URLs of a scheme.
    ///
    /// - Throws: `CatalogError` `unknownHandler`, `ambiguousName`, `unfit` if it does not open the scheme or the scheme
    ///   is built in, `storage`.
    /// - Returns: the handler.
    @discardableResult
    package func setDefault(_ name: String, for scheme: URLScheme) throws(CatalogError) -> HandlerBundle {
        let snapshot = load()
        let bundle = try snapshot.bundle(named: name)
        guard snapshot.isEnabled(bundle) else { throw .disabled(bundle.name) }
        switch snapshot.schemeHandlers(for: scheme) {
        case .builtIn: throw .unfit("\(scheme): is built in; no handler can be the default for it")
        case .handlers(let claims):
            guard claims.contains(where: { $0.bundle.identifier == bundle.identifier }) else {
                throw .doesNotOpen(bundle.name, "\(scheme): URLs")
            }
        }
        try change { $0.schemeDefaults[scheme] = bundle.identifier }
        return bundle
    }

    /// Removes the user's default for this type only.
    ///
    /// - Throws: `CatalogError` `storage`.
    /// - Returns: the identifier of the default; nil if there was none.
    @discardableResult
    package func removeDefault(for type: UniformType) throws(CatalogError) -> BundleIdentifier? {
        var removed: BundleIdentifier?
        guard choicesFile.read().choices.typeDefaults[type] != nil else { return nil }
        try change { removed = $0.typeDefaults.removeValue(forKey: type) }
        return removed
    }

    /// Removes the user's default for a scheme.
    ///
    /// - Throws: `CatalogError` `storage`.
    /// - Returns: the identifier of the default; nil if there was none.
    @discardableResult
    package func removeDefault(for scheme: URLScheme) throws(CatalogError) -> BundleIdentifier? {
        var removed: BundleIdentifier?
        guard choicesFile.read().choices.schemeDefaults[scheme] != nil else { return nil }
        try change { removed = $0.schemeDefaults.removeValue(forKey: scheme) }
        return removed
    }

    func change(_ body: (inout UserChoices) -> Void) throws(CatalogError) {
        do {
            try choicesFile.change(body)
        } catch {
            throw .storage(choicesPath, error)
        }
    }
}
