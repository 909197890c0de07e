import Contacts
import Lines
import Operations
import Sharing
import TestSupport
import Testing

@testable import CommandLine

@Suite("The share sheet by keys")
struct SharePickerTests {
    /// The sample 3 is the contact kitchen, others are strangers.
    private func peer(_ number: UInt8, _ name: String?) -> SharePeers.Peer {
        let kitchen = (try? ContactName("kitchen")).map { name in
            Contact(
                id: .sample(3), name: name,
                verification: Verification(.comparedCode, at: WallTime(milliseconds: 0)))
        }
        let book = ContactSnapshot(contacts: [kitchen].compactMap(\.self), blockedStrangers: [])
        return SharePeers.Peer(
            person: Person(
                id: .sample(number), ownName: name,
                introduction: book.introduction(of: .sample(number), callingItself: name)))
    }

    private func picker(_ peers: [SharePeers.Peer], activities: [(String, String)] = []) -> SharePicker {
        var picker = SharePicker(ShareSheet(activities: activities.map { ($0.0, $0.1) }, takesPeers: true))
        for peer in peers { picker.found(peer) }
        picker.open()
        return picker
    }

    /// The lines without those below the rows.
    private func rows(_ picker: SharePicker, height: Int = 24) -> [String] {
        Array(picker.lines("To: ", width: 80, height: height).dropLast(2))
    }

    private func marked(_ picker: SharePicker) -> String? {
        rows(picker).first { $0.hasPrefix(">") }.map { String($0.dropFirst(7).prefix { $0 != " " }) }
    }

    private func type(_ text: String, _ picker: inout SharePicker) {
        for character in text { #expect(picker.press(.text(String(character))) == nil) }
    }

    @Test("marks a contact, which Enter chooses, and no stranger before an arrow key does")
    func first() {
        var contact = picker([peer(1, "study"), peer(3, nil)])
        #expect(marked(contact) == "kitchen")
        #expect(contact.press(.enter) == .peer(PeerID.sample(3).text))
        var strangers = picker([peer(1, "study"), peer(2, "attic")])
        #expect(strangers.press(.enter) == .unclear(""))
        #expect(strangers.press(.up) == nil)
        #expect(marked(strangers) == "attic")
        #expect(strangers.press(.down) == nil)
        #expect(strangers.press(.enter) == .peer(PeerID.sample(1).text))
    }

    @Test("the mark stays with its row when peers come and go, and a row that is gone is not chosen")
    func live() {
        var picker = picker([peer(1, "study"), peer(2, "attic")])
        #expect(picker.press(.last) == nil)
        picker.found(peer(3, nil))
        picker.gone(.sample(1))
        #expect(marked(picker) == "attic")
        #expect(rows(picker).contains("    1  study is gone"))
        #expect(picker.press(.first) == nil)
        #expect(picker.press(.enter) == .unclear("study is gone: choose another, or q to give up"))
    }

    @Test(
        "a text leaves its rows and marks the first, a number marks its row, and Esc takes the text back before it gives up"
    )
    func filter() {
        var picker = picker(
            [peer(1, "study"), peer(2, "studio"), peer(3, nil)], activities: [("org.waft.activity.print", "Print")])
        type("stu", &picker)
        #expect(rows(picker).count == 2 && marked(picker) == "study")
        type("dio", &picker)
        #expect(picker.press(.enter) == .peer(PeerID.sample(2).text))
        #expect(picker.press(.eraseAll) == nil)
        type("4", &picker)
        #expect(marked(picker) == "Print" && picker.press(.escape) == nil)
        #expect(rows(picker).count == 4 && picker.press(.escape) == .givenUp)
    }

    @Test(
        "Enter chooses nothing but the marked row: a stranger's name, an address and q are shown unmarked or marked as it is"
    )
    func meaning() {
        // A stranger that calls itself by the beginning of the contact's name is the one that is marked.
        var short = picker([peer(3, nil), peer(1, "kit")])
        type("kit", &short)
        #expect(marked(short) == "kit" && short.press(.enter) == .peer(PeerID.sample(1).text))
        var claims = picker([peer(1, "kitchen"), peer(2, "q"), peer(4, "10.0.0.7")])
        type("kitchen", &claims)
        #expect(marked(claims) == nil)
        guard case .unclear(let why) = claims.press(.enter) else { return #expect(Bool(false)) }
        #expect(why.hasPrefix("That is not your contact kitchen"))
        type("q", &claims)
        #expect(marked(claims) == nil && claims.press(.enter) == .givenUp)
        #expect(claims.press(.eraseAll) == nil)
        type("10.0.0.7", &claims)
        #expect(marked(claims) == nil && claims.press(.enter) == .peer("10.0.0.7"))
    }

    @Test("a low terminal shows the rows around the marked one, and a narrow one the end of the text")
    func small() {
        var picker = picker((10..<40).map { peer($0, "machine-\($0)") })
        for _ in 0..<20 { _ = picker.press(.down) }
        let lines = picker.lines("To: ", width: 80, height: 10)
        #expect(lines.count == 9 && lines.contains { $0.hasPrefix("> ") && $0.contains("machine-29") })
        type("0123456789", &picker)
        #expect(picker.lines("To: ", width: 10, height: 10).last == "To: 56789")
    }

    @Test("bytes of a terminal are keys, also when they come in parts; only a lone Escape is one")
    func keys() {
        var keys = TerminalKeys()
        #expect(
            keys.take(Array("a\u{1B}[A\u{1B}OB\u{1B}[1;5Hü\r\u{7F}".utf8)) == [
                .text("a"), .up, .down, .first, .text("ü"), .enter, .erase,
            ])
        #expect(keys.take([0x1B]) == [] && keys.isPending && keys.take(Array("[".utf8)) == [])
        #expect(keys.take(Array("B".utf8)) == [.down] && !keys.isPending)
        #expect(keys.take([0x1B]) == [] && keys.pause() == [.escape])
        #expect(keys.take([0xC3]) == [] && keys.take([0xBC]) == [.text("ü")])
        // Neither a key that is not known nor a broken character is one.
        #expect(
            keys.take(Array("\u{1B}[3~\u{1B}x".utf8) + [0xFF, 0x01, 0x20, 0x20, 0x20]) == [
                .text(" "), .text(" "), .text(" "),
            ])
    }
}
