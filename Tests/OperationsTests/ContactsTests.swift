import Contacts
import Control
import Foundation
import Lines
import Settings
import Sharing
import Synchronization
import TestSupport
import Testing

@testable import Operations

private let anna = PeerID.sample(1)
private let kitchen = PeerID.sample(2)
private let stranger = PeerID.sample(3)

extension Kitchen {
    /// 2026-11-21 08:00:00 UTC, a Saturday.
    static let now = WallTime(milliseconds: 1_795_248_000_000)

    /// At one time, and with the bytes of a day for every sender; nil if the journal cannot be read.
    func waft(
        at time: WallTime = now, received: UInt64? = 0, policy: Policy = .none,
        warn: @escaping @Sendable (String) -> Void = { _ in }
    ) -> Waft {
        var settings = Settings(hostName: "kitchen")
        settings.policy = policy
        var waft = Waft(home, LiveSettings(settings), logger: waft.logger)
        (waft.now, waft.amounts, waft.warn) = ({ time }, Amounts(bytes: received), warn)
        return waft
    }

    private struct Amounts: AmountReading {
        var bytes: UInt64?

        func received(from sender: AmountSender, on day: Day) throws(JournalError) -> UInt64 {
            guard let bytes else { throw JournalError("no journal") }
            return bytes
        }
    }

    var book: ContactBook { home.contactBook() }
}

extension Waft {
    func terms(
        _ policy: ContactTerms.Answer? = nil, _ texts: [(ContactTerms.Term, [String])] = []
    ) throws -> ContactTerms {
        var terms = ContactTerms(policy: policy)
        for (term, text) in texts { try terms.read(term, text, on: self) }
        return terms
    }

    @discardableResult
    func allow(
        _ id: PeerID, _ name: String, _ policy: ContactTerms.Answer? = nil,
        _ texts: [(ContactTerms.Term, [String])] = []
    ) async throws -> ContactLine? {
        try await contacts.allow([NewContact(id.text, name: name)], terms(policy, texts)).first
    }
}

/// The failure of a call; nil without one.
func failure<Value>(of call: () async throws -> Value) async -> WaftError? {
    do {
        _ = try await call()
        return nil
    } catch {
        return error as? WaftError
    }
}

@Suite("What a user can do with contacts")
struct ContactsTests {
    private let home: Kitchen

    init() throws { home = try Kitchen(jobs: 0) }

