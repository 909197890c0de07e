/// The handlers that open a URL.
package enum SchemeDecision: Hashable, Sendable {
    /// The scheme means the same everywhere; no handler is asked.
    case builtIn(URLScheme)
    /// The handlers of its scheme, in the order in which they are asked; empty if no handler claims the scheme.
    case handlers([SchemeClaim])
}

/// A handler that can open a URL.
package struct SchemeClaim: Hashable, Sendable {
    package let bundle: HandlerBundle
    package let scheme: URLScheme
    package let role: HandlerRole
    /// Whether the user chose this handler.
    package let isDefault: Bool
}

extension CatalogSnapshot {
    /// The handlers of a URL: the user's default for its scheme, then by role, time of installation and identifier.
    package func schemeHandlers(for url: URLParts) -> SchemeDecision { schemeHandlers(for: url.scheme) }

    /// The handlers of URLs of a scheme.
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
