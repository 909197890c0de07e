import Sharing
import Testing

@testable import Commands

@Suite("Peers in view, without a choice")
struct PeersInViewTests {
    private func peer(_ byte: UInt8) throws -> PeerID {
        try #require(PeerID(fingerprint: Array(repeating: byte, count: 32)))
    }

    @Test("a peer that is found again is listed once, under its current name")
    func again() throws {
        var view = PeersInView()
        #expect(view.found(try peer(1), name: nil))
        #expect(view.found(try peer(2), name: "study"))
        #expect(!view.found(try peer(1), name: "kitchen"))
        #expect(view.text == "in view: kitchen, study")
    }

    @Test("a peer that has gone is not listed, and is listed at the end when it comes back")
    func gone() throws {
        var view = PeersInView()
        view.found(try peer(1), name: "kitchen")
        view.found(try peer(2), name: "study")
        view.gone(try peer(1))
        view.gone(try peer(3))
        #expect(view.text == "in view: study")
        #expect(view.found(try peer(1), name: "kitchen"))
        #expect(view.text == "in view: study, kitchen")
        view.gone(try peer(1))
        view.gone(try peer(2))
        #expect(view.text == "no machine is in view")
    }

    @Test("a name that two peers have is shown with the id, and a peer without a name is shown by its id")
    func namesakes() throws {
        let (one, two, three) = (try peer(1), try peer(2), try peer(3))
        var view = PeersInView()
        view.found(one, name: "kitchen")
        view.found(two, name: "kitchen")
        view.found(three, name: nil)
        #expect(view.text == "in view: kitchen (\(one.short)), kitchen (\(two.short)), \(three.short)")
    }

    @Test("a name cannot move the cursor, and a crowd is cut short")
    func hostile() throws {
        var view = PeersInView()
        view.found(try peer(0), name: "a\u{1b}[2Jb")
        #expect(!view.text.contains("\u{1b}"))
        for byte in 1...UInt8(PeersInView.listed + 1) { view.found(try peer(byte), name: "p\(byte)") }
        #expect(view.text.hasSuffix("p\(PeersInView.listed - 1), and 2 more"))
    }
}