    @Test("a key becomes a contact with its terms, is listed, shown, renamed and forgotten")
    func course() async throws {
        let waft = home.waft()
        let empty = try waft.contacts.list()
        #expect(empty.contacts.isEmpty && empty.blocked.isEmpty)
        let allowed = try #require(
            try await waft.allow(
                anna, "Anna", .accept,
                [
                    (.until, ["30d"]), (.types, ["public.image", "com.adobe.pdf", "public.image"]),
                    (.sizeAtMost, ["5GB"]), (.sizePerDay, ["1 MB"]), (.itemsAtMost, ["20"]), (.hours, ["08:00-18:00"]),
                    (.folder, ["From Anna"]), (.protection, ["none"]),
                ]))
        #expect(
            allowed.json == #"{"blocked":false,"event":"contact","folder":"From Anna","hours":"08:00-18:00","id":""#
                + anna.text + #"","itemsAtMost":20,"name":"Anna","policy":"accept","protection":"none","reached":[],"#
                + #""sizeAtMost":5000000000,"sizePerDay":1000000,"types":["public.image","com.adobe.pdf"],"#
                + #""until":"2026-12-21T08:00:00Z","v":1,"verifiedAt":"2026-11-21T08:00:00Z","verifiedBy":"keyID"}"#)
        try await waft.allow(kitchen, "kitchen")
        #expect(try waft.contacts.list().contacts.map(\.json).first == allowed.json)
        #expect(try waft.contacts.show("anna").json == allowed.json)
        #expect(try waft.contacts.show(String(anna.text.prefix(8))).name == "Anna")
        let renamed = try await waft.contacts.rename("anna", to: "Anna B.")
        #expect(renamed.contact.name == "Anna B." && renamed.former == "Anna" && renamed.rules.isEmpty)
        let forgotten = try await waft.contacts.forget("Anna B.")
        #expect(
            forgotten.json == #"{"blocked":false,"event":"forgotten","id":"\#(anna.text)","name":"Anna B.","v":1}"#)
        #expect(try waft.contacts.list().contacts.map(\.name) == ["kitchen"])
    }

    @Test("a running receiver hears of each change of a group")
    func groups() async throws {
        let kitchen = try Kitchen(jobs: 0)
        let asked = Recorder<ControlRequest>()
        try await kitchen.withReceiver { request in
            asked.record(request)
            return .done
        } _: {
            _ = try await kitchen.waft.contacts.add([], toGroup: "lab")
            #expect(try kitchen.waft.contacts.groups().map { $0.name } == ["lab"])
            let line = try await kitchen.waft.contacts.deleteGroup("@lab")
            #expect(line.deleted == true)
        }
        #expect(asked.all == [.lookAgain, .lookAgain])
    }

    @Test("an id is taken in groups and in upper case, and this machine prints its own")
    func ids() async throws {
        let waft = home.waft()
        let grouped = stride(from: 0, to: 56, by: 4).map { String(anna.text.dropFirst($0).prefix(4)) }
        let new = try NewContact(grouped.joined(separator: "-").uppercased(), name: "Anna")
        #expect(new.id == anna)
        let me = try waft.contacts.me()
        #expect(me.name == "kitchen" && PeerID(text: me.id)?.short == me.short)
        let own = await failure { try await waft.contacts.allow([NewContact(me.id, name: "x")], ContactTerms()) }
        #expect(own?.code == .usage && own?.reason.hasPrefix("this is the key of this machine itself") == true)
        #expect(await failure { try await waft.contacts.block(me.id) }?.code == .usage)
    }

    @Test(
        "a text that is no whole id is refused, and the failure says why",
        arguments: [
            (anna.short, "is only the beginning of a key id, 16 of 56 characters"),
            ("anna", "is only the beginning of a key id, 4 of 56 characters"), ("", "\"\" is not a key id"),
            ("\u{1B}[2J", "\"\\u{1B}[2J\" is not a key id, which has 56 letters and digits"),
            (anna.bareText, "is a key id without its check digits, 52 of 56 characters; copy it again"),
            (
                anna.bareText.replacing("1", with: "2", maxReplacements: 1) + anna.text.suffix(4),
                "is not a key id: its check digits do not match, so a character is wrong or two are swapped; copy it again"
            ), (String(repeating: "a", count: 100_000), "is not a key id"),
        ])
    func noID(text: String, reason: String) async throws {
        let refusal = await failure { try NewContact(text, name: "A") }
        #expect(refusal?.code == .usage && refusal?.reason.contains(reason) == true, "\(refusal?.reason ?? "")")
        #expect(refusal?.hint == "to print the key id of the other machine, run there: waft contacts me")
    }

    @Test(
        "a name that no contact can have is refused",
        arguments: [
            "Berta", "", "a\u{202E}b", "strangers", "a/b", "Anna ✓", "Anna (contact)",
        ])
    func noName(name: String) async throws {
        let waft = home.waft()
        try await waft.allow(anna, "Anna")
        let before = try String(contentsOfFile: home.book.path, encoding: .utf8)
        #expect(await failure { try await waft.allow(anna, name) }?.code == .usage)
        #expect(await failure { try await waft.allow(kitchen, "ANNA") }?.code == .usage)
        #expect(try String(contentsOfFile: home.book.path, encoding: .utf8) == before)
        #expect(try NewContact(anna.text, name: "✓ Anna").name.text == "✓ Anna")
    }

    @Test(
        "a term that cannot be used is refused",
        arguments: [
            (.until, "soon", "\"soon\" is not a duration"), (.until, "9999999d", "9999999d"),
            (.sizeAtMost, "much", "\"much\" is not a size"), (.sizePerDay, "much", "\"much\" is not a size"),
            (.itemsAtMost, "0", "\"0\" is not a number from 1 to 10000"), (.itemsAtMost, "٣", "is not a number"),
            (.hours, "8-18", "\"8-18\" is not a time of the day"), (.types, "jpg", "jpg is a file name extension"),
            (.folder, "../x", "\"../x\" is not a folder below the Inbox"), (.folder, "/etc", "is not a folder"),
            (.handler, "a/b", "is not a handler's identifier or name"),
            (.handler, "Nope", "there is no handler Nope"),
            (.protection, "most", "\"most\" is not one of none, "),
        ] as [(ContactTerms.Term, String, String)])
    func noTerm(term: ContactTerms.Term, text: String, reason: String) async {
        let waft = home.waft()
        let refusal = await failure { try waft.terms(nil, [(term, [text])]) }
        #expect(refusal?.code == (text == "Nope" ? .inputMissing : .usage))
        #expect(refusal?.reason.contains(reason) == true, "\(refusal?.reason ?? "")")
        let far = home.waft(at: WallTime(milliseconds: .max))
        #expect(await failure { try far.terms(nil, [(.until, ["30d"])]) }?.reason == "this machine's clock is wrong")
        let types = Array(repeating: "public.image", count: ContactBounds.types + 1)
        #expect(await failure { try waft.terms(nil, [(.types, types)]) }?.reason == "at most 32 types, not 33")
    }

    @Test("terms change the named settings, remove limits by their word, and leave the rest")
    func terms() async throws {
        let waft = home.waft()
        try await waft.allow(
            anna, "Anna", .accept,
            [
                (.until, ["2h"]), (.types, ["public.image"]), (.sizeAtMost, ["1 MB"]), (.itemsAtMost, ["1"]),
                (.hours, ["22:00-06:00"]), (.handler, ["Inbox"]), (.folder, ["A"]),
            ])
        let set = try await waft.contacts.set(
            "anna", waft.terms(nil, [(.types, ["any"]), (.sizeAtMost, ["any"]), (.folder, [""])]))
        #expect(set.types == nil && set.sizeAtMost == nil && set.folder == nil && set.handler == "Inbox")
        #expect(set.itemsAtMost == 1 && set.hours == "22:00-06:00" && !set.hasEnded)
        #expect(try home.waft(at: Kitchen.now.after(.seconds(7_200))).contacts.show("anna").hasEnded)
        _ = try await waft.contacts.set(
            "anna",
            waft.terms(
                .decline,
                [
                    (.until, ["ever"]), (.itemsAtMost, ["any"]), (.hours, ["any"]), (.handler, [""]),
                    (.sizePerDay, ["any"]), (.protection, ["usual"]),
                ]))
        let contact = try #require(try home.book.snapshot()[anna])
        #expect(contact.limits == .none && contact.destination == .usual && contact.policy == .decline)
        let unknown = await failure { try await waft.contacts.set("nobody", ContactTerms()) }
        #expect(unknown?.code == .inputMissing && unknown?.hint == "see: waft contacts")
        let unsealed = await failure {
            try await waft.contacts.set("anna", waft.terms(nil, [(.protection, ["complete"])]))
        }
        #expect(
            unsealed
                == WaftError(
                    .usage, "data protection is not set up", hint: "set it up with: waft protection set-up"))
    }

    @Test("to allow a contact again under its name changes only the terms, and another name is refused")
    func again() async throws {
        let waft = home.waft()
        try home.book.allow(anna, named: ContactName("Anna"), Verification(.comparedCode, at: Kitchen.now))
        let contact = try await waft.allow(anna, "ANNA", .accept)
        #expect(contact?.verifiedBy == "comparedCode" && contact?.policy == "accept" && contact?.name == "Anna")
        let other = await failure { try await waft.allow(anna, "it's") }
        #expect(other?.reason == "this key already belongs to your contact Anna")
        #expect(other?.hint == "to rename it: waft contacts rename Anna NEW")
    }

    @Test("rules that go by the name before are the user's to change")
    func rules() async throws {
        let waft = home.waft(policy: try Policy([PolicyRule([.from([.contact(ContactName("anna"))])], .accept)]))
        try await waft.allow(anna, "Anna")
        #expect(try await waft.contacts.rename("Anna", to: "ANNA").rules.isEmpty)
        let rules = try await waft.contacts.rename("Anna", to: "Berta").rules
        #expect(rules.map(\.rule) == [1] && rules.map(\.name) == ["anna"])
        #expect(await failure { try await waft.contacts.rename("Berta", to: "a/b") }?.code == .usage)
    }

    @Test("contacts and strangers are blocked and unblocked, and a blocked peer cannot be allowed or escape")
    func blocking() async throws {
        let waft = home.waft()
        try await waft.allow(anna, "Anna", .accept)
        let blocked = try await waft.contacts.block("anna")
        #expect(blocked.json == #"{"blocked":true,"event":"blocked","id":"\#(anna.text)","name":"Anna","v":1}"#)
        #expect(try await waft.contacts.block(stranger.text).name == nil)
        let (contacts, strangers) = try waft.contacts.list()
        #expect(contacts.map(\.blocked) == [true] && strangers.map(\.id) == [stranger.text])
        #expect(await failure { try await waft.allow(anna, "Anna") }?.reason.contains("unblock it first") == true)
        #expect(await failure { try await waft.allow(stranger, "S") }?.code == .usage)
        #expect(try await waft.contacts.forget("Anna").blocked)
        #expect(try home.book.snapshot().relation(of: anna) == .blocked(nil))
        #expect(try await waft.contacts.unblock(anna.text).event == "unblocked")
        let free = await failure { try await waft.contacts.unblock(anna.text) }
        #expect(free == WaftError(.usage, "the peer \(anna.short) is not blocked", hint: "see: waft contacts"))
        #expect(await failure { try await waft.contacts.block(stranger.short) }?.code == .usage)
        #expect(await failure { try await waft.contacts.block("nobody") }?.hint == "see: waft contacts")
    }

    @Test("the bytes of the day are shown where they count")
    func amounts() async throws {
        try await home.waft().allow(anna, "Anna", .accept)
        #expect(try home.waft(received: 7).contacts.show("Anna").received == nil)
        try await home.waft().allow(anna, "Anna", nil, [(.sizePerDay, ["5GB"])])
        #expect(try home.waft(received: 7).contacts.show("Anna").received == 7)
        let contact = try home.waft(received: nil).contacts.show("Anna")
        #expect(contact.received == nil && !contact.json.contains("received"))
    }

    @Test("times that no calendar has are listed", arguments: [Int64.min, -1, Int64.max])
    func farTimes(milliseconds: Int64) throws {
        let far = WallTime(milliseconds: milliseconds)
        try home.book.allow(anna, named: ContactName("Anna"), Verification(.keyID, at: far))
        try home.book.set("Anna") { $0.limits.until = far }
        #expect(try home.waft(at: far).contacts.list().contacts.map(\.hasEnded) == [true])
        #expect(try home.waft().contacts.show("Anna").json.contains("until"))
    }

    @Test("a damaged file is reported, and stays unchanged")
    func damaged() async throws {
        try Data("{".utf8).write(to: URL(fileURLWithPath: home.book.path))
        let waft = home.waft()
        #expect(await failure { try waft.contacts.list() }?.code == .unexpected)
        #expect(await failure { try await waft.allow(anna, "Anna") }?.code == .unexpected)
        #expect(try String(contentsOfFile: home.book.path, encoding: .utf8) == "{")
    }

    @Test("a damaged file with a good copy is replaced, and the user hears of it")
    func restored() async throws {
        try await home.waft().allow(anna, "Anna")
        try Data("{".utf8).write(to: URL(fileURLWithPath: home.book.path))
        let heard = Recorder<String>()
        #expect(try home.waft { heard.record($0) }.contacts.list().contacts.map(\.name) == ["Anna"])
        #expect(heard.all.map { $0.hasPrefix("the contacts were damaged, and were moved to ") } == [true])
    }

    @Test("a running receiver is told of every change and of nothing else, and if it cannot hear, the user is")
    func told() async throws {
        let (asked, heard) = (Recorder<ControlRequest>(), Recorder<String>())
        let waft = home.waft { heard.record($0) }
        try await home.withReceiver { request in
            asked.record(request)
            return .done
        } _: {
            try await waft.allow(anna, "Anna")
            _ = try await waft.contacts.set("Anna", ContactTerms())
            _ = try await waft.contacts.rename("Anna", to: "Berta")
            _ = try await waft.contacts.block("Berta")
            _ = try await waft.contacts.unblock("Berta")
            _ = try await waft.contacts.forget("Berta")
            _ = (try waft.contacts.list(), try waft.contacts.me())
        }
        #expect(asked.all == Array(repeating: .lookAgain, count: 6))
        try await home.withReceiver { _ in
            .denied("a handler has started it")
        } _: {
            try await waft.allow(anna, "Anna")
        }
        #expect(heard.all.map { $0.hasPrefix("the running receiver may not know of the change: ") } == [true])
    }

    @Test("the sender of an offer that waits can become a contact, unless it has proved no key")
    func ofOffer() async throws {
        let waft = home.waft()
        let proven = OfferLine(.sample(), from: PersonFields(id: anna.text, name: "anna"))
        var offers = [proven, OfferLine(.sample(), from: PersonFields(name: "phone"))]
        for number in offers.indices { (offers[number].offer, offers[number].via) = (number + 1, "waft") }
        let waiting = offers
        try await home.withReceiver { _ in
            .offers(waiting)
        } _: {
            let sender = try await waft.contacts.sender(ofOffer: 1)
            #expect(sender.key == anna.text && sender.dialect == "Waft" && sender.offer == waiting[0])
            let unproven = await failure { try await waft.contacts.sender(ofOffer: 2) }
            #expect(unproven?.reason.hasPrefix("the sender of offer 2 came by Waft and proved no key") == true)
            #expect(await failure { try await waft.contacts.sender(ofOffer: 3) }?.code == .inputMissing)
        }
        let new = try NewContact(anna.text, name: "Anna", isOfOffer: true)
        #expect(try await waft.contacts.allow([new], ContactTerms()).map(\.verifiedBy) == ["firstUse"])
        #expect(await failure { try await waft.contacts.sender(ofOffer: 1) }?.code == .notRunning)
    }
}

