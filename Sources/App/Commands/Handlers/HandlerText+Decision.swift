import ContentCheck
import HandlerCatalog
import Sharing
import UniformTypes

extension HandlerText {
    /// The whole decision about an item.
    func lines(_ decision: ItemDecision) -> [String] {
        let subject = decision.path.map { "\(Self.path($0)): " } ?? ""
        let kind = decision.path != nil && !decision.exists ? ", by its type only: the file does not exist" : ""
        var lines = ["\(subject)\(typeWords(decision.type))\(kind)"]
        if let finding = decision.finding {
            let words = ContentWords.line(
                declared: decision.type, finding.words, finding.verdict, snapshot.registry)
            lines.append("  \(words)")
        }
        if decision.handedOnAs != decision.type { lines.append("  handed on as \(typeWords(decision.handedOnAs))") }
        if snapshot.rule == .handlers {
            switch decision.eligibility {
            case .eligible: lines.append("  can be sent here: yes")
            case .ineligible(let reason):
                lines.append("  can be sent here: no: \(TerminalText.escaped(reason, limit: 400))")
            }
        }
        lines += decision.claims.enumerated().map { index, claim in
            "  \(index + 1). \(Self.name(claim.bundle))  \(TerminalText.escaped(claim.explanation, limit: 600))"
        }
        lines += passedOver(decision.passedOver) + ["  \(outcome(decision))"]
        guard decision.eligibility.isEligible, !decision.isLying, let first = decision.asked.first else { return lines }
        return lines + permissionLines(of: first.bundle)
    }

    /// The handlers that get the item, or the reason why none does.
    func outcome(_ decision: ItemDecision) -> String {
        if case .ineligible = decision.eligibility { return "no handler gets it: it cannot be sent here" }
        if decision.isLying {
            return "no handler gets it: its content does not match its type; it stays in the Inbox, marked"
        }
        return chain(decision.asked.map(\.bundle)) ?? "no handler gets it: it stays in the Inbox"
    }

    private func chain(_ bundles: [HandlerBundle]) -> String? {
        guard let first = bundles.first else { return nil }
        let next = bundles.dropFirst().first.map { "; if it says no, \(Self.name($0)) is asked" } ?? ""
        return "\(Self.name(first)) gets it\(next)"
    }

    /// The whole decision about a URL.
    func lines(_ choice: SchemeChoice) -> [String] {
        let scheme = choice.url.scheme
        var lines = ["\(TerminalText.escaped(choice.url.text, limit: 400)): a URL of the scheme \(scheme)"]
        switch choice.decision {
        case .builtIn:
            lines.append("  \(scheme): is built in: waft open hands it to xdg-open; no handler can claim it")
        case .handlers(let claims):
            lines += claims.enumerated().map { index, claim in
                let isDefault = claim.isDefault ? "your default for \(scheme):; " : ""
                return "  \(index + 1). \(Self.name(claim.bundle))  \(isDefault)role \(claim.role.rawValue)"
            }
            let outcome = chain(claims.map(\.bundle)) ?? "no handler opens it: \(otherSchemes)"
            lines += passedOver(choice.passedOver) + ["  \(outcome)"]
        }
        let received =
            place.openedSchemes.contains(scheme)
            ? "opened at once, because openReceivedURLs in the configuration lists its scheme" : "stored, not opened"
        lines.append("  when received: \(received)")
        return lines + (choice.asked.first.map { permissionLines(of: $0.bundle) } ?? [])
    }

    /// The schemes that handlers here open, as advice about a scheme that none opens.
    var otherSchemes: String {
        let schemes = snapshot.openedSchemes.map { "\($0):" }
        let shown = schemes.prefix(20).joined(separator: ", ")
        let more = schemes.count > 20 ? " and \(schemes.count - 20) more" : ""
        return schemes.isEmpty ? "no handler here opens URLs" : "handlers here open \(shown)\(more)"
    }

    private func passedOver(_ list: [(bundle: HandlerBundle, reason: String)]) -> [String] {
        list.map { "  not asked: \(Self.name($0.bundle)): \(TerminalText.escaped($0.reason, limit: 400))" }
    }

