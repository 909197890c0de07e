import Sharing
import Testing

@testable import Pairing

@Suite("A spoken code")
struct SpokenCodeTests {
    @Test(
        "is read in any case, with spaces or hyphens, with zeros before the number, and with words cut short",
        arguments: [
            "7-pumpkin-sausage", "7 PUMPKIN Sausage", "07-pump-saus", " 7 - pumpkin - sausage ", "007 pumpk sausag",
        ])
    func forms(text: String) throws {
        #expect(try SpokenCode(text: text).text == "7-pumpkin-sausage")
    }

    @Test(
        "is refused as a whole where it has another form: nothing is guessed",
        arguments: [
            "", "7", "7-pumpkin", "pumpkin-sausage", "100-pumpkin-sausage", "7-pumpkin-sausage-acorn-acorn",
            "+7-pumpkin-sausage", "7_pumpkin_sausage", "7-pumpkin-sausage\u{0}", "٧-pumpkin-sausage",
            String(repeating: "7-pumpkin-sausage ", count: 100),
        ])
    func malformed(text: String) {
        #expect(throws: SpokenCodeError.self) { try SpokenCode(text: text) }
    }

    @Test("names the word that is not in the list, and the one that it may be")
    func unknown() {
        #expect(throws: SpokenCodeError.unknownWord("pumpkn", near: "pumpkin")) {
            try SpokenCode(text: "7-pumpkn-sausage")
        }
        // Several words begin so.
        #expect(throws: SpokenCodeError.self) { try SpokenCode(text: "7-p-sausage") }
    }

    @Test("is made of words of the list, each number and word as likely as any other, and read again")
    func random() throws {
        var (nameplates, words) = (Set<Int>(), Set<String>())
        for count in SpokenCode.wordCounts {
            for _ in 0..<2_000 {
                let code = SpokenCode.random(words: count)
                #expect(try code.words.count == count && SpokenCode(text: code.text) == code)
                nameplates.insert(code.nameplate)
                words.formUnion(code.words)
            }
        }
        #expect(nameplates.count == 100 && words.count == 256)
    }

    /// Both sides of one try.
    private func meet(_ typed: PairingCode, shown: PairingCode) throws -> PairingError.Code? {
        let (alice, bob) = (PairingGate(own: .alice), PairingGate(own: .bob))
        try bob.open(.code(shown), until: after(60), now: start)
        let (initiator, share) = try alice.initiate(with: .bob, .code(typed), exporter: exported(1), now: start)
        do throws(PairingError) {
            let (responder, answer) = try bob.respond(to: share, from: .alice, exporter: exported(1), now: start)
            let proof = try initiator.receive(answer, now: start).sent ?? []
            let last = try responder.receive(proof, now: start).sent ?? []
            #expect(try initiator.receive(last, now: start).verified == .bob)
            return nil
        } catch {
            // A code for another purpose is not spent by that.
            #expect((bob.standing(now: start).openUntil != nil) == (error.code == .closed))
            return error.code
        }
    }

    @Test("is proved by the same words, and a wrong word spends it")
    func proof() throws {
        let code = try SpokenCode(text: "7-pumpkin-sausage")
        let wrong = try SpokenCode(text: "7-pumpkin-salmon")
        for isSender in [true, false] {
            let shown = PairingCode(code, shownBySender: isSender)
            #expect(try meet(PairingCode(code, shownBySender: isSender), shown: shown) == nil)
            #expect(try meet(PairingCode(wrong, shownBySender: isSender), shown: shown) == .wrongCode)
        }
    }

    @Test("is none of another direction, of another number, and none for a contact; such a try spends nothing")
    func purposes() throws {
        let code = try SpokenCode(text: "7-pumpkin-sausage")
        let other = try SpokenCode(text: "8-pumpkin-sausage")
        let shown = PairingCode(code, shownBySender: true)
        #expect(try meet(PairingCode(code, shownBySender: false), shown: shown) == .closed)
        #expect(try meet(PairingCode(other, shownBySender: true), shown: shown) == .closed)
        #expect(try meet(.made("123-456-789"), shown: shown) == .closed)
        #expect(try meet(shown, shown: .made("123-456-789")) == .closed)
    }

    @Test("of two words is guessed once in 65,536: every try is for one code, and a command shows six at the most")
    func chance() {
        let codes = 256 * 256
        #expect(codes == 1 << 16)
        // The list has no word twice, so no code is likelier than 2^-16.
        #expect(Set(WordList.words).count == 256)
    }

    /// A try of a peer at a desk; its proof is kept back for `prove`.
    private func begin(
        _ desk: PairingGate, _ peer: PeerID, _ code: PairingCode
    ) throws(PairingError) -> (PairingSession, prove: () throws(PairingError) -> PeerID?) {
        let (initiator, share) = try PairingGate(own: peer).initiate(
            with: desk.own, .code(code), exporter: exported(1), now: start)
        let (responder, answer) = try desk.respond(to: share, from: peer, exporter: exported(1), now: start)
        return (
            responder,
            { () throws(PairingError) in
                try responder.receive(try initiator.receive(answer, now: start).sent ?? [], now: start).verified
            }
        )
    }

    @Test("for several peers is good for one after the other, and is over when all have come")
    func several() throws {
        let (bob, code) = (PairingGate(own: .bob), PairingCode(.random(words: 3), shownBySender: true))
        try bob.open(.code(code), until: after(60), runs: 2, now: start)
        let (first, prove) = try begin(bob, .alice, code)
        // The code is still good; the second peer is told to wait.
        #expect(bob.standing(now: start).openUntil != nil)
        let busy = fault { () throws(PairingError) in _ = try begin(bob, .mallory, code) }
        #expect(busy?.code == .busy)
        #expect(try prove() == .alice && first.peer == .alice)
        let (_, proveLast) = try begin(bob, .mallory, code)
        #expect(try proveLast() == .mallory)
        let late = fault { () throws(PairingError) in _ = try begin(bob, .alice, code) }
        #expect(late?.code == .closed)
    }

    @Test("for several peers is over at the first wrong try, and at one that comes to nothing")
    func severalSpent() throws {
        let (bob, code) = (PairingGate(own: .bob), PairingCode(.random(words: 3), shownBySender: true))
        let words = code.purpose.nameplate.map { "\($0)-acorn-acorn-acorn" } ?? ""
        let wrong = PairingCode(try SpokenCode(text: words), shownBySender: true)
        try bob.open(.code(code), until: after(60), runs: 5, now: start)
        let (_, prove) = try begin(bob, .alice, wrong)
        #expect(fault { () throws(PairingError) in _ = try prove() }?.code == .wrongCode)
        #expect(bob.standing(now: start).openUntil == nil)

        try bob.open(.code(code), until: after(60), runs: 5, now: start)
        try begin(bob, .alice, code).0.cancel(now: start)
        #expect(bob.standing(now: start).openUntil == nil)
    }
}
