import Lines
import Sharing
import TestSupport
import Testing

@testable import CommandLine

@Suite("Peers in view, without a choice")
struct PeersInViewTests {
    @Test("a contact has the user's name and its mark, a stranger its own name, and one without a name its key")
    func names() throws {
        #expect(PeersInView([]).text == "no machine is in view")
        let peers = [
            try Person.sample(1, "x", contacts: ["mum"]), try Person.sample(2, "study", contacts: ["mum"]),
            try Person.sample(3, nil, contacts: ["mum"]),
        ]
        #expect(PeersInView(peers).text == "in view: mum ✓, study, \(PeerID.sample(3).short)")
    }

    @Test("a name that two strangers have is shown with the key, and one that a contact has is the contact's")
    func namesakes() throws {
        let peers = try [1, 2, 3].map { try Person.sample($0, "kitchen") }
        let keys = peers.map(\.id.short)
        #expect(
            PeersInView(peers).text == "in view: " + keys.map { "kitchen (\($0))" }.joined(separator: ", "))
        let known = try [1, 2].map { try Person.sample($0, "kitchen", contacts: ["kitchen"]) }
        #expect(PeersInView(known).text == "in view: kitchen ✓, \(keys[1]) (not your contact kitchen)")
    }

    @Test("a name cannot move the cursor, and a crowd is cut short")
    func hostile() throws {
        let peers =
            [try Person.sample(0, "a\u{1b}[2Jb")] + (try (1...21).map { try Person.sample($0, "p\($0)") })
        #expect(!PeersInView(peers).text.contains("\u{1b}"))
        #expect(PeersInView(peers).text.hasSuffix("p\(PeersInView.listed - 1), and 2 more"))
    }
}
