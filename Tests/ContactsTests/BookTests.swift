import Contacts
import Foundation
import Sharing
import TestSupport
import Testing
import UniformTypes

@Suite("The book of contacts")
struct BookTests {
    let place = Place()

    /// A contact with every field set.
    private func fill(_ book: ContactBook) throws -> Contact {
        try book.allow(.sample(1), named: try name("Änne's 📱"), Verification(.typedCode, at: at(5)))
        let destination = try Destination(handler: "org.example.photos", folder: try SafeRelativePath("Photos/Änne"))
        let times = try TimeWindow("22:00-06:00", days: [.friday, .sunday])
        try book.set("Änne's 📱") { contact in
            contact.policy = .accept
            contact.limits = AcceptanceLimits(
                types: [uniform("public.image"), uniform("com.adobe.pdf")], largestOffer: .max, maximumItems: 7,
                sizePerDay: .max - 1,
                times: times, until: at(9_000))
            contact.destination = destination
        }
        try book.remember(try KnownAddress(host: "fe80::1%eth0", port: 9238, lastGood: at(7)), of: .sample(1))
        try book.block(.sample(1), callingItself: "", at: at(8))
        try book.block(.sample(2), callingItself: "bad\u{1B}[0m", at: at(8))
        return try #require(try book.snapshot()[.sample(1)])
    }

    @Test("another process reads all facts about a contact")
    func roundTrip() throws {
        let contact = try fill(place.book())
        let read = try place.book().snapshot()
        #expect(read.contacts == [contact])
        #expect(read.blockedStrangers.map(\.calledItself) == ["bad[0m"])
        #expect(contact.isBlocked && contact.addresses.count == 1 && contact.limits.largestOffer == .max)
        #expect(contact.destination.folder?.text == "Photos/Änne")
    }

    @Test("a contact whose end has come is a stranger, whose name is free; a block has no end")
    func ended() throws {
        let book = place.book()
        let soon = at(WallTime.now.milliseconds + 3_600_000)
        for (number, ends) in [(0, at(5)), (1, soon), (2, at(5))] as [(UInt8, WallTime)] {
            try book.allow(.sample(number), named: try name("peer \(number)"), Verification(.spokenCode, at: at(1)))
            if number == 2 { try book.block(.sample(2), callingItself: "", at: at(2)) }
            try book.set("peer \(number)") { $0.ends = ends }
        }
        let snapshot = try book.snapshot()
        #expect(snapshot.contacts.map(\.name.text) == ["peer 1", "peer 2"] && snapshot.contacts[0].ends == soon)
        #expect(snapshot.relation(of: .sample(0)) == .stranger)
        guard case .blocked = snapshot.relation(of: .sample(2)) else { throw ContactTestError("it is not blocked") }
        try book.allow(.sample(7), named: try name("peer 0"), .sample)
        // The next change has forgotten it. A contact that is verified again has no end.
        #expect(try !place.read(place.bookPath).contains(PeerID.sample(0).text))
        try book.allow(.sample(1), named: try name("peer 1"), .sample)
        #expect(try place.book().snapshot()[.sample(1)]?.ends == nil)
    }

