import ArgumentParser
import Contacts
import Lines
import Operations
import Sharing
import TestSupport
import Testing
import UniformTypes

@testable import CommandLine

@Suite("Contacts, rules and visibility in words")
struct ContactTextTests {
    private let id = PeerID.sample(1)
    private let now = WallTime(milliseconds: 1_795_248_000_000)

    private func line(
        _ limits: AcceptanceLimits = .none, _ policy: PolicyAction = .accept, isBlocked: Bool = false,
        received: UInt64? = nil
    ) throws -> ContactLine {
        var contact = Contact(
            id: id, name: try ContactName("Anna"), verification: Verification(.keyID, at: now), policy: policy,
            limits: limits, isBlocked: isBlocked)
        contact.destination = try Destination(folder: SafeRelativePath("From Anna"))
        return ContactLine(contact, at: now, received: received)
    }

    @Test("a contact is a line with its terms, or some lines with all facts")
    func contact() throws {
        let end = now.after(.seconds(30 * 86_400))
        var limits = AcceptanceLimits(
            types: [.image, UniformType("com.adobe.pdf")!], largestOffer: 5_000_000_000, maximumItems: 20,
            sizePerDay: 1_000_000, times: try TimeWindow("08:00-18:00"), until: end)
        let (until, verified) = (LineTime(end).local, LineTime(now).local)
        #expect(
            try line(limits).words == [
                "Anna  \(id.short)  accept: public.image or com.adobe.pdf, up to 5.0 GB, up to 20 items, up to 1.0 MB a day, "
                    + "08:00-18:00, until \(until)"
            ])
        #expect(
            try line(limits, received: 1_200).details == [
                "Anna",
                "  id        \(id.text)",
                "  policy    accept: its offers are accepted without a question",
                "  types     public.image",
                "            com.adobe.pdf",
                "  size      up to 5.0 GB in one offer",
                "  items     up to 20 in one offer",
                "  day       up to 1.0 MB in 24 hours; 1.2 kB received",
                "  time      08:00-18:00",
                "  until     \(until)",
                "  folder    From Anna",
                "  verified  by its key id, \(verified)",
            ])
        limits.until = now
        #expect(try line(limits).words[0].hasSuffix("ended \(verified)"))
        let ended = try line(limits).details.joined(separator: "\n")
        #expect(ended.contains("\(verified) (ended: you are asked)"))
        #expect(ended.contains("in 24 hours; you are asked, because the journal cannot be read"))
        #expect(try line(limits, .decline).words == ["Anna  \(id.short)  decline"])
        #expect(try line(isBlocked: true).words == ["Anna  \(id.short)  blocked"])
        #expect(try line(isBlocked: true).details.contains { $0.hasPrefix("  state     blocked: ") })
        #expect(try line(AcceptanceLimits(maximumItems: 1)).words[0].hasSuffix("accept: up to 1 item"))
    }

    @Test("a change of a peer names the contact, or the key of a stranger")
    func relations() throws {
        let contact = Contact(
            id: id, name: try ContactName("Anna"), verification: Verification(.keyID, at: now))
        for (line, words) in [
            (RelationLine(.forgotten, id, contact, isBlocked: false), "forgot Anna (\(id.short))"),
            (
                RelationLine(.forgotten, id, contact, isBlocked: true),
                "forgot Anna (\(id.short)); its key is still blocked"
            ),
            (RelationLine(.blocked, id, contact, isBlocked: true), "Anna is blocked"),
            (RelationLine(.blocked, id, nil, isBlocked: true), "the peer \(id.short) is blocked"),
            (RelationLine(.unblocked, id, nil, isBlocked: false), "the peer \(id.short) is no longer blocked"),
        ] { #expect(line.words == [words]) }
        #expect(MeLine(name: "a\u{1B}[2J", id).words == ["name  a\\u{1B}[2J", "id    \(id.text)"])
    }

    @Test("a rule is a line with its conditions, and a decision has its reason and the place")
    func rules() throws {
        let rules: [([PolicyRule.Condition], Destination, String)] = [
            ([], .usual, "1  ask: everything"),
            (
                [
                    .from([.contact(try ContactName("Anna")), .strangers]), .types([.image]),
                    .sizeAtMost(5_000_000_000),
                    .sizeAtLeast(1_000_000), .sizePerDay(1), .time(try TimeWindow("08:00-18:00")),
                ], try Destination(handler: "Photos", folder: SafeRelativePath("A"), protection: .complete),
                "1  ask: from Anna or strangers; type public.image; up to 5.0 GB; at least 1.0 MB; up to 1 byte in 24 hours; "
                    + "at 08:00-18:00; into A; to Photos; sealed as complete"
            ),
            ([.names([try NamePattern("\u{1B}[2J*")])], .usual, "1  ask: name \\u{1B}[2J*"),
        ]
        for (conditions, destination, words) in rules {
            #expect(RuleLine(1, PolicyRule(conditions, .ask, destination)).words == [words])
        }
        let item = OfferedItem(kind: .file, name: try SafeName("a.jpg"), type: .image, size: 5)
        let offer = Offer(items: [item], senderName: "", dialect: .keyed)
        let policy = try Policy([PolicyRule([], .accept, Destination(folder: SafeRelativePath("A")))])
        let relation = ContactSnapshot.empty.relation(of: id)
        let setting = PolicySetting(at: now, visibility: .everyone)
        let decision = policy.decide(offer, from: relation, setting, dayAmount: 0)[0]
        let words = PolicyDecisionLine("/\u{1B}[2J", item, decision).words
        #expect(words.first == "/\\u{1B}[2J  public.image, 5 bytes")
        #expect(words.dropFirst().first?.hasPrefix("  ask: ") == true)
        #expect(words.last == "  goes into A")
    }

    @Test("a temporary visibility has its length, its end and the visibility after it")
    func visibility() {
        let next = VisibilityFile.State.Next(remaining: .seconds(601), visibility: .contacts)
        let line = VisibilityLine(.init(visibility: .everyone, next: next), at: now)
        let end = LineTime(now.after(.seconds(601))).local
        #expect(line.words == ["everyone for 11m, until \(end); then contacts"])
        #expect(VisibilityLine(.init(visibility: .off, next: nil), at: now).words == ["off"])
        #expect(VisibilityLine("everyone", over: "off").words[0].hasSuffix("stored choice: off"))
        for (seconds, words) in [
            (0, "0s"), (90, "90s"), (120, "2m"), (539, "9m"), (3_600, "1h"), (7_199, "2h"), (7_200, "2h"),
            (86_400, "1d"), (172_801, "3d"),
        ] as [(Int64, String)] { #expect(VisibleCommand.words(seconds) == words) }
    }

    @Test(
        "words that say too little or too much are refused",
        arguments: [
            ["contacts", "allow", "k7qf"], ["contacts", "allow", "--name", "k"],
            ["contacts", "allow", "k7qf", "--name", "k", "--from", "x"],
            ["contacts", "allow", "--from-offer", "1"],
            ["contacts", "allow", "k", "--name", "k", "--policy", "always"],
            ["contacts", "set", "anna"], ["visible", "nobody"], ["visible", "--for", "10m"],
            ["visible", "off", "contacts"], ["policy", "test", "--from", "anna"], ["policy", "test", "a"],
        ])
    func refused(words: [String]) {
        #expect(throws: (any Error).self) { try WaftCommand.parseAsRoot(words) }
    }
}
