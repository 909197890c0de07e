import Contacts
import Sharing
import TestSupport
import Testing
import UniformTypes

/// Checks every kind of item against every form of a rule or limit that names a type (security rule 19).
@Suite("Rules for types and kinds of items")
struct KindRuleTests {
    struct Row: CustomTestStringConvertible {
        var kind: ItemKind
        var type: String
        /// The entries of `types` that match the item, besides `public.item`.
        var holds: Set<String>

        var testDescription: String { "\(kind) \(type)" }
    }

    static let types = [
        "public.data", "public.content", "public.composite-content", "public.image", "public.png", "public.text",
        "public.html", "public.plain-text", "public.url", "public.directory", "public.folder", "com.apple.package",
        "public.audiovisual-content", "public.executable",
    ]

    static let table = [
        Row(kind: .file, type: "public.png", holds: ["public.data", "public.content", "public.image", "public.png"]),
        Row(kind: .file, type: "org.example.unknown", holds: ["public.data"]),
        Row(
            kind: .file, type: "public.shell-script",
            holds: ["public.data", "public.content", "public.text", "public.plain-text"]),
        Row(
            kind: .text, type: "public.utf8-plain-text",
            holds: ["public.data", "public.content", "public.text", "public.plain-text"]),
        Row(kind: .text, type: "public.html", holds: ["public.data", "public.content", "public.text", "public.html"]),
        Row(kind: .url, type: "public.url", holds: ["public.data", "public.url"]),
        Row(kind: .tree, type: "public.folder", holds: ["public.directory", "public.folder"]),
        Row(kind: .tree, type: "com.apple.rtfd", holds: ["public.directory", "com.apple.package"]),
        Row(kind: .tree, type: "com.apple.application-bundle", holds: ["public.directory", "com.apple.package"]),
        // Folders that Apple's table also declares as HTML, sound, or data.
        Row(kind: .tree, type: "com.apple.music.itlp", holds: ["public.directory", "com.apple.package"]),
        Row(kind: .tree, type: "com.apple.garageband.project", holds: ["public.directory", "com.apple.package"]),
        Row(kind: .tree, type: "com.apple.createml.project", holds: ["public.directory", "com.apple.package"]),
        Row(kind: .tree, type: "org.example.unknown", holds: ["public.directory"]),
        // Every dialect refuses this item, and the rules do not treat a folder as a picture either.
        Row(kind: .tree, type: "public.png", holds: ["public.directory"]),
    ]

    private func decide(_ row: Row, _ policy: Policy, _ contact: Contact) -> PolicyDecision {
        let item = OfferedItem(kind: row.kind, name: safe("a"), type: uniform(row.type), size: 1)
        return policy.decide(
            item, of: OfferTotals(items: 1, knownSize: 1), from: .contact(contact), PolicySetting(at: at(0)))
    }

    @Test("a rule that names a type holds as the table says, and any rule without one", arguments: table)
    func rules(row: Row) throws {
        let contact = try Contact.sample()
        for type in Self.types + ["public.item"] {
            let policy = try Policy([rule(["type": .scalar(type), "then": .scalar("accept")])])
            let outcome = decide(row, policy, contact).outcome
            let holds = type == "public.item" || row.holds.contains(type)
            #expect(outcome == (holds ? .accept : .ask), "\(type)")
        }
        let any = try Policy([rule(["then": .scalar("decline")])])
        #expect(decide(row, any, contact).outcome == .decline)
    }

    @Test("so does a contact's limit, under its own policy and under a rule", arguments: table)
    func limits(row: Row) throws {
        for type in Self.types + ["public.item"] {
            let limits = AcceptanceLimits(types: [uniform(type)])
            let holds = type == "public.item" || row.holds.contains(type)
            let expected: PolicyAction = holds ? .accept : .ask
            #expect(decide(row, .none, try .sample(policy: .accept, limits: limits)).outcome == expected, "\(type)")
            let policy = try Policy([rule(["from": .scalar("contacts"), "then": .scalar("accept")])])
            #expect(decide(row, policy, try .sample(limits: limits)).outcome == expected, "\(type)")
        }
        #expect(decide(row, .none, try .sample(policy: .accept)).outcome == .accept)
    }

    @Test(
        "items that a type rule accepts need content of that type, and items that a person or no rule accepts do not")
    func admittedAs() throws {
        let image = uniform("public.image")
        let row = Self.table[0]
        let byRule = try Policy([rule(["type": .list(["public.image", "com.adobe.pdf"]), "then": .scalar("accept")])])
        let lists = [[image, uniform("com.adobe.pdf")]]
        #expect(decide(row, byRule, try .sample()).admittedAs == lists)
        let limits = AcceptanceLimits(types: [image])
        #expect(decide(row, byRule, try .sample(limits: limits)).admittedAs == lists + [[image]])
        #expect(decide(row, .none, try .sample(policy: .accept, limits: limits)).admittedAs == [[image]])
        #expect(decide(row, .none, try .sample(policy: .accept)).admittedAs == [])
        let everything = try Policy([rule(["type": .scalar("public.item"), "then": .scalar("accept")])])
        #expect(decide(row, everything, try .sample()).admittedAs == [])
        let asking = try Policy([rule(["type": .scalar("public.image"), "then": .scalar("ask")])])
        #expect(decide(row, asking, try .sample()).admittedAs == [])
        // A receiver that accepts everything from everyone requires no type.
        let item = OfferedItem(kind: .file, name: safe("a"), type: uniform(row.type), size: 1)
        let taken = byRule.decide(
            item, of: OfferTotals(items: 1, knownSize: 1), from: .stranger,
            PolicySetting(at: at(0), visibility: .everyone, receiver: .everyone))
        #expect(taken.outcome == .accept && taken.admittedAs == [])
    }

    @Test("the gate's verdict has the required type, once for all items that are alike")
    func verdicts() throws {
        let place = Place()
        let book = place.book()
        try book.allow(.sample(1), named: try name("anna"), .sample)
        let policy = try Policy([rule(["type": .scalar("public.image"), "then": .scalar("accept")])])
        let gate = OfferGate(book: book, policy: { policy }, setting: { PolicySetting(at: at(0)) })
        let answer = gate.judge(
            offer([item("a.png", "public.png"), item("b.pdf", "com.adobe.pdf"), item("c.png", "public.png")]),
            from: .sample(1))
        #expect(
            answer.verdicts.map { $0?.admittedAs } == [[[uniform("public.image")]], nil, [[uniform("public.image")]]])
        let asked = answer.completed(with: [.accepted])
        #expect(asked.map(\.admittedAs.isEmpty) == [false, true, false])
    }
}
