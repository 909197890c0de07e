/// Who opens a URL.
package enum SchemeDecision: Hashable, Sendable {
    /// A scheme that means the same everywhere; no handler is asked.
    case builtIn(URLScheme)
    /// The handlers of its scheme, the one to be asked first first; none where nobody claims it.
    case handlers([SchemeClaim])
}

/// A handler that can open a URL.
package struct SchemeClaim: Hashable, Sendable {
    package let bundle: HandlerBundle
    package let scheme: URLScheme
    package let role: HandlerRole
    /// Whether the user chose it.
    package let isDefault: Bool
}

extension CatalogSnapshot {
    /// Who opens a URL: the user's default for its scheme, then by role, then the one installed first, then by identifier.
    package func schemeHandlers(for url: URLParts) -> SchemeDecision { schemeHandlers(for: url.scheme) }

    /// Who opens URLs of a scheme.
    package func schemeHandlers(for scheme: URLScheme) -> SchemeDecision {
        guard !scheme.isBuiltIn else { return .builtIn(scheme) }
        let claims = bundles.filter(isEnabled).compactMap { bundle -> SchemeClaim? in
            let roles = bundle.urlTypes.lazy.filter { $0.schemes.contains(scheme) && $0.role.opens }.map(\.role)
            guard let role = roles.min() else { return nil }
            return SchemeClaim(
                bundle: bundle,
                scheme: scheme,
                role: role,
                isDefault: choices.schemeDefaults[scheme] == bundle.identifier
            )
        }
        return .handlers(
            claims.sorted { left, right in
                if left.isDefault != right.isDefault { return left.isDefault }
                if left.role != right.role { return left.role < right.role }
                return HandlerBundle.isInstalledBefore(left.bundle, right.bundle)
            }
        )
    }

    /// The schemes that handlers in use claim, in alphabetical order.
    package var openedSchemes: [URLScheme] {
        Set(bundles.filter(isEnabled).flatMap(\.urlTypes).filter(\.role.opens).flatMap(\.schemes)).sorted()
    }
}