@Suite("A list of peers that become contacts")
struct ContactListTests {
    private let home: Kitchen

    init() throws { home = try Kitchen(jobs: 0) }

    private func allow(_ path: String) async throws -> [ContactLine] {
        try await home.waft().contacts.allow(try NewContact.list(at: path), ContactTerms(policy: .accept))
    }

    @Test("all lines become contacts with the same terms; comments and empty lines are passed over")
    func list() async throws {
        let file = home.folder.file(
            "peers", "# Ours\r\n\(anna.text) Anna B.\r\n\n  \(kitchen.text.uppercased())\t kitchen  \n")
        let contacts = try await allow(file)
        #expect(contacts.map(\.name) == ["Anna B.", "kitchen"] && contacts.map(\.policy) == ["accept", "accept"])
        #expect(try await allow(file).map(\.json) == contacts.map(\.json), "once more is no error")
    }

    @Test("one bad line refuses all, with its number")
    func allOrNothing() async throws {
        let good = "\(anna.text) Anna\n"
        let me = try home.waft().contacts.me().id
        _ = try await home.waft().contacts.block(stranger.text)
        let refused: [(String, String)] = [
            (good + "\(kitchen.short) kitchen", "line 2: \"\(kitchen.short)\" is only the beginning of a key id"),
            (good + "\n\(kitchen.text)", "line 3: a KEY-ID, a space and a NAME are needed"),
            (good + "\(kitchen.text) a/b", "line 2: \"a/b\" cannot be the name of a contact"),
            (good + "\(kitchen.text) anna", "line 2: there is already a contact Anna"),
            (good + "\(anna.text) Berta", "line 2: the key is listed twice, also with the name Anna"),
            (good + "\(me) me", "line 2: this is the key of this machine itself"),
            (good + "\(stranger.text) S", "line 2: the peer \(stranger.short) is blocked"),
            (good + "\u{1B}[2J x", "line 2: \"\\u{1B}[2J\" is not a key id"),
            ("# nobody\n", "has no contacts in it"), ("", "has no contacts in it"),
        ]
        for (text, message) in refused {
            let file = home.folder.file("peers", text)
            let failure = await failure { try await allow(file) }
            #expect(failure?.code == .usage && failure?.reason.contains(message) == true, "\(failure?.reason ?? "")")
            #expect(try home.waft().contacts.list().contacts.isEmpty)
        }
    }

