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