    @Test("only the user can read the file and its copy, and no other file is beside them")
    func mode() throws {
        _ = try fill(place.book())
        let attributes = try FileManager.default.attributesOfItem(atPath: place.bookPath)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let copy = try FileManager.default.attributesOfItem(atPath: place.bookPath + ".last")
        #expect(copy[.posixPermissions] as? Int == 0o600)
        let folder = try FileManager.default.attributesOfItem(atPath: place.folder / "state")
        #expect(folder[.posixPermissions] as? Int == 0o700)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: place.folder / "state").sorted() == [
                "contacts.json", "contacts.json.last",
            ])
    }

    @Test("without a file there are no contacts, and looking makes none")
    func missing() throws {
        #expect(try place.book().snapshot().contacts.isEmpty)
        #expect(try place.book().unblock(.sample(1)) == false)
        #expect(!FileManager.default.fileExists(atPath: place.bookPath))
    }

    @Test("a change by another process is seen at the next look, also one made at once")
    func noticed() throws {
        let (mine, other) = (place.book(), place.book())
        for number in 0..<20 {
            try other.allow(.numbered(number), named: try name("peer \(number)"), .sample)
            #expect(try mine.snapshot().contacts.count == number + 1)
        }
        try other.forget("peer 3", at: at(1))
        #expect(try mine.snapshot().contact(named: "peer 3") == nil)
        for path in [place.bookPath, other.copyPath] { try FileManager.default.removeItem(atPath: path) }
        #expect(try mine.snapshot().contacts.isEmpty)
    }

    @Test("a contact is found by its name, or the beginning of its key's id")
    func find() throws {
        let book = place.book()
        let (first, second) = (PeerID.numbered(1), PeerID.numbered(2))
        try book.allow(first, named: try name("Anna"), .sample)
        try book.allow(second, named: try name("berta"), .sample)
        let snapshot = try book.snapshot()
        #expect(try snapshot.find("ANNA").id == first)
        #expect(try snapshot.find(first.text).id == first)
        #expect(try snapshot.find(first.text.uppercased()).id == first)
        // Both keys begin with the same zeros.
        #expect(
            refusal { _ = try snapshot.find(String(first.text.prefix(8))) }?.contains("several keys: Anna (") == true)
        for text in ["carla", "", "000", "\u{1B}[0m", String(repeating: "a", count: 100_000)] {
            #expect(refusal { _ = try snapshot.find(text) }?.hasPrefix("there is no contact ") == true)
        }
        // A name takes precedence over a key that begins with the same characters.
        try book.allow(.sample(7), named: try name(String(first.text.prefix(56))), .sample)
        #expect(try book.snapshot().find(first.text).id == .sample(7))
    }

    @Test("names are given once")
    func unique() throws {
        let book = place.book()
        try book.allow(.sample(1), named: try name("Anna"), .sample)
        let line = refusal { try book.allow(.sample(2), named: try ContactName("ANNA"), .sample) }
        #expect(
            line
                == "there is already a contact Anna, with the key \(PeerID.sample(1).short); forget it first if its key "
                + "has changed, or choose another name")
        try book.allow(.sample(2), named: try name("berta"), .sample)
        #expect(refusal { try book.rename("berta", to: try ContactName("anna")) } == line)
        try book.rename("anna", to: try name("ANNA"))
        try book.rename("berta", to: try name("carla"))
        try book.rename("anna", to: try name("berta"))
        #expect(try book.snapshot().contacts.map(\.name.text) == ["berta", "carla"])
    }

    @Test("a contact that is verified again keeps everything but name and verification")
    func again() throws {
        let book = place.book()
        try book.allow(.sample(1), named: try name("anna"), .sample)
        try book.set("anna") { $0.policy = .accept }
        let contact = try book.allow(.sample(1), named: try name("Anna B"), Verification(.keyID, at: at(99)))
        #expect(contact.policy == .accept)
        #expect(contact.verification == Verification(.keyID, at: at(99)))
        #expect(try book.snapshot().contacts == [contact])
    }

    @Test("a blocked peer stays blocked whatever happens to the contact")
    func blocked() throws {
        let book = place.book()
        try book.allow(.sample(1), named: try name("anna"), .sample)
        try book.block(.sample(1), callingItself: "", at: at(1))
        #expect(
            refusal { try book.allow(.sample(1), named: try ContactName("anna"), .sample) }?.contains("unblock") == true
        )
        try book.forget("anna", at: at(2))
        let snapshot = try book.snapshot()
        #expect(snapshot.relation(of: .sample(1)) == .blocked(nil))
        #expect(snapshot.blockedStrangers.map(\.calledItself) == ["anna"])
        #expect(
            refusal { try book.allow(.sample(1), named: try ContactName("anna"), .sample) }?.contains("unblock") == true
        )
        #expect(try book.unblock(.sample(1)))
        #expect(try book.snapshot().relation(of: .sample(1)) == .stranger)
        try book.allow(.sample(1), named: try name("anna"), .sample)
    }

    @Test("the newest addresses are kept, each once, and noting the same one again writes nothing")
    func addresses() throws {
        let book = place.book()
        try book.allow(.sample(1), named: try name("anna"), .sample)
        for number in 1...12 {
            try book.remember(try KnownAddress(host: "10.0.0.\(number)", port: 9, lastGood: at(1)), of: .sample(1))
        }
        let kept = try book.snapshot().contacts[0].addresses.map(\.host)
        #expect(kept == (5...12).reversed().map { "10.0.0.\($0)" })
        let before = try FileManager.default.attributesOfItem(atPath: place.bookPath)[.systemFileNumber] as? Int
        try book.remember(try KnownAddress(host: "10.0.0.12", port: 9, lastGood: at(86_400_000)), of: .sample(1))
        try book.remember(try KnownAddress(host: "10.0.0.99", port: 9, lastGood: at(2)), of: .sample(2))
        let after = try FileManager.default.attributesOfItem(atPath: place.bookPath)[.systemFileNumber] as? Int
        #expect(before == after)
        try book.remember(try KnownAddress(host: "10.0.0.12", port: 9, lastGood: at(86_400_001)), of: .sample(1))
        try book.remember(try KnownAddress(host: "10.0.0.6", port: 9, lastGood: at(3)), of: .sample(1))
        let last = try book.snapshot().contacts[0].addresses
        #expect(last.prefix(2).map(\.host) == ["10.0.0.6", "10.0.0.12"])
        #expect(last.count == 8)
    }

    @Test(
        "a text that is no address is not remembered",
        arguments: ["", "a b", "a\u{1B}", "a/b", "ä", String(repeating: "a", count: 256)])
    func noAddress(host: String) {
        #expect(refusal { _ = try KnownAddress(host: host, port: 1, lastGood: at(1)) } != nil)
        #expect(refusal { _ = try KnownAddress(host: "::1", port: 0, lastGood: at(1)) } != nil)
    }

    @Test("a change that fails changes nothing, whatever it did before the failure")
    func allOrNothing() throws {
        let book = place.book()
        try book.allow(.sample(1), named: try name("anna"), .sample)
        let (berta, anna) = (try name("berta"), try name("anna"))
        _ = refusal {
            try book.change { draft throws(ContactError) in
                try draft.allow(.sample(2), named: berta, .sample)
                try draft.allow(.sample(3), named: anna, .sample)
            }
        }
        #expect(try book.snapshot().contacts.map(\.name.text) == ["anna"])
        #expect(
            refusal { try book.set("anna") { $0.limits.types = Array(repeating: uniform("public.data"), count: 33) } }
                != nil)
        #expect(refusal { try book.rename("carla", to: try ContactName("x")) } == "there is no contact \"carla\"")
        #expect(
            refusal { try book.forget("Ana", at: .now) } == "there is no contact \"Ana\"; did you mean anna?")
    }

    @Test("ten thousand contacts are kept, found and read again; one more is refused")
    func many() throws {
        let book = place.book()
        try book.change { draft throws(ContactError) in
            for number in 0..<10_000 {
                try draft.allow(.numbered(number), named: try ContactName("peer \(number)"), .sample)
            }
        }
        let snapshot = try place.book().snapshot()
        #expect(snapshot.contacts.count == 10_000)
        #expect(try snapshot.find("Peer 9999").id == .numbered(9_999))
        #expect(snapshot.relation(of: .numbered(10_000)) == .stranger)
        #expect(snapshot.impersonated(by: "PEER 77", of: .sample(1)).first?.id == .numbered(77))
        let line = refusal { try book.allow(.numbered(10_000), named: try ContactName("last"), .sample) }
        #expect(line == "there are 10000 contacts; no more can be stored")
        try book.rename("peer 5", to: try name("renamed"))
        #expect(try place.book().snapshot().contacts.count == 10_000)
    }
}