    private func typeWords(_ type: UniformType) -> String {
        let description = snapshot.registry.description(of: type).map { " (\(Self.escaped($0)))" } ?? ""
        return "\(type)\(description)"
    }
}

/// The whole decision, for programs: one JSON document.
struct HandlerDecisionDocument: Encodable {
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

    var v = 1
    /// `handlerDecision` or `schemeDecision`.
    var event: EventName
    var path: String?
    /// Whether something is there.
    var exists: Bool?
    /// `file` or `tree`, if known.
    var kind: String?
    var type: String?
    var description: String?
    /// `consistent`, `unverified`, `mislabelled` or `lying`; absent if the content was not read.
    var content: String?
    var contentType: String?
    var contentExplanation: String?
    var handedOnAs: String?
    /// Whether such an item could be sent here; if not, the reason.
    var eligible: Bool?
    var reason: String?
    var url: String?
    var urlParts: URLParts?
    /// Whether the URL's scheme is built in.
    var builtIn: Bool?
    /// Whether a received URL of this scheme is opened at once, and not only stored.
    var openedWhenReceived: Bool?
    var claimants: [Claimant]
    var passedOver: [PassedOver]
    /// Handlers that would be asked, in order: after a no, the next one is asked.
    var asked: [Handler]
}

extension HandlerText {
    func document(_ decision: ItemDecision) -> HandlerDecisionDocument {
        var document = HandlerDecisionDocument(
            event: .handlerDecision,
            claimants: decision.claims.map { claim in
                HandlerDecisionDocument.Claimant(
                    name: claim.bundle.name, identifier: claim.bundle.identifier.text,
                    type: claim.claimedType.identifier, steps: claim.steps, rank: claim.rank.rawValue,
                    declaredRank: claim.declaredRank.rawValue, role: claim.role.rawValue,
                    defaultFor: claim.boundType?.identifier, decidedBy: claim.decidedBy?.rawValue,
                    explanation: claim.explanation)
            },
            passedOver: Self.documents(decision.passedOver),
            asked: decision.asked.map { asked($0.bundle) }
        )
        document.path = decision.path
        document.exists = decision.path == nil ? nil : decision.exists
        document.kind = decision.kind.map { ($0 == .directory ? ItemKind.tree : .file).rawValue }
        document.type = decision.type.identifier
        document.description = snapshot.registry.description(of: decision.type)
        let verdict = decision.finding?.verdict
        document.content = verdict?.outcome.rawValue
        document.contentType = verdict?.contentType?.identifier
        document.contentExplanation = verdict?.explanation
        document.handedOnAs = decision.handedOnAs.identifier
        document.eligible = decision.eligibility.isEligible
        if case .ineligible(let reason) = decision.eligibility { document.reason = reason }
        return document
    }

    func document(_ choice: SchemeChoice) -> HandlerDecisionDocument {
        let isBuiltIn = if case .builtIn = choice.decision { true } else { false }
        var document = HandlerDecisionDocument(
            event: .schemeDecision,
            claimants: choice.asked.map { claim in
                HandlerDecisionDocument.Claimant(
                    name: claim.bundle.name, identifier: claim.bundle.identifier.text, role: claim.role.rawValue,
                    defaultFor: claim.isDefault ? claim.scheme.text : nil)
            },
            passedOver: Self.documents(choice.passedOver),
            asked: choice.asked.map { asked($0.bundle) }
        )
        document.url = choice.url.text
        document.urlParts = choice.url
        document.builtIn = isBuiltIn
        document.openedWhenReceived = place.openedSchemes.contains(choice.url.scheme)
        return document
    }

    private func asked(_ bundle: HandlerBundle) -> HandlerDecisionDocument.Handler {
        HandlerDecisionDocument.Handler(
            name: bundle.name, identifier: bundle.identifier.text,
            sandbox: bundle.executable.map { _ in bundle.launch.sandbox.rawValue }, permissions: permissions(of: bundle)
        )
    }

    private static func documents(
        _ list: [(bundle: HandlerBundle, reason: String)]
    ) -> [HandlerDecisionDocument.PassedOver] {
        list.map { bundle, reason in
            HandlerDecisionDocument.PassedOver(name: bundle.name, identifier: bundle.identifier.text, reason: reason)
        }
    }
}
