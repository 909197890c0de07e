import Secrets
import Sharing
import Testing

@testable import Pairing

/// Attacks on a pairing by a peer in between, with its own keys.
@Suite("A peer in between")
struct MiddleTests {
    /// Two pairings at the same time: Alice with Mallory, Mallory with Bob, each over its own connection.
    private struct Middle {
        let alice = PairingGate(own: .alice)
        let bob = PairingGate(own: .bob)
        let toAlice = PairingGate(own: .mallory)
        let toBob = PairingGate(own: .mallory)

        init(_ method: PairingMethod, guess: PairingMethod) throws {
            try bob.open(method, until: after(60), now: start)
            try toAlice.open(guess, until: after(60), now: start)
        }
    }

    // The chance that an honest run of this test fails: 200 · 10^-6 · 2^-24, about 10^-11, since a pair is the same only
    // if digits and words are.
    @Test("sees two different strings on the two sides in every one of 200 pairings")
    func differentStrings() throws {
        var digits = 0
        var words = 0
        for _ in 0..<200 {
            let middle = try Middle(.compare, guess: .compare)
            let (alice, commit) = try middle.alice.initiate(
                with: .mallory, .compare, exporter: exported(1), now: start)
            let (inner, nonce) = try middle.toAlice.respond(
                to: commit, from: .alice, exporter: exported(1), now: start)
            let (outer, ownCommit) = try middle.toBob.initiate(
                with: .bob, .compare, exporter: exported(2), now: start)
            let (bob, bobsNonce) = try middle.bob.respond(
                to: ownCommit, from: .mallory, exporter: exported(2), now: start)
            let reveal = try #require(try alice.receive(nonce, now: start).sent)
            let agree = try #require(try inner.receive(reveal, now: start).sent)
            _ = try alice.receive(agree, now: start)
            let ownReveal = try #require(try outer.receive(bobsNonce, now: start).sent)
            _ = try bob.receive(ownReveal, now: start)
            let one = try #require(alice.shown)
            let other = try #require(bob.shown)
            #expect(one != other)
            if one.digits == other.digits { digits += 1 }
            if one.words == other.words { words += 1 }
        }
        // Each form alone: that two of 200 pairs are the same has a chance of 2·10^-8 for digits, less for words.
        #expect(digits < 2)
        #expect(words < 2)
    }

    @Test("cannot pass the messages of one side on to the other")
    func relaying() throws {
        let middle = try Middle(.compare, guess: .compare)
        let (alice, commit) = try middle.alice.initiate(with: .mallory, .compare, exporter: exported(1), now: start)
        let (bob, nonce) = try middle.bob.respond(to: commit, from: .mallory, exporter: exported(2), now: start)
        let reveal = try #require(try alice.receive(nonce, now: start).sent)
        let fault = fault { () throws(PairingError) in try bob.receive(reveal, now: start) }
        #expect(fault?.code == .mismatch)
    }

    @Test(
        "cannot pass a code's messages on, though both sides know the code: it is spent",
        arguments: [
            PairingCode.made("271828182"), PairingCode(.random(words: 2), shownBySender: true),
            PairingCode(.random(words: 3), shownBySender: false),
        ])
    func relayingCodes(made: PairingCode) throws {
        let code = PairingMethod.code(made)
        let middle = try Middle(code, guess: code)
        let (alice, share) = try middle.alice.initiate(with: .mallory, code, exporter: exported(1), now: start)
        let (bob, answer) = try middle.bob.respond(to: share, from: .mallory, exporter: exported(2), now: start)
        let proof = try #require(try alice.receive(answer, now: start).sent)
        let fault = fault { () throws(PairingError) in try bob.receive(proof, now: start) }
        #expect(fault?.code == .wrongCode)
        #expect(middle.bob.standing(now: start).openUntil == nil)
    }

    @Test("cannot choose a nonce after having seen the other's: the commitment does not open")
    func choosingAsInitiator() throws {
        let bob = PairingGate(own: .bob)
        let binding = PairingBinding(initiator: .mallory, responder: .bob, exporter: exported(2))
        try bob.open(.compare, until: after(60), now: start)
        let committed = KeyDerivation.random(32)
        let commit = PairingMessage.commit(try binding.commitment(to: committed)).encoded(from: .initiator)
        let (session, answer) = try bob.respond(to: commit, from: .mallory, exporter: exported(2), now: start)
        guard case .nonce(let nonce) = try PairingMessage(answer, from: .responder) else {
            Issue.record("no nonce")
            return
        }
        // A nonce that leads to the digits that are wanted could be found by trying, but not be revealed.
        var chosen = KeyDerivation.random(32)
        while try binding.comparison(initiatorNonce: chosen, responderNonce: nonce).shown.digits.first != "7" {
            chosen = KeyDerivation.random(32)
        }
        let fault = fault { () throws(PairingError) in
            try session.receive(PairingMessage.reveal(chosen).encoded(from: .initiator), now: start)
        }
        #expect(fault?.code == .mismatch)
        #expect(session.shown == nil)
        #expect(bob.standing(now: start).failures == [.mallory: 1])
    }

    @Test("cannot choose a nonce as a responder: it is asked for while the other's is still hidden")
    func choosingAsResponder() throws {
        let alice = PairingGate(own: .alice)
        let (session, commit) = try alice.initiate(with: .mallory, .compare, exporter: exported(1), now: start)
        guard case .commit(let commitment) = try PairingMessage(commit, from: .initiator) else {
            Issue.record("no commitment")
            return
        }
        let first = PairingMessage.nonce(KeyDerivation.random(32)).encoded(from: .responder)
        let reveal = try #require(try session.receive(first, now: start).sent)
        guard case .reveal(let nonce) = try PairingMessage(reveal, from: .initiator) else {
            Issue.record("no revelation")
            return
        }
        let binding = PairingBinding(initiator: .alice, responder: .mallory, exporter: exported(1))
        #expect(try binding.commitment(to: nonce) == commitment)
        #expect(commitment != nonce)
        let second = PairingMessage.nonce(KeyDerivation.random(32)).encoded(from: .responder)
        let fault = fault { () throws(PairingError) in try session.receive(second, now: start) }
        #expect(fault?.code == .outOfOrder)
    }

    @Test("an attacker that breaks off and tries again until the strings match has ten tries")
    func tryingAgain() throws {
        let bob = PairingGate(own: .bob)
        try bob.open(.compare, until: after(600), now: start)
        var tries = 0
        for number in 0..<100 {
            let mallory = PairingGate(own: .made(UInt8(number)))
            let (_, commit) = try mallory.initiate(with: .bob, .compare, exporter: exported(2), now: start)
            do throws(PairingError) {
                let (session, _) = try bob.respond(to: commit, from: mallory.own, exporter: exported(2), now: start)
                tries += 1
                // Mallory knows by now what Bob would show, and goes.
                session.cancel(now: start)
            } catch {
                #expect(error.code == .locked)
            }
        }
        #expect(tries == 10)
    }
}
