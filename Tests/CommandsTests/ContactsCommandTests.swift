import Contacts
import Foundation
import Sharing
import Synchronization
import TestSupport
import Testing

@testable import Commands

private let anna = PeerID.sample(1)
private let kitchen = PeerID.sample(2)
private let stranger = PeerID.sample(3)

@Suite("waft contacts")
struct ContactsCommandTests {
    @Test("no contact can have the mark of contacts in the end of its name")
    func mark() throws {
        #expect(throws: CommandError.self) { try CommandError.contactName("Anna ✓") }
        #expect(try CommandError.contactName("✓ Anna").text == "✓ Anna")
    }

    @Test("a key becomes a contact with its terms, and is listed, shown, renamed and forgotten")
    func transcript() throws {
        let shelf = ContactsShelf()
        let empty = try shelf.run("contacts")
        #expect(empty.results.isEmpty)
        #expect(empty.notes == ["there are no contacts; make one with: waft contacts allow KEY-ID --name NAME"])

        let allowed = try shelf.run(
            "contacts", "allow", anna.text, "--name", "Anna", "--policy", "accept", "--for", "30d", "--types",
            "public.image", "com.adobe.pdf", "--size-at-most", "5GB", "--items-at-most", "20", "--time", "08:00-18:00",
            "--folder", "From Anna")
        let line =
            "Anna  \(anna.short)  accept: public.image or com.adobe.pdf, up to 5.0 GB, up to 20 items, 08:00-18:00, "
            + "until 2026-12-21 08:00:00"
        #expect(allowed.results == ["allowed " + line])
        try #require(try shelf.run("contacts", "allow", kitchen.text, "--name", "kitchen").notes.isEmpty)
        #expect(try shelf.run("contacts", "list").results == [line, "kitchen  \(kitchen.short)  ask"])
        #expect(try shelf.run("contacts").results == shelf.run("contacts", "list").results)

        #expect(
            try shelf.run("contacts", "show", "anna").results == [
                "Anna",
                "  id        \(anna.text)",
                "  policy    accept: its offers are accepted without a question",
                "  types     public.image",
                "            com.adobe.pdf",
                "  size      up to 5.0 GB in one offer",
                "  items     up to 20 in one offer",
                "  time      08:00-18:00",
                "  until     2026-12-21 08:00:00",
                "  folder    From Anna",
                "  verified  by its key id, 2026-11-21 08:00:00",
            ])
        #expect(try shelf.run("contacts", "show", String(anna.text.prefix(8))).results.first == "Anna")

