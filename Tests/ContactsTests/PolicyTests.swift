import Foundation
import Sharing
import TestSupport
import Testing
import UniformTypes

@testable import Contacts

@Suite("The policy")
struct PolicyTests {
    enum Who: String, CaseIterable {
        case stranger, asking, accepting, limited, declining, blockedContact, blockedStranger

        func relation() throws -> PeerRelation {
            let limits = AcceptanceLimits(types: [uniform("public.image")])
            return switch self {
            case .stranger: .stranger
            case .asking: .contact(try .sample(policy: .ask))
            case .accepting: .contact(try .sample(policy: .accept))
            case .limited: .contact(try .sample(policy: .accept, limits: limits))
            case .declining: .contact(try .sample(policy: .decline))
            case .blockedContact: .blocked(try .sample(policy: .accept, isBlocked: true))
            case .blockedStranger: .blocked(nil)
            }
        }
    }

    @Test("a rule that names a protocol is for those who come by it, and may accept them; one for strangers may not")
    func dialects() throws {
        func decide(_ party: String, by dialect: Dialect, _ outcome: String = "accept") throws -> PolicyAction {
            let rule = try PolicyRule(
                fields: ["from": .scalar(party), "then": .scalar(outcome)], registry: .system, dialects: .samples)
            var offer = Offer.sample()
            offer.dialect = dialect
            let setting = PolicySetting(at: WallTime(milliseconds: 0), visibility: .everyone)
            return try Policy([rule]).decide(offer, from: .stranger, setting)[0].outcome
        }
        #expect(try decide("airdrop", by: .keyless) == .accept)
        #expect(try decide("airdrop", by: .keyless, "decline") == .decline)
        #expect(try decide("airdrop", by: .keyed) == .ask)
        #expect(try decide("airdrop", by: .keyed, "decline") == .ask)
        #expect(try decide("strangers", by: .keyless) == .ask)
        #expect(try decide("strangers", by: .keyless, "decline") == .decline)
        #expect(try decide("contacts", by: .keyless, "decline") == .ask)
    }

    struct Row: CustomTestStringConvertible {
        var who: Who
        /// The outcome of the only rule, which is for everyone; nil means no rule.
        var rule: PolicyAction?
        var visibility: Visibility
        var receiver: ReceiverRule
        var outcome: PolicyAction
        /// Whether the offer is within the limits of `limited`.
        var isImage = true

        init(
            _ who: Who, _ rule: PolicyAction?, _ visibility: Visibility, _ receiver: ReceiverRule,
            _ outcome: PolicyAction,
            isImage: Bool = true
        ) {
            (self.who, self.rule, self.visibility, self.receiver) = (who, rule, visibility, receiver)
            (self.outcome, self.isImage) = (outcome, isImage)
        }

        var testDescription: String {
            "\(who), rule \(rule?.rawValue ?? "-"), \(visibility), --accept \(receiver), \(isImage ? "" : "no ")image"
        }
    }

