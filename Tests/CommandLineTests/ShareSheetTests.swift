import Contacts
import Lines
import Operations
import Sharing
import TestSupport
import Testing

@testable import CommandLine

@Suite("The share sheet")
struct ShareSheetTests {
    private let activities = [("org.waft.activity.copy", "Copy"), ("org.example.resize", "Resize (Images)")]

    /// A stranger; the sample 2 is the contact laptop, the sample 3 the contact kitchen.
    private func peer(_ number: UInt8, _ name: String?) -> SharePeers.Peer {
        let book = ContactSnapshot(
            contacts: [contact(2, "laptop"), contact(3, "kitchen")].compactMap(\.self), blockedStrangers: [])
        return SharePeers.Peer(
            person: Person(
                id: .sample(number), ownName: name,
                introduction: book.introduction(of: .sample(number), callingItself: name)))
    }

    private func contact(_ number: UInt8, _ name: String) -> Contact? {
        (try? ContactName(name)).map {
            Contact(
                id: .sample(number), name: $0,
                verification: Verification(.comparedCode, at: WallTime(milliseconds: 0)))
        }
    }

    private let key = PeerID.sample(1).short

    private func sheet(_ peers: [SharePeers.Peer] = []) -> ShareSheet {
        var sheet = ShareSheet(activities: activities.map { ($0.0, $0.1) }, takesPeers: true)
        for peer in peers { #expect(sheet.found(peer) == nil) }
        return sheet
    }

    @Test("lists contacts, then strangers with their keys, and beside them the activities")
    func layout() {
        var sheet = sheet([peer(1, "study"), peer(2, "its own name"), peer(3, nil)])
        #expect(
            sheet.open(width: 100) == [
                "  1  laptop          contact                         4  Copy",
                "  2  kitchen         contact                         5  Resize (Images)",
                "  3  study           stranger \(key)",
            ])
    }

    @Test("the columns stand below each other, whatever script the names are in")
    func aligned() throws {
        var sheet = sheet([peer(4, "キッチン"), peer(5, "주방 🍳")])
        for line in sheet.open(width: 120) {
            let standing = try #require(line.firstRange(of: "stranger"))
            #expect(line[..<standing.lowerBound].columns == 21, "\(line)")
        }
    }

    @Test("a stranger with a contact's name stands below the contact, as not that contact")
    func impostor() {
        var sheet = sheet([peer(1, "kitchen"), peer(3, "kitchen")])
        #expect(
            sheet.open(width: 40).prefix(2) == [
                "  1  kitchen         contact", "  2  kitchen         not your contact kitchen \(key)",
            ])
        // The name is the contact's, also where its own name is another.
        #expect(sheet.answer(to: "Kitchen") == .peer(PeerID.sample(3).text))
        #expect(sheet.answer(to: "2") == .peer(PeerID.sample(1).text))
        var alone = self.sheet([peer(1, "kitchen")])
        _ = alone.open(width: 40)
        #expect(
            alone.answer(to: "kitchen")
                == .unclear(
                    "That is not your contact kitchen, which is not in the list: type its number if you mean it"))
    }

    @Test("a mistyped name is answered with the name that was meant")
    func near() {
        var sheet = sheet([peer(1, "kitchem"), peer(3, "x")])
        _ = sheet.open(width: 40)
        #expect(
            sheet.answer(to: "kichen")
                == .unclear(
                    "\"kichen\" is not in the list: did you mean kitchen? Otherwise type a number or a name of it, an address, "
                        + "or q to give up"))
    }

    @Test("no stranger can take the place of q or of an address by its name")
    func hostileNames() {
        let sheet = sheet([peer(7, "q"), peer(8, "192.168.1.7"), peer(9, "nas.lan:4001")])
        #expect(sheet.answer(to: "q") == .givenUp)
        #expect(sheet.answer(to: "192.168.1.7") == .peer("192.168.1.7"))
        #expect(sheet.answer(to: "nas.lan:4001") == .peer("nas.lan:4001"))
    }

    @Test("is one column on a narrow terminal, and without peers")
    func narrow() {
        var narrow = sheet([peer(1, "study")])
        #expect(
            narrow.open(width: 40) == ["  1  study           stranger \(key)", "  2  Copy", "  3  Resize (Images)"])
        var alone = sheet()
        #expect(alone.open(width: 100) == ["  1  Copy", "  2  Resize (Images)"])
    }

    @Test("gives later peers the next numbers, and no number another meaning")
    func changes() {
        var sheet = sheet([peer(1, "study"), peer(9, "gone before")])
        #expect(sheet.gone(.sample(9)) == nil)
        _ = sheet.open(width: 100)
        #expect(sheet.found(peer(2, "laptop")) == "  4  laptop          contact")
        #expect(sheet.found(peer(2, "laptop")) == nil)
        #expect(sheet.answer(to: "2") == .activity("org.waft.activity.copy"))
        #expect(sheet.answer(to: "4") == .peer(PeerID.sample(2).text))
        #expect(sheet.gone(.sample(2)) == "     laptop is gone")
        #expect(sheet.answer(to: "4") == .unclear("laptop is gone: choose another, or q to give up"))
        #expect(sheet.found(peer(2, "laptop")) == "  4  laptop          contact")
        #expect(sheet.answer(to: "4") == .peer(PeerID.sample(2).text))
    }

    @Test("takes a number only when the list is shown: before, it could still be another peer's")
    func early() {
        var sheet = sheet([peer(1, "study")])
        #expect(sheet.answer(to: "1") == .unclear("The list is not shown yet: type the number when it is."))
        #expect(sheet.answer(to: "study") == .peer(PeerID.sample(1).text))
        _ = sheet.open(width: 100)
        #expect(sheet.answer(to: "1") == .peer(PeerID.sample(1).text))
    }

    @Test("takes numbers, names, titles, types, ids and addresses")
    func answers() {
        var sheet = sheet([peer(1, "study"), peer(5, "Twin"), peer(6, "twin")])
        _ = sheet.open(width: 100)
        #expect(sheet.answer(to: "STUDY") == .peer(PeerID.sample(1).text))
        #expect(sheet.answer(to: String(PeerID.sample(1).text.prefix(8))) == .peer(PeerID.sample(1).text))
        #expect(sheet.answer(to: "copy") == .activity("org.waft.activity.copy"))
        #expect(sheet.answer(to: "org.example.resize") == .activity("org.example.resize"))
        #expect(sheet.answer(to: "10.0.0.7:4000") == .peer("10.0.0.7:4000"))
        #expect(sheet.answer(to: "q") == .givenUp)
        #expect(sheet.answer(to: "") == .unclear(""))
        for (line, words) in [("twin", "2 machines"), ("99", "not in the list"), ("\u{1B}[2J", "\\u{1B}[2J")] {
            guard case .unclear(let why) = sheet.answer(to: line) else {
                Issue.record("\(line) was understood")
                continue
            }
            #expect(why.contains(words))
        }
    }

    @Test("offers no machine, and takes no address, if sending is excluded")
    func excluded() {
        var sheet = ShareSheet(activities: [("org.waft.activity.copy", "Copy")], takesPeers: false)
        #expect(sheet.found(peer(1, "study")) == nil)
        #expect(sheet.open(width: 100) == ["  1  Copy"])
        if case .unclear = sheet.answer(to: "10.0.0.7") {} else { Issue.record("an address was taken") }
    }
}
