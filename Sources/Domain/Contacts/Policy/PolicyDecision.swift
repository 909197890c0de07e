package import Sharing
package import UniformTypes

/// The outcome for an item, its destination, and the reason.
package struct PolicyDecision: Sendable {
    /// The line of the table at `Policy` that decided.
    package enum Basis: Hashable, Sendable {
        case blocked
        case nothingTaken
        case invisible
        case contactsOnly
        /// The rule with this number, from 1.
        case rule(Int)
        /// A rule would accept the item, but a stranger sends it.
        case strangersAreAsked(rule: Int)
        /// A rule or the contact's policy would accept the item, but it exceeds the contact's limits.
        case limits(AcceptanceLimits.Breach)
        /// The contact's own policy.
        case contact
        /// The option for the receiver as a whole (`--accept`).
        case receiver
        case stranger
        /// A spoken code lets this transfer in.
        case permit
    }

    package let outcome: PolicyAction
    package let basis: Basis
    /// The destination of the matching rule; the contact's destination fills the parts that the rule leaves open.
    package var destination: Destination {
        guard outcome != .decline else { return .usual }
        let own = contact?.destination ?? .usual
        guard mismatches.count < rules.count else { return own }
        return rules[mismatches.count].destination.or(own)
    }

    /// The lists of types in the matching rule and in the contact's limits; the content must have one type of each
    /// list. Empty if the item was not accepted because of its type. Lists with `public.item` or `public.data` match
    /// everything and are left out.
    package var admittedAs: [[UniformType]] {
        guard outcome == .accept, basis != .permit, !grounds.takesEverything else { return [] }
        var lists: [[UniformType]] = []
        if mismatches.count < rules.count {
            for case .types(let types) in rules[mismatches.count].conditions { lists.append(types) }
        }
        if let limits = contact?.limits, !limits.types.isEmpty { lists.append(limits.types) }
        return lists.filter { !$0.contains(.item) && !$0.contains(.data) }
    }

    /// The data that the decisions on all items of an offer share: there may be tens of thousands.
    final class Grounds: Sendable {
        fileprivate let contact: Contact?
        fileprivate let rules: [PolicyRule]
        /// Whether the receiver accepts everything from everyone. Then rules and limits do not matter.
        fileprivate let takesEverything: Bool

        init(contact: Contact?, rules: [PolicyRule], takesEverything: Bool) {
            (self.contact, self.rules, self.takesEverything) = (contact, rules, takesEverything)
        }
    }

    private let grounds: Grounds
    private var contact: Contact? { grounds.contact }
    private var rules: [PolicyRule] { grounds.rules }
    /// For each rule that did not match, the number of its first condition that did not hold.
    private let mismatches: [Int]

    init(_ outcome: PolicyAction, _ basis: Basis, _ grounds: Grounds, mismatches: [Int]) {
        self.outcome = outcome
        self.basis = basis
        self.grounds = grounds
        self.mismatches = mismatches
    }

    /// One line for the user: the outcome, its reason, and the failed conditions of the rules before. It contains none
    /// of the peer's own words.
    package var explanation: String {
        let tried = mismatches.enumerated().prefix(8).map { index, mismatch in
            "rule \(index + 1) does not match: \(rules[index].conditions[mismatch].refusal)"
        }
        let more = mismatches.count > 8 ? ["\(mismatches.count - 8) more rules do not match"] : []
        return (["\(outcome.rawValue): \(words)"] + tried + more).joined(separator: "; ")
    }

    /// The rule that would accept the item without the contact's limits.
    private var matched: String {
        mismatches.count < rules.count ? "rule \(mismatches.count + 1) matches, but " : ""
    }

    private var limits: AcceptanceLimits { contact?.limits ?? AcceptanceLimits() }

    private var words: String {
        let name = contact?.name.text ?? "the peer"
        return switch basis {
        case .blocked: "the peer is blocked"
        case .nothingTaken: "this receiver accepts nothing"
        case .invisible: "this receiver is visible to nobody"
        case .contactsOnly: "the sender is a stranger, and this receiver is visible to contacts only"
        case .rule(let number): "rule \(number) matches"
        case .strangersAreAsked(let number):
            "rule \(number) matches, but strangers are never accepted without a question"
        case .limits(let breach):
            matched + "offers of \(name) are accepted only within limits, and \(breach.words(limits))"
        case .contact: "that is the policy of \(name)"
        case .receiver: "this receiver accepts every offer"
        case .stranger: "the sender is a stranger"
        case .permit: "a spoken code lets this transfer in"
        }
    }
}

extension AcceptanceLimits.Breach {
    fileprivate func words(_ limits: AcceptanceLimits) -> String {
        switch self {
        case .type: "the type is not among them"
        case .size: "the offer is larger than \(ByteCountText.text(limits.largestOffer ?? 0)), or of unknown size"
        case .items: "the offer has more than \(limits.maximumItems.map(String.init) ?? "these") items"
        case .day:
            "the limit of \(ByteCountText.text(limits.sizePerDay ?? 0)) for 24 hours would be exceeded, or the size is unknown"
        case .time: "this is not the right time"
        case .expired: "the acceptance has ended"
        }
    }
}

extension PolicyDecision {
    func refusal(_ setting: PolicySetting) -> ItemVerdict { basis.refusal(setting) }
}

extension PolicyDecision.Basis {
    /// The refusal that the sender sees: no more than it could find out itself. A blocked peer gets the same answer as
    /// a stranger. The user's rules stay private.
    func refusal(_ setting: PolicySetting) -> ItemVerdict {
        if setting.receiver == .none { return ItemVerdict(.declined, reason: "nothing is accepted here", cause: .rule) }
        switch self {
        case .invisible: return Self.nothingNow
        case .blocked where setting.visibility == .off: return Self.nothingNow
        case .contactsOnly: return Self.onlyContacts
        case .blocked where setting.visibility != .everyone: return Self.onlyContacts
        default: return .privateRule
        }
    }

    private static let nothingNow = ItemVerdict(.declined, reason: "this machine accepts nothing now", cause: .rule)

    private static let onlyContacts = ItemVerdict(
        .declined, reason: "offers are accepted from contacts only; pair first: waft pair", cause: .rule)
}
