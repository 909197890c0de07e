package import Foundation
package import Sharing
package import UniformTypes

/// Totals of all items of an offer.
package struct OfferTotals: Hashable, Sendable {
    package var items: Int
    /// Bytes of the items whose size is known.
    package var knownSize: UInt64
    package var isSizeKnown: Bool
    /// The protocol of the offer.
    package var dialect: Dialect
    /// Bytes received in 24 hours, this offer included; nil if unknown, which exceeds any limit.
    package var dayAmount: UInt64?

    package init(
        items: Int, knownSize: UInt64, isSizeKnown: Bool = true, dialect: Dialect, dayAmount: UInt64? = nil
    ) {
        self.dayAmount = dayAmount
        self.items = items
        self.knownSize = knownSize
        self.isSizeKnown = isSizeKnown
        self.dialect = dialect
    }

    package init(_ offer: Offer, dayAmount: UInt64? = nil) {
        self.init(
            items: offer.items.count, knownSize: offer.knownSize,
            isSizeKnown: offer.items.allSatisfy { $0.size != nil }, dialect: offer.dialect, dayAmount: dayAmount)
    }

    /// Whether at most `most` bytes are received in 24 hours, this offer included.
    func fitsInDay(_ most: UInt64) -> Bool { isSizeKnown && dayAmount.map { $0 <= most } ?? false }
}

/// The time, place and settings of a decision.
package struct PolicySetting: Sendable {
    package var at: WallTime
    package var zone: TimeZone
    package var registry: TypeRegistry
    package var visibility: Visibility
    /// The option for this receiver as a whole.
    package var receiver: ReceiverRule
    /// Whether the user lets this transfer in by a spoken code.
    var isPermitted = false

    package init(
        at: WallTime,
        zone: TimeZone = .current,
        registry: TypeRegistry = .system,
        visibility: Visibility = .contacts,
        receiver: ReceiverRule = .ask
    ) {
        self.at = at
        self.zone = zone
        self.registry = registry
        self.visibility = visibility
        self.receiver = receiver
    }

    /// The same for a transfer that the user has or has not let in.
    func permitting(_ isPermitted: Bool) -> PolicySetting {
        var setting = self
        setting.isPermitted = isPermitted
        return setting
    }

    /// The same for an offer by a dialect: invited peers see this receiver at any visibility.
    package func seen(by dialect: Dialect) -> PolicySetting {
        var setting = self
        if dialect.isByInvitation { setting.visibility = .everyone }
        return setting
    }
}

/// The senders whose offers a receiver accepts if no rule decides: `--accept`.
package enum ReceiverRule: String, Sendable, CaseIterable {
    /// Contacts whose policy is `accept`.
    case ask
    /// All contacts, within their limits.
    case contacts
    /// All senders.
    case everyone
    /// No sender, even if a rule accepts.
    case none
}

/// One rule: it matches an item if all its conditions hold.
package struct PolicyRule: Hashable, Sendable {
    /// The senders for whom a rule is.
    package enum Party: Hashable, Sendable, CustomStringConvertible {
        case contact(ContactName)
        case contacts
        case strangers
        case everyone
        /// Peers of a protocol that proves no key: all of them are strangers.
        case dialect(Dialect)

        package var description: String {
            switch self {
            case .contact(let name): name.text
            case .contacts: "contacts"
            case .strangers: "strangers"
            case .everyone: "everyone"
            case .dialect(let dialect): dialect.name
            }
        }

        func includes(_ relation: PeerRelation, by dialect: Dialect) -> Bool {
            switch (self, relation) {
            case (.dialect(let own), .stranger): own == dialect
            case (.everyone, _), (.strangers, .stranger), (.contacts, .contact): true
            case (.contact(let name), .contact(let contact)): contact.name == name
            default: false
            }
        }
    }

    /// A condition of a rule. If it has several values, one of them must hold.
    package enum Condition: Hashable, Sendable {
        case from([Party])
        /// The item's type conforms to one of these.
        case types([UniformType])
        case names([NamePattern])
        /// Bytes of the item. An item of unknown size exceeds any bound.
        case sizeAtMost(UInt64)
        case sizeAtLeast(UInt64)
        /// Bytes received in 24 hours from the same sender, this offer included; all senders of a dialect that proves no key
        /// count together.
        case sizePerDay(UInt64)
        case time(TimeWindow)
    }

    package let conditions: [Condition]
    package let outcome: PolicyAction
    package let destination: Destination

    package init(_ conditions: [Condition], _ outcome: PolicyAction, _ destination: Destination = .usual) {
        self.conditions = conditions
        self.outcome = outcome
        self.destination = destination
    }

    /// - Returns: the number of the first condition that does not hold; nil if the rule matches.
    func mismatch(
        _ item: inout JudgedItem, _ relation: PeerRelation, _ totals: OfferTotals, _ now: LocalTime
    ) -> Int? {
        for (number, condition) in conditions.enumerated() where !condition.holds(&item, relation, totals, now) {
            return number
        }
        return nil
    }

    /// Whether a condition names this protocol itself, and not only strangers.
    func names(_ dialect: Dialect) -> Bool {
        conditions.contains { condition in
            if case .from(let parties) = condition { return parties.contains(.dialect(dialect)) }
            return false
        }
    }
}

extension PolicyRule.Condition {
    func holds(
        _ item: inout JudgedItem, _ relation: PeerRelation, _ totals: OfferTotals, _ now: LocalTime
    ) -> Bool {
        switch self {
        case .from(let parties): parties.contains { $0.includes(relation, by: totals.dialect) }
        case .types(let types): item.conforms(toAnyOf: types)
        case .names(let patterns): item.matches(anyOf: patterns)
        case .sizeAtMost(let most): item.item.size.map { $0 <= most } ?? false
        case .sizeAtLeast(let least): item.item.size.map { $0 >= least } ?? true
        case .sizePerDay(let most): totals.fitsInDay(most)
        case .time(let window): window.contains(now)
        }
    }

    /// The reason for the user why the condition does not hold.
    var refusal: String {
        switch self {
        case .from(let parties): "it is not from \(Self.list(parties))"
        case .types(let types): "its type is not \(Self.list(types))"
        case .names(let patterns): "its name is not \(Self.list(patterns))"
        case .sizeAtMost(let most): "it is larger than \(ByteCount.text(most)), or of unknown size"
        case .sizeAtLeast(let least): "it is smaller than \(ByteCount.text(least))"
        case .sizePerDay(let most):
            "it would exceed \(ByteCount.text(most)) in 24 hours, or its size is unknown"
        case .time(let window): "it is not \(window) now"
        }
    }

    private static func list(_ values: [some CustomStringConvertible]) -> String {
        values.prefix(4).map(\.description).joined(separator: " or ") + (values.count > 4 ? " or …" : "")
    }
}
