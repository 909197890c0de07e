package import Sharing

/// Decides the outcome of each item of an offer by the user's rules, contacts and settings.
///
/// The table is the only definition. Its lines are tried in order, and the first line that applies decides:
///
/// | | condition | outcome |
/// |---|---|---|
/// | 1 | the peer is blocked | decline |
/// | 2 | the receiver takes nothing (`--accept none`) | decline |
/// | 3 | the receiver is not visible (`off`) | decline |
/// | 4 | a stranger, and the receiver is visible to contacts only | decline |
/// | 5 | the contact's own policy is `decline` | decline |
/// | 6 | a rule holds: `decline`, `ask` | the rule's |
/// | 7 | a rule holds: `accept`, for a stranger | ask; accept if the rule names the protocol of the offer |
/// | 8 | a rule holds: `accept`, for a contact | accept within its limits, else ask |
/// | 9 | the contact's own policy is `accept` | accept within its limits, else ask |
/// | 10 | a contact whose policy is `ask` | ask; with `--accept contacts` accept within its limits |
/// | 11 | a stranger | ask |
///
/// For a transfer that the user lets in by a spoken code (`TransferPermits`) lines 3, 4 and 7 to 11 do not count, nor a rule
/// `ask`: an item that no line declines is accepted.
///
/// A rule or limit with types covers a folder only if it names a folder type or `public.item`. An item that it accepts
/// without asking the user must have one of these types by its content too: see `PolicyDecision.admittedAs`.
///
/// A peer of a protocol that proves no key is a stranger, even if its id is known. `--accept everyone` turns each `ask`
/// of lines 7 to 11 into `accept`; it does not change line 6.
package struct Policy: Hashable, Sendable {
    /// In the order in which they are tried.
    package let rules: [PolicyRule]

    package static let none = Policy(known: [])

    private init(known rules: [PolicyRule]) {
        self.rules = rules
    }

    /// - Throws: `ContactError` `unfit` for more than `ContactBounds.rules` rules.
    package init(_ rules: [PolicyRule]) throws(ContactError) {
        guard rules.count <= ContactBounds.rules else {
            throw .unfit("at most \(ContactBounds.rules) rules, not \(rules.count)")
        }
        self.init(known: rules)
    }

    /// The decision on one item, equal to that of `decide` for a whole offer.
    package func decide(
        _ item: OfferedItem, of totals: OfferTotals, from relation: PeerRelation, _ setting: PolicySetting
    ) -> PolicyDecision {
        var judge = Judge(policy: self, totals: totals, relation: relation, setting: setting)
        return judge.decide(item)
    }

    /// The decision on each item of an offer.
    ///
    /// - Parameter dayAmount: as in `OfferTotals`; required if `needsDayAmount` is true.
    package func decide(
        _ offer: Offer, from relation: PeerRelation, _ setting: PolicySetting, dayAmount: UInt64? = nil
    ) -> [PolicyDecision] {
        let totals = OfferTotals(offer, dayAmount: dayAmount)
        var judge = Judge(policy: self, totals: totals, relation: relation, setting: setting)
        return offer.items.map { judge.decide($0) }
    }

    /// Whether decisions about this peer's offers depend on the bytes received in 24 hours.
    package func needsDayAmount(for relation: PeerRelation) -> Bool {
        if relation.contact?.limits.sizePerDay != nil { return true }
        return rules.contains { rule in
            rule.conditions.contains { if case .sizePerDay = $0 { true } else { false } }
        }
    }

    /// Decides many items with the same rules, offer, peer and time.
    private struct Judge {
        let policy: Policy
        let totals: OfferTotals
        let relation: PeerRelation
        let setting: PolicySetting
        private let now: LocalTime
        private let grounds: PolicyDecision.Grounds
        private var memo: TypeMemo

        init(policy: Policy, totals: OfferTotals, relation: PeerRelation, setting: PolicySetting) {
            (self.policy, self.totals, self.relation, self.setting) = (policy, totals, relation, setting)
            now = LocalTime(setting.at, in: setting.zone)
            memo = TypeMemo(setting.registry)
            grounds = PolicyDecision.Grounds(
                contact: relation.contact, rules: policy.rules, takesEverything: setting.receiver == .everyone)
        }

        mutating func decide(_ item: OfferedItem) -> PolicyDecision {
            if let basis = Policy.bar(relation, setting) {
                return PolicyDecision(.decline, basis, grounds, mismatches: [])
            }
            var item = JudgedItem(item, &memo)
            let rules = policy.rules
            var mismatches: [Int] = []
            for rule in rules {
                guard let mismatch = rule.mismatch(&item, relation, totals, now) else { break }
                mismatches.append(mismatch)
            }
            let rule = mismatches.count < rules.count ? rules[mismatches.count] : nil
            let (outcome, basis) = Policy.outcome(
                rule, mismatches.count + 1, breach: { $0.breach(item, totals, setting.at, now) }, relation,
                totals.dialect, setting)
            return PolicyDecision(outcome, basis, grounds, mismatches: mismatches)
        }
    }

    /// The verdict for a peer that may offer nothing; nil for a peer that may offer.
    static func refusal(to relation: PeerRelation, _ setting: PolicySetting) -> ItemVerdict? {
        bar(relation, setting)?.refusal(setting)
    }

    /// Whether an item from such a peer can be declined without asking the user.
    func mayDecline(_ relation: PeerRelation, _ setting: PolicySetting) -> Bool {
        Self.bar(relation, setting) != nil || rules.contains { $0.outcome == .decline }
    }

    /// Lines 1 to 5: refusals that no rule can lift.
    private static func bar(_ relation: PeerRelation, _ setting: PolicySetting) -> PolicyDecision.Basis? {
        if case .blocked = relation { return .blocked }
        if setting.receiver == .none { return .nothingTaken }
        switch (setting.visibility, relation) {
        case (.off, _) where !setting.isPermitted: return .invisible
        case (.contacts, .stranger) where !setting.isPermitted: return .contactsOnly
        default: return relation.contact?.policy == .decline ? .contact : nil
        }
    }

    /// Lines 6 to 11.
    ///
    /// - Parameter breach: returns the contact's limit that the item exceeds.
    private static func outcome(
        _ rule: PolicyRule?,
        _ number: Int,
        breach: (AcceptanceLimits) -> AcceptanceLimits.Breach?,
        _ relation: PeerRelation,
        _ dialect: Dialect,
        _ setting: PolicySetting
    ) -> (PolicyAction, PolicyDecision.Basis) {
        if setting.isPermitted, rule?.outcome != .decline { return (.accept, .permit) }
        if let rule, rule.outcome != .accept { return (rule.outcome, .rule(number)) }
        let isOpen = setting.receiver == .everyone
        guard let contact = relation.contact else {
            if rule?.names(dialect) == true { return (.accept, .rule(number)) }
            if rule != nil { return isOpen ? (.accept, .rule(number)) : (.ask, .strangersAreAsked(rule: number)) }
            return isOpen ? (.accept, .receiver) : (.ask, .stranger)
        }
        guard rule != nil || contact.policy == .accept || setting.receiver == .contacts else {
            return isOpen ? (.accept, .receiver) : (.ask, .contact)
        }
        if let breach = breach(contact.limits) {
            return isOpen ? (.accept, .receiver) : (.ask, .limits(breach))
        }
        if rule != nil { return (.accept, .rule(number)) }
        return (.accept, contact.policy == .accept ? .contact : .receiver)
    }

    /// The contacts that rules name but the book does not contain, each with the number of the first such rule: the
    /// name is misspelled or has changed.
    package func unknownContacts(in snapshot: ContactSnapshot) -> [(rule: Int, name: ContactName)] {
        var seen: Set<ContactName> = []
        var unknown: [(rule: Int, name: ContactName)] = []
        for (index, rule) in rules.enumerated() {
            for case .from(let parties) in rule.conditions {
                for case .contact(let name) in parties
                where snapshot.contact(named: name.text) == nil && seen.insert(name).inserted {
                    unknown.append((index + 1, name))
                }
            }
        }
        return unknown
    }
}

extension PeerRelation {
    /// The contact of this peer, blocked or not.
    package var contact: Contact? {
        switch self {
        case .contact(let contact): contact
        case .blocked(let contact): contact
        case .stranger: nil
        }
    }
}

extension AcceptanceLimits {
    /// The limit that an item exceeds.
    package enum Breach: Hashable, Sendable {
        case type
        case size
        case items
        case day
        case time
        case expired
    }

    /// - Returns: the first limit that the item or its offer exceeds; nil if it exceeds none.
    func breach(_ item: JudgedItem, _ totals: OfferTotals, _ time: WallTime, _ now: LocalTime) -> Breach? {
        if let until, time >= until { return .expired }
        if let times, !times.contains(now) { return .time }
        if let maximumItems, totals.items > maximumItems { return .items }
        if let largestOffer, !totals.isSizeKnown || totals.knownSize > largestOffer { return .size }
        if let sizePerDay, !totals.fitsInDay(sizePerDay) { return .day }
        return types.isEmpty || item.conforms(toAnyOf: types) ? nil : .type
    }
}