    /// The table at `Policy`, line by line.
    static let table: [Row] = [
        // 1: blocked
        Row(.blockedContact, nil, .everyone, .everyone, .decline),
        Row(.blockedStranger, nil, .everyone, .everyone, .decline),
        Row(.blockedContact, .accept, .everyone, .everyone, .decline),
        Row(.blockedStranger, .accept, .everyone, .everyone, .decline),
        Row(.blockedStranger, .ask, .contacts, .ask, .decline),
        // 2: --accept none
        Row(.stranger, .accept, .everyone, .none, .decline), Row(.accepting, .accept, .everyone, .none, .decline),
        Row(.accepting, nil, .contacts, .none, .decline),
        // 3: off
        Row(.stranger, .accept, .off, .everyone, .decline), Row(.accepting, .accept, .off, .everyone, .decline),
        Row(.accepting, nil, .off, .contacts, .decline),
        // 4: visible to contacts
        Row(.stranger, nil, .contacts, .ask, .decline), Row(.stranger, .accept, .contacts, .ask, .decline),
        Row(.stranger, .accept, .contacts, .everyone, .decline), Row(.stranger, .ask, .contacts, .contacts, .decline),
        // 5: the contact's decline
        Row(.declining, nil, .everyone, .ask, .decline), Row(.declining, .accept, .everyone, .everyone, .decline),
        Row(.declining, .ask, .contacts, .contacts, .decline),
        // 6: a rule declines or asks
        Row(.accepting, .decline, .everyone, .everyone, .decline), Row(.accepting, .ask, .everyone, .everyone, .ask),
        Row(.stranger, .decline, .everyone, .everyone, .decline), Row(.stranger, .ask, .everyone, .everyone, .ask),
        Row(.asking, .decline, .contacts, .contacts, .decline), Row(.asking, .ask, .contacts, .contacts, .ask),
        // 7: a rule accepts a stranger's
        Row(.stranger, .accept, .everyone, .ask, .ask), Row(.stranger, .accept, .everyone, .contacts, .ask),
        Row(.stranger, .accept, .everyone, .everyone, .accept),
        // 8: a rule accepts a contact's
        Row(.asking, .accept, .contacts, .ask, .accept), Row(.accepting, .accept, .contacts, .ask, .accept),
        Row(.limited, .accept, .contacts, .ask, .accept),
        Row(.limited, .accept, .contacts, .ask, .ask, isImage: false),
        Row(.limited, .accept, .contacts, .contacts, .ask, isImage: false),
        Row(.limited, .accept, .everyone, .everyone, .accept, isImage: false),
        // 9: the contact's accept
        Row(.accepting, nil, .contacts, .ask, .accept), Row(.accepting, nil, .everyone, .ask, .accept),
        Row(.limited, nil, .contacts, .ask, .accept), Row(.limited, nil, .contacts, .ask, .ask, isImage: false),
        Row(.limited, nil, .contacts, .contacts, .ask, isImage: false),
        Row(.limited, nil, .everyone, .everyone, .accept, isImage: false),
        // 10: the contact's ask
        Row(.asking, nil, .contacts, .ask, .ask), Row(.asking, nil, .everyone, .ask, .ask),
        Row(.asking, nil, .contacts, .contacts, .accept), Row(.asking, nil, .contacts, .everyone, .accept),
        // 11: a stranger
        Row(.stranger, nil, .everyone, .ask, .ask), Row(.stranger, nil, .everyone, .contacts, .ask),
        Row(.stranger, nil, .everyone, .everyone, .accept),
    ]

    @Test("the order of precedence is that of the table", arguments: table)
    func precedence(row: Row) throws {
        let policy = try Policy(row.rule.map { [PolicyRule([.from([.everyone])], $0)] } ?? [])
        let setting = PolicySetting(at: at(0), visibility: row.visibility, receiver: row.receiver)
        let offered = row.isImage ? item() : item("a.pdf", "com.adobe.pdf")
        let decision = policy.decide(
            offered, of: OfferTotals(items: 1, knownSize: 1_000), from: try row.who.relation(), setting)
        #expect(decision.outcome == row.outcome, "\(decision.explanation)")
        #expect(decision.explanation.hasPrefix("\(row.outcome.rawValue): "))
        #expect(!decision.explanation.contains("\n"))
    }

    @Test("no rule gives a stranger, a blocked peer or a declined contact more than it has without rules")
    func noWidening() throws {
        let order: [PolicyAction] = [.decline, .ask, .accept]
        for who in [Who.stranger, .declining, .blockedContact, .blockedStranger] {
            for visibility in Visibility.allCases {
                for receiver in ReceiverRule.allCases {
                    let setting = PolicySetting(at: at(0), visibility: visibility, receiver: receiver)
                    let totals = OfferTotals(items: 1, knownSize: 1)
                    let bare = Policy.none.decide(item(), of: totals, from: try who.relation(), setting)
                    for outcome in PolicyAction.allCases {
                        let policy = try Policy([PolicyRule([], outcome)])
                        let ruled = policy.decide(item(), of: totals, from: try who.relation(), setting)
                        let isWider =
                            (order.firstIndex(of: ruled.outcome) ?? 0) > (order.firstIndex(of: bare.outcome) ?? 0)
                        #expect(!isWider, "\(who) \(visibility) \(receiver) \(outcome)")
                    }
                }
            }
        }
    }

