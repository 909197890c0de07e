import ContentCheck
import Foundation
import HandlerCatalog
import ItemSources
import Sharing
import UniformTypes

/// The decision which handlers would open a URL.
struct SchemeChoice {
    let url: URLParts
    let decision: SchemeDecision
    /// Handlers that declare the scheme but cannot open the URL, each with the reason.
    let passedOver: [(bundle: HandlerBundle, reason: String)]

    init(_ url: URLParts, in snapshot: CatalogSnapshot) {
        self.url = url
        decision = snapshot.schemeHandlers(for: url)
        let chosen = Set(claims(decision).map(\.bundle.identifier))
        passedOver = snapshot.bundles.compactMap { bundle in
            let types = bundle.urlTypes.filter { $0.schemes.contains(url.scheme) }
            guard let first = types.first, !chosen.contains(bundle.identifier) else { return nil }
            if !snapshot.isEnabled(bundle) { return (bundle, "it is disabled") }
            return (bundle, "its role for \(url.scheme): URLs is \(first.role.rawValue): it does not open them")
        }
    }

    /// The handlers to be asked, in order; none for a scheme that is built in.
    var asked: [SchemeClaim] { claims(decision) }
}

private func claims(_ decision: SchemeDecision) -> [SchemeClaim] {
    switch decision {
    case .builtIn: []
    case .handlers(let claims): claims
    }
}
