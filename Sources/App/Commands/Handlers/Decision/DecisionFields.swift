import ContentCheck
import HandlerCatalog
import Sharing
import UniformTypes

/// The handlers of a decision, for programs.
struct DecisionFields: Encodable {
    struct Handler: Encodable {
        var name: String
        var identifier: String
        /// `strict` or `none`.
        var sandbox: String?
        /// Absent without a sandbox.
        var permissions: HandlerPermissions?
    }

    struct Claimant: Encodable {
        var name: String
        var identifier: String
        /// The handler's type that covers the item, and the number of steps of conformance to it.
        var type: String?
        var steps: Int?
        var rank: String?
        var declaredRank: String?
        var role: String
        /// The type or scheme for which the user chose this handler.
        var defaultFor: String?
        /// The criterion that ranks this handler after the one before it.
        var decidedBy: String?
        var explanation: String?
    }

    struct PassedOver: Encodable {
        var name: String
        var identifier: String
        var reason: String
    }

    var claimants: [Claimant]
    var passedOver: [PassedOver]
    /// Handlers that would be asked, in order: after a no, the next one is asked.
    var asked: [Handler]
}

/// The whole decision about an item, for programs.
struct ItemDecisionFields: FieldGroups {
    struct Item: Encodable {
        var path: String?
        /// Whether something is there.
        var exists: Bool?
        /// `file` or `tree`, if known.
        var kind: String?
        var type: String
        var description: String?
        /// `consistent`, `unverified`, `mislabelled` or `lying`; absent if the content was not read.
        var content: String?
        var contentType: String?
        var contentExplanation: String?
        var handedOnAs: String
        /// Whether such an item could be sent here; if not, the reason.
        var eligible: Bool
        var reason: String?
    }

    var item: Item
    var handlers: DecisionFields

    var groups: [any Encodable] { [item, handlers] }
}

/// The whole decision about a URL, for programs.
struct SchemeChoiceFields: FieldGroups {
    struct URL: Encodable {
        var url: String
        var urlParts: URLParts
        /// Whether the URL's scheme is built in.
        var builtIn: Bool
        /// Whether a received URL of this scheme is opened at once, and not only stored.
        var openedWhenReceived: Bool
    }

    var url: URL
    var handlers: DecisionFields

    var groups: [any Encodable] { [url, handlers] }
}

extension HandlerText {
    func fields(_ decision: ItemDecision) -> ItemDecisionFields {
        let verdict = decision.finding?.verdict
        let reason: String? = if case .ineligible(let reason) = decision.eligibility { reason } else { nil }
        return ItemDecisionFields(
            item: ItemDecisionFields.Item(
                path: decision.path,
                exists: decision.path == nil ? nil : decision.exists,
                kind: decision.kind.map { ($0 == .directory ? ItemKind.tree : .file).rawValue },
                type: decision.type.identifier,
                description: snapshot.registry.description(of: decision.type),
                content: verdict?.outcome.rawValue,
                contentType: verdict?.contentType?.identifier,
                contentExplanation: verdict?.explanation,
                handedOnAs: decision.handedOnAs.identifier,
                eligible: decision.eligibility.isEligible,
                reason: reason),
            handlers: DecisionFields(
                claimants: decision.claims.map { claim in
                    DecisionFields.Claimant(
                        name: claim.bundle.name, identifier: claim.bundle.identifier.text,
                        type: claim.claimedType.identifier, steps: claim.steps, rank: claim.rank.rawValue,
                        declaredRank: claim.declaredRank.rawValue, role: claim.role.rawValue,
                        defaultFor: claim.boundType?.identifier, decidedBy: claim.decidedBy?.rawValue,
                        explanation: claim.explanation)
                },
                passedOver: Self.fields(decision.passedOver),
                asked: decision.asked.map { asked($0.bundle) }))
    }

    func fields(_ choice: SchemeChoice) -> SchemeChoiceFields {
        let isBuiltIn = if case .builtIn = choice.decision { true } else { false }
        return SchemeChoiceFields(
            url: SchemeChoiceFields.URL(
                url: choice.url.text, urlParts: choice.url, builtIn: isBuiltIn,
                openedWhenReceived: place.openedSchemes.contains(choice.url.scheme)),
            handlers: DecisionFields(
                claimants: choice.asked.map { claim in
                    DecisionFields.Claimant(
                        name: claim.bundle.name, identifier: claim.bundle.identifier.text, role: claim.role.rawValue,
                        defaultFor: claim.isDefault ? claim.scheme.text : nil)
                },
                passedOver: Self.fields(choice.passedOver),
                asked: choice.asked.map { asked($0.bundle) }))
    }

    private func asked(_ bundle: HandlerBundle) -> DecisionFields.Handler {
        DecisionFields.Handler(
            name: bundle.name, identifier: bundle.identifier.text,
            sandbox: bundle.executable.map { _ in bundle.launch.sandbox.rawValue }, permissions: permissions(of: bundle)
        )
    }

    private static func fields(_ list: [(bundle: HandlerBundle, reason: String)]) -> [DecisionFields.PassedOver] {
        list.map { bundle, reason in
            DecisionFields.PassedOver(name: bundle.name, identifier: bundle.identifier.text, reason: reason)
        }
    }
}