        #expect(try shelf.run("contacts", "rename", "anna", "Anna B.").results == ["Anna is now called Anna B."])
        #expect(try shelf.run("contacts", "forget", "Anna B.").results == ["forgot Anna B. (\(anna.short))"])
        #expect(try shelf.snapshot().contacts.map(\.name.text) == ["kitchen"])
        #expect(shelf.failure("contacts", "show", "Anna B.").exit == 66)
    }

    @Test("an id is taken in groups and in upper case")
    func forms() throws {
        let shelf = ContactsShelf()
        let grouped = stride(from: 0, to: 56, by: 4).map { String(anna.text.dropFirst($0).prefix(4)) }
        _ = try shelf.run("contacts", "allow", grouped.joined(separator: "-").uppercased(), "--name", "Anna")
        #expect(try shelf.snapshot()[anna]?.name.text == "Anna")
    }

    @Test("a contact that cannot be allowed is refused in one line with exit 64, and nothing changes")
    func refusals() throws {
        let shelf = ContactsShelf()
        _ = try shelf.run("contacts", "allow", anna.text, "--name", "Anna")
        let before = try String(contentsOfFile: shelf.bookPath, encoding: .utf8)
        let refused: [([String], String)] = [
            ([anna.short, "--name", "A"], "is only the beginning of a key id, 16 of 56 characters"),
            (["anna", "--name", "A"], "is only the beginning of a key id, 4 of 56 characters"),
            (["", "--name", "A"], "\"\" is not a key id"),
            (["\u{1B}[2J", "--name", "A"], "is not a key id, which has 56 letters and digits"),
            (
                [anna.bareText, "--name", "A"],
                "is a key id without its check digits, 52 of 56 characters; copy it again"
            ),
            (
                [anna.bareText.replacing("1", with: "2", maxReplacements: 1) + anna.text.suffix(4), "--name", "A"],
                "is not a key id: its check digits do not match, so a character is wrong or two are swapped; copy it again"
            ),
            ([String(repeating: "a", count: 100_000), "--name", "A"], "is not a key id"),
            ([anna.text, "--name", "Berta"], "this key already belongs to your contact Anna"),
            ([kitchen.text, "--name", "ANNA"], "there is already a contact Anna"),
            ([kitchen.text, "--name", ""], "a contact's name has 1 to 63 bytes"),
            ([kitchen.text, "--name", "a\u{202E}b"], "cannot be the name of a contact"),
            ([kitchen.text, "--name", "strangers"], "it has another meaning in rules"),
            ([kitchen.text, "--name", "k", "--for", "soon"], "--for: \"soon\" is not a duration"),
            ([kitchen.text, "--name", "k", "--for", "9999999d"], "--for:"),
            ([kitchen.text, "--name", "k", "--size-at-most", "much"], "--size-at-most: \"much\" is not a size"),
            ([kitchen.text, "--name", "k", "--items-at-most", "0"], "--items-at-most: \"0\" is not a number from 1"),
            ([kitchen.text, "--name", "k", "--items-at-most", "٣"], "--items-at-most:"),
            ([kitchen.text, "--name", "k", "--time", "8-18"], "--time: \"8-18\" is not a time of the day"),
            ([kitchen.text, "--name", "k", "--types", "jpg"], "--types: jpg is a file name extension"),
            ([kitchen.text, "--name", "k", "--folder", "../x"], "--folder: \"../x\" is not a folder below the Inbox"),
            ([kitchen.text, "--name", "k", "--folder", "/etc"], "--folder:"),
            ([kitchen.text, "--name", "k", "--handler", "a/b"], "--handler:"),
            ([kitchen.text, "--name", "k", "--policy", "always"], "--policy"),
            ([kitchen.text], "give a KEY-ID and --name"),
            (["--name", "k"], "give a KEY-ID and --name"),
            ([kitchen.text, "--name", "k", "--from", "x"], "give either --from FILE"),
            ([PeerID.sample(9).text, "--name", "k"], "this is the key of this machine itself"),
        ]
        for (words, message) in refused {
            let failure = shelf.failure(["contacts", "allow"] + words)
            #expect(failure.exit == 64, "\(words.joined(separator: " ").prefix(200))")
            #expect(failure.message.contains(message), "\(failure.message)")
            #expect(!failure.message.contains("\u{1B}") && !failure.message.contains("\u{202E}"))
        }
        #expect(try String(contentsOfFile: shelf.bookPath, encoding: .utf8) == before)
        #expect(
            shelf.failure("contacts", "allow", anna.short, "--name", "A").hint
                == "to print the key id of the other machine, run there: waft contacts me")
    }

    @Test("to allow a contact again under its name changes only the given settings, and keeps how it was verified")
    func again() throws {
        let shelf = ContactsShelf()
        let comparison = Verification(.comparedCode, at: WallTime(milliseconds: 1_000))
        try ContactBook(path: shelf.bookPath).allow(anna, named: ContactName("Anna"), comparison)
        _ = try shelf.run("contacts", "allow", anna.text, "--name", "ANNA", "--policy", "accept")
        let contact = try #require(try shelf.snapshot()[anna])
        #expect(contact.verification.method == .comparedCode)
        #expect(contact.policy == .accept)
        #expect(contact.name.text == "Anna")
    }

    @Test("set changes the named settings, removes limits by their word, and leaves the rest")
    func setting() throws {
        let shelf = ContactsShelf()
        _ = try shelf.run(
            "contacts", "allow", anna.text, "--name", "Anna", "--policy", "accept", "--for", "2h", "--types",
            "public.image", "--size-at-most", "1 MB", "--items-at-most", "1", "--time", "22:00-06:00", "--handler",
            "Photos", "--folder", "A")
        #expect(
            try shelf.run("contacts", "set", "anna", "--types", "any", "--size-at-most", "any").results == [
                "Anna  \(anna.short)  accept: up to 1 item, 22:00-06:00, until 2026-11-21 10:00:00"
            ])
        shelf.advance(seconds: 7_200)
        #expect(try shelf.run("contacts").text.contains("ended 2026-11-21 10:00:00"))
        #expect(try shelf.run("contacts", "show", "anna").text.contains("(ended: you are asked)"))
        let rest = try shelf.run(
            "contacts", "set", "anna", "--for", "ever", "--items-at-most", "any", "--time", "any", "--folder", "")
        #expect(rest.results == ["Anna  \(anna.short)  accept"])
        let contact = try #require(try shelf.snapshot()[anna])
        #expect(contact.limits == .none)
        #expect(contact.destination == (try Destination(handler: "Photos")))
        _ = try shelf.run("contacts", "set", "anna", "--handler", "", "--policy", "decline")
        #expect(try shelf.run("contacts").results == ["Anna  \(anna.short)  decline"])
        #expect(try shelf.snapshot()[anna]?.destination == .usual)

        #expect(shelf.failure("contacts", "set", "anna").message.contains("give at least one setting"))
        #expect(shelf.failure("contacts", "set", "nobody", "--policy", "ask").exit == 66)
        #expect(shelf.failure("contacts", "set", "nobody", "--policy", "ask").hint == "see: waft contacts")
        #expect(shelf.failure("contacts", "rename", "anna", "a/b").exit == 64)
    }

    @Test("if rules name a contact, rename prints a warning")
    func renaming() throws {
        let shelf = ContactsShelf(policy: try Policy([PolicyRule([.from([.contact(ContactName("anna"))])], .accept)]))
        _ = try shelf.run("contacts", "allow", anna.text, "--name", "Anna")
        #expect(try shelf.run("contacts", "rename", "Anna", "ANNA").notes.isEmpty)
        #expect(
            try shelf.run("contacts", "rename", "Anna", "Berta").notes == [
                "policy in the configuration still names anna, first in rule 1; change it there"
            ])
    }

    @Test("contacts and strangers are blocked and unblocked, and a blocked contact cannot be allowed or escape")
    func blocking() throws {
        let shelf = ContactsShelf()
        _ = try shelf.run("contacts", "allow", anna.text, "--name", "Anna", "--policy", "accept")
        #expect(try shelf.run("contacts", "block", "anna").results == ["Anna is blocked"])
        #expect(try shelf.run("contacts", "block", stranger.text).results == ["the peer \(stranger.short) is blocked"])
        #expect(
            try shelf.run("contacts").results == [
                "Anna  \(anna.short)  blocked",
                "stranger \"unnamed\"  \(stranger.short)  blocked since 2026-11-21 08:00:00",
            ])
        #expect(try shelf.run("contacts", "show", "anna").text.contains("  state     blocked"))
        #expect(shelf.failure("contacts", "allow", anna.text, "--name", "Anna").message.contains("unblock it first"))
        #expect(shelf.failure("contacts", "allow", stranger.text, "--name", "S").exit == 64)
        #expect(
            try shelf.run("contacts", "forget", "Anna").results == [
                "forgot Anna (\(anna.short)); its key is still blocked"
            ])
        #expect(try shelf.snapshot().relation(of: anna) == .blocked(nil))
        #expect(
            try shelf.run("contacts", "unblock", anna.text).results == ["the peer \(anna.short) is no longer blocked"])
        #expect(shelf.failure("contacts", "unblock", anna.text).message.contains("is not blocked"))
        #expect(shelf.failure("contacts", "block", stranger.short).message.contains("only the beginning"))
        #expect(shelf.failure("contacts", "block", PeerID.sample(9).text).message.contains("this machine itself"))
    }

    @Test("me prints the name and the whole id")
    func own() throws {
        let report = try ContactsShelf().run("contacts", "me")
        let id = PeerID.sample(9).text
        #expect(report.results == ["name  study's", "id    \(id)"])
        #expect(report.notes == ["on another machine: waft contacts allow \(id) --name 'study'\\''s'"])
        #expect(try ContactsShelf().run("contacts", "me", "--json").documents.first?["id"] as? String == id)
    }

    @Test("a daily amount is set, shown with the amount received so far, and removed again")
    func sizePerDay() throws {
        let shelf = ContactsShelf()
        _ = try shelf.run("contacts", "allow", anna.text, "--name", "Anna", "--policy", "accept")
        let set = try shelf.run("contacts", "set", "Anna", "--size-per-day", "5GB")
        #expect(set.text.contains("accept: up to 5.0 GB a day"))
        shelf.received.withLock { $0 = 1_200_000_000 }
        #expect(
            try shelf.run("contacts", "show", "Anna").text.contains(
                "  day       up to 5.0 GB in 24 hours; 1.2 GB received"))
        let document = try shelf.run("contacts", "show", "Anna", "--json").documents.first
        #expect(document?["sizePerDay"] as? Int == 5_000_000_000)
        let photo = shelf.folder.file("a.jpg", "12345")
        #expect(try shelf.run("policy", "test", "--from", "Anna", photo).text.contains("accept: "))
        shelf.received.withLock { $0 = 4_999_999_996 }
        #expect(
            try shelf.run("policy", "test", "--from", "Anna", photo).text.contains(
                "ask: offers of Anna are accepted only within limits, and the limit of 5 GB for 24 hours would be exceeded"
            ))
        shelf.received.withLock { $0 = nil }
        #expect(try shelf.run("policy", "test", "--from", "Anna", photo).text.contains("ask: "))
        _ = try shelf.run("contacts", "set", "Anna", "--size-per-day", "any")
        #expect(try shelf.snapshot().contact(named: "Anna")?.limits.sizePerDay == nil)
        let failure = shelf.failure("contacts", "set", "Anna", "--size-per-day", "much")
        #expect(failure.exit == 64 && failure.message.hasPrefix("--size-per-day: "))
    }

    @Test("every verb speaks JSON")
    func json() throws {
        let shelf = ContactsShelf()
        let allowed = try shelf.run(
            "contacts", "allow", anna.text, "--name", "Anna", "--policy", "accept", "--size-at-most", "1kB", "--for",
            "1h", "--json"
        ).documents
        #expect(allowed.count == 1)
        #expect(allowed.first?["event"] as? String == "contact")
        #expect(allowed.first?["id"] as? String == anna.text)
        #expect(allowed.first?["sizeAtMost"] as? Int == 1_000)
        #expect(allowed.first?["until"] as? String == "2026-11-21T09:00:00Z")
        #expect(allowed.first?["verifiedBy"] as? String == "keyID")
        #expect(allowed.first?["types"] == nil)
        func kind(_ words: String...) throws -> String? {
            try shelf.run(["contacts"] + words + ["--json"]).documents.first?["event"] as? String
        }
        #expect(try kind("set", "anna", "--policy", "ask") == "contact")
        #expect(try kind("show", "anna") == "contact")
        #expect(try kind("rename", "anna", "Berta") == "contact")
        #expect(try kind("block", "Berta") == "blocked")
        #expect(try kind("unblock", "Berta") == "unblocked")
        #expect(try kind("block", stranger.text) == "blocked")
        #expect(try kind("forget", "Berta") == "forgotten")
        #expect(try kind("list") == "blockedStranger")
        #expect(try kind("me") == "me")
    }

    @Test("a receiver is notified of changes, and of nothing else")
    func changes() throws {
        let shelf = ContactsShelf()
        let changing = [
            ["contacts", "allow", anna.text, "--name", "Anna"], ["contacts", "set", "anna", "--policy", "accept"],
            ["contacts", "rename", "anna", "Berta"], ["contacts", "block", "Berta"], ["contacts", "unblock", "Berta"],
            ["contacts", "forget", "Berta"], ["visible", "off"],
        ]
        for words in changing { #expect(try shelf.run(words).isChange, "\(words)") }
        for words in [["contacts"], ["contacts", "me"], ["visible"], ["policy"]] {
            #expect(try !shelf.run(words).isChange, "\(words)")
        }
    }

    @Test("names with escape sequences and directions are shown harmless")
    func hostileNames() throws {
        let shelf = ContactsShelf()
        try ContactBook(path: shelf.bookPath).block(
            stranger, callingItself: "A\u{1B}[2J\u{202E}\nB", at: WallTime(milliseconds: 0))
        #expect(try shelf.run("contacts").isPrintable)
        #expect(!shelf.failure("contacts", "show", "\u{1B}[2J\u{202E}").message.contains("\u{1B}"))
    }

    @Test("times that no calendar has are shown, and hurt nothing", arguments: [Int64.min, -1, Int64.max])
    func farTimes(milliseconds: Int64) throws {
        let shelf = ContactsShelf()
        let far = WallTime(milliseconds: milliseconds)
        try ContactBook(path: shelf.bookPath).allow(anna, named: ContactName("Anna"), Verification(.keyID, at: far))
        try ContactBook(path: shelf.bookPath).set("Anna") { $0.limits.until = far }
        #expect(try shelf.run("contacts").results.count == 1)
        #expect(try shelf.run("contacts", "show", "Anna").results.count > 3)
        #expect(try shelf.run("contacts", "list", "--json").documents.count == 1)
        shelf.clock.withLock { $0 = far }
        #expect(try shelf.run("visible", "everyone", "--for", "3660d").results.count == 1)
        #expect(shelf.failure("contacts", "set", "Anna", "--for", "30d").exit == (milliseconds == .max ? 64 : 0))
    }

    @Test("a handler that does not exist is 66, and nothing is set")
    func unknownHandler() throws {
        let shelf = ContactsShelf(handlers: ["Photos"])
        _ = try shelf.run("contacts", "allow", anna.text, "--name", "Anna")
        let refused = shelf.failure("contacts", "set", "Anna", "--handler", "Nope")
        #expect(refused.exit == 66 && refused.hint == "see: waft handlers")
        #expect(refused.message == "--handler: there is no handler Nope")
        #expect(try shelf.snapshot().contact(named: "Anna")?.destination == .usual)
        #expect(shelf.failure("contacts", "allow", kitchen.text, "--name", "k", "--handler", "Nope").exit == 66)
        for name in ["Photos", ""] {
            #expect(shelf.failure("contacts", "set", "Anna", "--handler", name).exit == 0)
        }
    }

    @Test("a damaged file is reported, stays unchanged, and is no usage error")
    func damaged() throws {
        let shelf = ContactsShelf()
        try FileManager.default.createDirectory(atPath: shelf.folder / "state", withIntermediateDirectories: true)
        shelf.folder.file("state/contacts.json", "{")
        #expect(shelf.failure("contacts").exit == 1)
        #expect(shelf.failure("contacts", "allow", anna.text, "--name", "Anna").exit == 1)
        #expect(try String(contentsOfFile: shelf.bookPath, encoding: .utf8) == "{")
    }
}
