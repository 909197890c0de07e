import Contacts
import Sharing
import TestSupport
import Testing

@Suite("Names of contacts")
struct NameTests {
    @Test(
        "names that differ in case, normalisation or invisible characters are the same",
        arguments: [
            ("Anna", "anna"), ("ANNA", "anna"), ("Café", "Cafe\u{301}"), ("Straße", "STRASSE"), ("Ａｎｎａ", "anna"),
            ("the  kitchen", "The Kitchen"), ("ﬁle", "file"), ("Σίσυφος", "ΣΊΣΥΦΟΣ"), ("an\u{200D}na", "anna"),
        ])
    func oneName(left: String, right: String) throws {
        #expect(try name(left) == name(right))
        #expect(NameFolding.key(left) == NameFolding.key(right))
    }

    @Test("names that people tell apart are two", arguments: [("anna", "anne"), ("a b", "ab"), ("Müller", "Muller")])
    func twoNames(left: String, right: String) throws {
        #expect(try name(left) != name(right))
    }

    @Test("a group without a name is told a group's name", arguments: ["", "@"])
    func emptyGroup(text: String) {
        #expect(refusal { _ = try ContactName(ofGroup: text) } == "a group's name has 1 to 63 bytes")
    }

    @Test(
        "an impossible name is refused with a printable line",
        arguments: [
            "", " ", " anna", "anna ", "a/b", "a\nb", "\u{1B}[31mred", "exe.\u{202E}gpj", "an\u{200B}na", "an\u{AD}na",
            "\u{200D}", "\u{FEFF}anna", "contacts", "Strangers", "EVERYONE", String(repeating: "a", count: 64),
            String(repeating: "é", count: 32), "a\u{2028}b", "a\u{E0041}b",
        ])
    func refused(text: String) {
        let line = refusal { _ = try ContactName(text) }
        #expect(line != nil)
        let isPrintable = line?.unicodeScalars.allSatisfy { scalar in
            ![.control, .format, .lineSeparator].contains(scalar.properties.generalCategory)
        }
        #expect(isPrintable == true)
        #expect((line?.utf8.count ?? 0) < 400)
    }

    @Test(
        "the names that people use are valid",
        arguments: ["a", "anna's phone", "台所", "Küche", "-rf", "👨‍👩‍👧", "k7qf", String(repeating: "é", count: 31)])
    func allowed(text: String) throws {
        #expect(try name(text).text == text)
    }

    @Test(
        "a stranger that calls itself like a contact is recognised",
        arguments: [
            "anna", "ANNA", "Anna ", "an na", "a-n-n-a", "an\u{200B}na", "\u{202E}anna", "аnna",
            "аппа".replacing("п", with: "n"),
            "Ａｎｎａ", "ann\u{430}", "ánna", "ａｎｎａ", "a.n.n.a", "𝐚𝐧𝐧𝐚", "anna ✓", "\u{2066}anna\u{2069}",
        ])
    func impersonated(text: String) throws {
        let book = ContactSnapshot(
            contacts: [try .sample(), try .sample("berta", id: .sample(2))], blockedStrangers: [])
        #expect(book.impersonated(by: text, of: .sample(9)).map(\.name.text) == ["anna"])
        let shown = book.introduction(of: .sample(9), callingItself: text)
        #expect(!shown.isContact)
        #expect(shown.warning?.hasPrefix("this is not your contact anna: it claims that name, but its key is ") == true)
        #expect(shown.line.hasPrefix("stranger \""))
        #expect(shown.line.hasSuffix(" (\(PeerID.sample(9).short), not your contact anna)"))
        // As Waft prints a contact.
        for mark in [" ✓", "✓"] { #expect(book.contact(named: "anna" + mark)?.name.text == "anna") }
        #expect(book.contact(named: "✓") == nil)
        #expect((shown.claims, shown.standing) == ("anna", "not your contact anna"))
        #expect(shown.line.unicodeScalars.allSatisfy { $0.properties.generalCategory != .format })
    }

    @Test("a stranger without a name has its key, one without a key its protocol, and a contact the user's name")
    func words() throws {
        let book = ContactSnapshot(contacts: [try .sample()], blockedStrangers: [])
        let (nameless, contact) = (
            book.introduction(of: .sample(9), callingItself: nil), book.introduction(of: .sample(1), callingItself: "x")
        )
        #expect((nameless.line, nameless.standing) == ("stranger (\(PeerID.sample(9).short))", "stranger"))
        #expect((contact.line, contact.standing, contact.contact) == ("anna", "contact", "anna"))
        let keyless = PeerID.unproven(.keyless, seed: [])
        let title = Dialect.keyless.title
        #expect(book.introduction(of: keyless, callingItself: "Zoë").line == "stranger \"Zoë\" by \(title)")
        #expect(
            book.introduction(of: keyless, callingItself: "anna").line
                == "stranger \"anna\" by \(title) (not your contact anna)")
        #expect(book.introduction(of: keyless, callingItself: "Zoë").standing == "stranger by \(title)")
    }

