import Contacts
import Lines
import Operations
import Sharing
import TestSupport
import Testing

@testable import CommandLine

extension KnownPeers {
    /// Without any contact.
    static let nobody = KnownPeers(ContactBook(path: "/nonexistent/contacts.json"))
}

extension ContactBook {
    /// With the first sample as the contact anna.
    static func withAnna(_ folder: TemporaryFolder) throws -> ContactBook {
        let book = ContactBook(path: folder / "contacts.json")
        try book.allow(.sample(1), named: ContactName("anna"), Verification(.keyID, at: WallTime(milliseconds: 0)))
        return book
    }
}

extension Person {
    /// A peer of the user whose contacts have these names, and the keys of the samples 1 and following.
    static func sample(_ number: UInt8, _ name: String?, contacts: [String] = []) throws -> Person {
        let known = try contacts.enumerated().map { place, name in
            Contact(
                id: .sample(UInt8(place + 1)), name: try ContactName(name),
                verification: Verification(.comparedCode, at: WallTime(milliseconds: 0)))
        }
        let book = ContactSnapshot(contacts: known, blockedStrangers: [])
        return Person(
            id: .sample(number), ownName: name,
            introduction: book.introduction(of: .sample(number), callingItself: name))
    }
}

@Suite("A peer in text and for programs")
struct PersonTests {
    private let key = PeerID.sample(2).short

    private func found(_ person: Person, rememberedAs remembered: String? = nil) -> FoundLine {
        FoundLine(person, device: "server", via: .keyed, at: [], rememberedAs: remembered)
    }

    @Test("a contact has the user's name and a mark, whatever its own name is")
    func contact() throws {
        let person = try Person.sample(1, "kitchen", contacts: ["mum"])
        #expect((person.line, person.name, person.standing) == ("mum ✓", "mum", "contact"))
        #expect(person.fields == PersonFields(id: PeerID.sample(1).text, name: "kitchen", contact: "mum"))
        #expect(person.word == "mum")
    }

    @Test("a stranger is one, with the beginning of its key, and with its own name if it tells it")
    func stranger() throws {
        let person = try Person.sample(2, "study", contacts: ["mum"])
        #expect((person.line, person.standing) == ("stranger \"study\" (\(key))", "stranger"))
        #expect(person.fields == PersonFields(id: PeerID.sample(2).text, name: "study"))
        #expect(person.word == "study")
        let nameless = try Person.sample(2, nil, contacts: ["mum"])
        #expect((nameless.line, nameless.name) == ("stranger (\(key))", "(does not tell its name)"))
        #expect(nameless.word == nil)
    }

    @Test(
        "a name that is shown is a name that is taken",
        arguments: [
            #"Ask "q" <b>"#, "it's", "a\u{202E}b", "a    b", "tab\there", "k7qf-9m2c-x4ap-t0zd", "`x`", "",
            "👩\u{200D}👧", String(repeating: "\u{200D}x", count: 15),
        ])
    func taken(name: String) throws {
        let person = try Person.sample(2, name)
        for shown in [person.name, TerminalText.peerName(name), TerminalText.escaped(name, limit: 64)]
        where !shown.isEmpty {
            #expect(person.isNamed(shown), "\(shown)")
        }
        #expect(!person.isNamed("another"))
        guard (try? ContactName(name)) != nil else { return }
        let contact = try Person.sample(1, "x", contacts: [name])
        let known = Contact(
            id: .sample(1), name: try ContactName(name),
            verification: Verification(.comparedCode, at: WallTime(milliseconds: 0)))
        let book = ContactSnapshot(contacts: [known], blockedStrangers: [])
        for shown in [contact.name, contact.line] { #expect(book.contact(named: shown) == known, "\(shown)") }
    }

    @Test("a stranger that has a contact's name is not that contact, and its name is no word for it")
    func impostor() throws {
        let person = try Person.sample(2, "kitchen", contacts: ["Kitchen"])
        #expect(person.line == "stranger \"kitchen\" (\(key), not your contact Kitchen)")
        #expect(person.standing == "not your contact Kitchen")
        #expect(person.fields == PersonFields(id: PeerID.sample(2).text, name: "kitchen", claims: "Kitchen"))
        #expect(person.word == nil)
    }

    @Test("in waft peers the standing and the key are beside the name")
    func listed() throws {
        let lines = try ([1, 2] as [UInt8]).map { number in
            let person = try Person.sample(number, "kitchen", contacts: ["kitchen"])
            return PeersList.line(found(person), person)
        }
        #expect(lines[0].hasPrefix("kitchen                 contact   \(PeerID.sample(1).short)"))
        #expect(lines[1].hasPrefix("kitchen                 not your contact kitchen  \(key)"))
    }

    @Test("in waft peers a remembered machine that the search finds too is one line, at its remembered address")
    func listedOnce() throws {
        let peers = try [(1, nil), (1, "lab7"), (2, nil), (1, "bench")].map { (number: UInt8, remembered: String?) in
            let person = try Person.sample(number, nil)
            return (found(person, rememberedAs: remembered), person)
        }
        #expect(PeersList.once(peers).map(\.0.rememberedAs) == ["lab7", nil, "bench"])
    }

    @Test("a remembered peer is written with its address, the address before, and its absence")
    func remembered() {
        for (line, words) in [
            (RememberedLine(name: "lab7", address: "a:1"), "lab7 is remembered at a:1"),
            (RememberedLine(name: "lab7", address: "a:1", former: "a:1"), "lab7 is remembered at a:1"),
            (
                RememberedLine(name: "lab7", address: "a:1", former: "b:1"),
                "lab7 is remembered at a:1, no longer at b:1"
            ), (RememberedLine(name: "lab7", address: "a:1", isRemoved: true), "lab7 is no longer remembered at a:1"),
        ] { #expect(line.words == [words]) }
        #expect(
            AwayLine(name: "x", address: "a\u{1B}:1", reason: "").words[0].hasSuffix(
                "absent     a\\u{1B}:1  (remembered)"))
    }

    @Test("in waft peers the keys stand below each other, whatever script the names are in")
    func aligned() throws {
        for name in ["kitchen", "キッチン", "주방", "🍳 kitchen", "cuisine\u{301}", "آشپز\u{200C}خانه"] {
            let person = try Person.sample(1, name)
            let line = PeersList.line(found(person), person)
            let key = try #require(line.firstRange(of: PeerID.sample(1).short))
            #expect(line[..<key.lowerBound].columns == 34, "\(line)")
        }
    }
}