    @Test("the first rule that holds decides, and the line says why those before do not")
    func explanation() throws {
        let policy = try Policy([
            try rule(["from": .scalar("berta"), "then": .scalar("decline")]),
            try rule([
                "from": .scalar("contacts"), "type": .list(["com.adobe.pdf", "public.movie"]),
                "then": .scalar("decline"),
            ]),
            try rule(["name": .scalar("*.png"), "sizeAtMost": .scalar("5 GB"), "then": .scalar("accept")]),
            try rule([
                "from": .scalar("ANNA"), "sizeAtMost": .scalar("1 MB"), "then": .scalar("accept"),
                "folder": .scalar("Anna"),
            ]),
            try rule(["then": .scalar("decline")]),
        ])
        let destination = try Destination(handler: "org.example.photos", folder: try SafeRelativePath("Other"))
        let anna = PeerRelation.contact(try .sample(destination: destination))
        let totals = OfferTotals(items: 1, knownSize: 1_000)
        let decision = policy.decide(item(), of: totals, from: anna, PolicySetting(at: at(0)))
        #expect(decision.basis == .rule(4))
        #expect(
            decision.explanation
                == "accept: rule 4 matches; rule 1 does not match: it is not from berta; rule 2 does not match: its type is not "
                + "com.adobe.pdf or public.movie; rule 3 does not match: its name is not *.png")
        // The folder comes from the rule, the handler from the contact.
        #expect(
            decision.destination
                == (try Destination(handler: "org.example.photos", folder: try SafeRelativePath("Anna"))))
        let large = policy.decide(item(size: nil), of: totals, from: anna, PolicySetting(at: at(0)))
        #expect(large.basis == .rule(5))
        #expect(large.destination == .usual)
        #expect(large.explanation.hasSuffix("rule 4 does not match: it is larger than 1.0 MB, or of unknown size"))
        let asked = Policy.none.decide(item(), of: totals, from: anna, PolicySetting(at: at(0)))
        #expect(asked.explanation == "ask: that is the policy of anna")
        #expect(asked.destination == destination)
    }

    @Test("of many rules that do not hold the line names a few")
    func longExplanation() throws {
        let policy = try Policy((0..<256).map { _ in PolicyRule([.sizeAtLeast(.max)], .accept) })
        let decision = policy.decide(
            item(), of: OfferTotals(items: 1, knownSize: 1), from: .stranger,
            PolicySetting(at: at(0), visibility: .everyone))
        #expect(decision.explanation.hasSuffix("; 248 more rules do not match"))
        #expect(decision.explanation.utf8.count < 1_000)
        #expect(refusal { _ = try Policy(Array(repeating: PolicyRule([], .ask), count: 257)) } != nil)
    }

    @Test("each limit of a contact bounds the accepted items; the user is asked above it")
    func limits() throws {
        let (noon, zone) = try local("2026-11-21 12:00", "UTC")
        let images = AcceptanceLimits(types: [uniform("public.image")])
        let times = AcceptanceLimits(times: try TimeWindow("08:00-12:00"))
        let rows: [(AcceptanceLimits, OfferedItem, OfferTotals, AcceptanceLimits.Breach?)] = [
            (.none, item(size: nil), OfferTotals(items: 9, knownSize: .max, isSizeKnown: false), nil),
            (images, item(), OfferTotals(items: 1, knownSize: 1), nil),
            (images, item("a.pdf", "com.adobe.pdf"), OfferTotals(items: 1, knownSize: 1), .type),
            (AcceptanceLimits(largestOffer: 10), item(), OfferTotals(items: 1, knownSize: 10), nil),
            (AcceptanceLimits(largestOffer: 10), item(), OfferTotals(items: 1, knownSize: 11), .size),
            (
                AcceptanceLimits(largestOffer: 10), item(), OfferTotals(items: 1, knownSize: 0, isSizeKnown: false),
                .size
            ),
            (AcceptanceLimits(maximumItems: 2), item(), OfferTotals(items: 2, knownSize: 1), nil),
            (AcceptanceLimits(maximumItems: 2), item(), OfferTotals(items: 3, knownSize: 1), .items),
            (AcceptanceLimits(sizePerDay: 10), item(), OfferTotals(items: 1, knownSize: 1, dayAmount: 10), nil),
            (AcceptanceLimits(sizePerDay: 10), item(), OfferTotals(items: 1, knownSize: 1, dayAmount: 11), .day),
            (AcceptanceLimits(sizePerDay: 10), item(), OfferTotals(items: 1, knownSize: 1), .day),
            (
                AcceptanceLimits(sizePerDay: 10), item(),
                OfferTotals(items: 1, knownSize: 0, isSizeKnown: false, dayAmount: 0), .day
            ),
            (times, item(), OfferTotals(items: 1, knownSize: 1), .time),
            (AcceptanceLimits(until: noon), item(), OfferTotals(items: 1, knownSize: 1), .expired),
            (AcceptanceLimits(until: at(noon.milliseconds + 1)), item(), OfferTotals(items: 1, knownSize: 1), nil),
        ]
        for (limits, offered, totals, breach) in rows {
            let relation = PeerRelation.contact(try .sample(policy: .accept, limits: limits))
            let decision = Policy.none.decide(offered, of: totals, from: relation, PolicySetting(at: noon, zone: zone))
            #expect(decision.basis == (breach.map { .limits($0) } ?? .contact))
            #expect(decision.outcome == (breach == nil ? .accept : .ask))
        }
    }

    @Test("a limit that keeps a rule from accepting is named, with the rule")
    func limitBesideRule() throws {
        let policy = try Policy([PolicyRule([.types([uniform("public.image")])], .accept)])
        let contact = PeerRelation.contact(try .sample(limits: AcceptanceLimits(largestOffer: 5)))
        let decision = policy.decide(
            item(), of: OfferTotals(items: 1, knownSize: 6), from: contact,
            PolicySetting(at: at(0), visibility: .everyone))
        #expect(decision.explanation.hasPrefix("ask: rule 1 matches, but offers of "))
        #expect(decision.explanation.hasSuffix("and the offer is larger than 5 bytes, or of unknown size"))
    }

    @Test("a receiver that nobody may see tells a contact, a stranger and a blocked peer the same")
    func visibleToNobody() throws {
        let off = PolicySetting(at: at(0), visibility: .off)
        let contact = try Contact.sample()
        for relation in [PeerRelation.stranger, .contact(contact), .blocked(contact)] {
            #expect(Policy.refusal(to: relation, off)?.reason == "this machine accepts nothing now")
        }
    }

    @Test("names in rules that no contact has are reported")
    func unknownContacts() throws {
        let policy = try Policy([
            try rule(["from": .list(["anna", "carla"]), "then": .scalar("ask")]),
            try rule(["from": .list(["strangers", "Carla", "dora"]), "then": .scalar("ask")]),
        ])
        let book = ContactSnapshot(contacts: [try .sample()], blockedStrangers: [])
        let unknown = policy.unknownContacts(in: book)
        #expect(unknown.map(\.rule) == [1, 2])
        #expect(unknown.map(\.name.text) == ["carla", "dora"])
    }

    @Test("a rule for a contact's name is for its key alone")
    func byKey() throws {
        let policy = try Policy([try rule(["from": .scalar("anna"), "then": .scalar("accept")])])
        let book = ContactSnapshot(contacts: [try .sample()], blockedStrangers: [])
        let setting = PolicySetting(at: at(0), visibility: .everyone)
        for (peer, outcome) in [(PeerID.sample(1), PolicyAction.accept), (.sample(2), .ask)] {
            let decision = policy.decide(
                item(), of: OfferTotals(items: 1, knownSize: 1), from: book.relation(of: peer), setting)
            #expect(decision.outcome == outcome)
        }
    }
}