    @Test("a stranger cannot put another key where its own is shown")
    func quotes() {
        let shown = ContactSnapshot.empty.introduction(of: .sample(9), callingItself: #"anna" (k7qf-9m2c)"#)
        #expect(shown.line == #"stranger "anna_ (k7qf-9m2c)" (\#(PeerID.sample(9).short))"#)
    }

    @Test(
        "a stranger's name cannot imitate the line around it",
        arguments: [
            (
                "Oven' (tqbn-fbyg-nndm-hwhb) offers 1 item, 5 bytes; contact 'An",
                "Oven_ (…) offers 1 item, 5 bytes; contact _An"
            ),
            ("“Oven” tqbn–fbyg–nndm–hwhb", "_Oven_ …"), ("a  \u{2003} \u{A0}b", "a b"),
            ("«Oven»\u{2800}\u{3164}x", "_Oven_x"), ("Anna's iPhone", "Anna's iPhone"),
            ("Anna’s iPhone", "Anna’s iPhone"), ("Anna-Lena", "Anna-Lena"), ("Küche (unten)", "Küche (unten)"),
        ])
    func imitation(text: String, shown: String) {
        let introduction = ContactSnapshot.empty.introduction(of: .sample(9), callingItself: text)
        #expect(introduction.name == shown)
        #expect(introduction.line == "stranger \"\(shown)\" (\(PeerID.sample(9).short))")
    }

    @Test(
        "a stranger whose name can be taken for a contact's is warned of",
        arguments: [
            "Oven", "OVEN", "oven ", "Oven\u{2800}", "O\u{3164}ven", "Oven\u{200B}", "Ov\u{AD}en", "Ovеn", "Оven",
            "Οven",
            "Oveп", "Օvեո", "Օᴠen", "ᎾᏙᎬN".replacing("Ꮩ", with: "v"), "ꮎven", "ᎤᏙen", "Ov3n", "0v3n", "0ven", "Owen",
            "Ovem", "Ovne", "Ovens", "Ovn", "Oven (contact)", "My Oven", "Oven-2", "Ｏｖｅｎ", "𝓞𝓿𝓮𝓷", "🅾🆅🅴🅽", "ᴏᴠᴇɴ",
            "Övén", "O v e n", "oⅴen", "٥ven",
        ])
    func alike(text: String) throws {
        let book = ContactSnapshot(contacts: [try .sample("Oven")], blockedStrangers: [])
        #expect(book.introduction(of: .sample(9), callingItself: text).warning != nil, "\(text)")
    }

    @Test(
        "names that people tell apart are not warned of",
        arguments: [
            ("Anna", "Hanna"), ("Anna", "Berta"), ("Jan", "Jana"), ("Oven", "Fridge"), ("laptop-1", "laptop-2"),
            ("Oven", "Oven".replacing("ven", with: "live")), ("Kitchen", "Chicken"), ("al", "al gore"), ("台所", "台北"),
        ])
    func different(contact: String, stranger: String) throws {
        let book = ContactSnapshot(contacts: [try .sample(contact)], blockedStrangers: [])
        #expect(book.introduction(of: .sample(9), callingItself: stranger).warning == nil)
    }

    @Test("a contact's name with rn is like one with m, whatever else differs")
    func joined() throws {
        let book = ContactSnapshot(contacts: [try .sample("modem")], blockedStrangers: [])
        #expect(book.introduction(of: .sample(9), callingItself: "rnodern").warning != nil)
    }

    @Test(
        "lookalikes of digits and letters are recognised", arguments: [("kitchen 1", "kitchen l"), ("modem", "modern")])
    func lookalikes(left: String, right: String) throws {
        let book = ContactSnapshot(contacts: [try .sample(left)], blockedStrangers: [])
        #expect(book.impersonated(by: right, of: .sample(9)).count == 1)
    }

    @Test("a contact is shown by the user's own name, and is no impersonator of itself or of others")
    func contactItself() throws {
        let book = ContactSnapshot(
            contacts: [try .sample(), try .sample("berta", id: .sample(2))], blockedStrangers: [])
        let shown = book.introduction(of: .sample(1), callingItself: "berta")
        #expect(shown.line == "anna")
        #expect(shown.isContact)
        #expect(shown.warning == nil)
        #expect(book.introduction(of: .sample(9), callingItself: "carla").warning == nil)
    }

    @Test(
        "a stranger's name is printable where it is shown, and never empty",
        arguments: [
            "\u{1B}[2J\u{1B}[31mroot", "a\nb\r", "\u{202E}gnp.exe", "", "\u{200B}\u{200D}", "\u{0}", "<img src=x>",
            String(repeating: "\u{301}", count: 100_000), String(repeating: "x", count: 1_000_000),
        ])
    func hostile(text: String) {
        let shown = ContactSnapshot.empty.introduction(of: .sample(9), callingItself: text)
        #expect((1...63).contains(shown.name.utf8.count))
        let isPrintable = shown.line.unicodeScalars.allSatisfy { scalar in
            ![.control, .format, .lineSeparator, .paragraphSeparator].contains(scalar.properties.generalCategory)
        }
        #expect(isPrintable)
        #expect(ContactSnapshot.empty.impersonated(by: text, of: .sample(9)).isEmpty)
    }
}