    @Test("a pipe is read to its end")
    func pipe() async throws {
        let pipe = Pipe()
        try pipe.fileHandleForWriting.write(contentsOf: Data("\(anna.text) Anna\n".utf8))
        try pipe.fileHandleForWriting.close()
        let file = pipe.fileHandleForReading.fileDescriptor
        #expect(try NewContact.list(in: file, called: "standard input").map(\.id) == [anna])
    }

    @Test("a list that is missing, not text, a folder or too large is refused")
    func unreadable() async throws {
        let binary = home.folder / "binary"
        try Data([0xFF, 0xFE, 0x00]).write(to: URL(fileURLWithPath: binary))
        let many = home.folder.file(
            "many", String(repeating: anna.text + " Anna\n", count: ContactBounds.contacts + 1))
        for (path, code, reason) in [
            (home.folder / "none", .inputMissing, "cannot be read"),
            (home.folder.path, .inputMissing, "cannot be read"), ("a\0b", .inputMissing, "cannot be read"),
            (binary, .usage, "is not UTF-8 text"), ("/dev/zero", .usage, "is larger than 2 MiB"),
            (many, .usage, "more than 10000 contacts"),
        ] as [(String, WaftExit, String)] {
            let failure = await failure { try await allow(path) }
            #expect(failure?.code == code && failure?.reason.contains(reason) == true, "\(path)")
        }
    }
}