@Suite("Groups of contacts")
struct GroupTests {
    let place = Place()

    @Test("a group keeps the order and the members of before, and another process reads it")
    func members() throws {
        let book = place.book()
        for number in 1...3 as ClosedRange<UInt8> {
            try book.allow(.sample(number), named: try name("peer \(number)"), .sample)
        }
        try book.change { draft throws(ContactError) in try draft.add(["peer 3", "peer 1"], toGroup: "@lab") }
        try book.change { draft throws(ContactError) in try draft.add(["peer 2", "peer 1"], toGroup: "LAB") }
        try book.rename("peer 1", to: try name("anna"))
        let snapshot = try place.book().snapshot()
        #expect(try snapshot.members(ofGroup: "@lab").map(\.name.text) == ["peer 3", "anna", "peer 2"])
        #expect(snapshot.groups.map(\.name.text) == ["lab"])
    }

    @Test(
        "a member that is no contact any more is named until it is removed, and an empty group is no place to send to")
    func gone() throws {
        let book = place.book()
        try book.allow(.sample(1), named: try name("anna"), .sample)
        try book.change { draft throws(ContactError) in try draft.add(["anna"], toGroup: "lab") }
        try book.forget("anna", at: at(5))
        let refused = refusal { _ = try book.snapshot().members(ofGroup: "lab") }
        #expect(refused?.contains(PeerID.sample(1).short) == true, "\(refused ?? "")")
        try book.change { draft throws(ContactError) in
            try draft.remove([PeerID.sample(1).short], fromGroup: "lab")
        }
        #expect(refusal { _ = try book.snapshot().members(ofGroup: "lab") } == "the group lab has no members")
        try book.change { draft throws(ContactError) in try draft.deleteGroup("lab") }
        #expect(try book.snapshot().groups.isEmpty)
        #expect(refusal { _ = try book.snapshot().group(named: "lab") } == "there is no group \"lab\"")
    }

    @Test("a group and the groups are bounded")
    func bounds() throws {
        let book = place.book()
        try book.change { draft throws(ContactError) in
            for number in 0...ContactBounds.members {
                try draft.allow(.numbered(number), named: try ContactName("peer \(number)"), .sample)
            }
        }
        let all = (0...ContactBounds.members).map { "peer \($0)" }
        let full = refusal {
            _ = try book.change { draft throws(ContactError) in try draft.add(all, toGroup: "lab") }
        }
        #expect(full == "a group has at most 64 members")
        try book.change { draft throws(ContactError) in
            for number in 0..<ContactBounds.groups { _ = try draft.add([], toGroup: "group \(number)") }
        }
        let many = refusal { _ = try book.change { draft throws(ContactError) in try draft.add([], toGroup: "lab") } }
        #expect(many?.contains("no more can be stored") == true, "\(many ?? "")")
    }
}
