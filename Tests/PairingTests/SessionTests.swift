import Sharing
import Testing

@testable import Pairing

@Suite("A pairing")
struct SessionTests {
    @Test("both sides show the same, and both are verified when both users have said yes")
    func comparing() throws {
        let duo = Duo()
        let (alice, bob, shown) = try duo.compared()
        #expect(shown.count == 2 && shown[0] == shown[1])
        #expect(alice.shown == shown[0])
        #expect(bob.shown == shown[0])
        #expect(alice.peer == .bob && alice.role == .initiator)
        #expect(bob.peer == .alice && bob.role == .responder)

        let yes = try alice.confirm(true, now: after(5))
        #expect(yes.verified == nil)
        // Bob's user has not answered: the request waits.
        #expect(try bob.receive(try #require(yes.sent), now: after(6)) == [])
        let last = try bob.confirm(true, now: after(7))
        #expect(last.first == .verified(.alice))
        #expect(try alice.receive(try #require(last.sent), now: after(8)) == [.verified(.bob)])
        #expect(duo.bob.standing(now: after(9)).openUntil == nil)
        #expect(duo.bob.standing(now: after(9)).underWay == nil)
        #expect(duo.bob.standing(now: after(9)).failures.isEmpty)
    }

    @Test("the responder's user may answer first, and is not verified before the other has")
    func responderFirst() throws {
        let (alice, bob, _) = try Duo().compared()
        #expect(try bob.confirm(true, now: start) == [])
        let yes = try #require(try alice.confirm(true, now: start).sent)
        let last = try bob.receive(yes, now: start)
        #expect(last.verified == .alice)
        #expect(try alice.receive(try #require(last.sent), now: start).verified == .bob)
    }

    @Test("a no on either side verifies no peer, and the other side learns it")
    func declining() throws {
        let first = try Duo().compared()
        let no = try #require(try first.alice.confirm(false, now: start).sent)
        let told = fault { () throws(PairingError) in try first.bob.receive(no, now: start) }
        #expect(told?.refusal == .declined)
        #expect(throws: PairingError.self) { try first.alice.confirm(true, now: start) }

        let second = try Duo().compared()
        let yes = try #require(try second.alice.confirm(true, now: start).sent)
        #expect(try second.bob.receive(yes, now: start) == [])
        let answer = try #require(try second.bob.confirm(false, now: start).sent)
        let refused = fault { () throws(PairingError) in try second.alice.receive(answer, now: start) }
        #expect(refused?.refusal == .declined)

        // No request waits for the responder's no: the next one gets it.
        let third = try Duo().compared()
        _ = try third.bob.confirm(false, now: start)
        let late = try #require(try third.alice.confirm(true, now: start).sent)
        let declined = fault { () throws(PairingError) in try third.bob.receive(late, now: start) }
        #expect(declined?.code == .declined)
        #expect(declined?.reply == PairingError.declined.reply)
    }

    @Test("an answer before there is something to compare, and a second yes, change nothing")
    func earlyAnswers() throws {
        let duo = Duo()
        try duo.bob.open(.compare, until: after(60), now: start)
        let (early, _) = try duo.alice.initiate(with: .bob, .compare, exporter: exported(1), now: start)
        let fault1 = fault { () throws(PairingError) in try early.confirm(true, now: start) }
        #expect(fault1?.code == .outOfOrder)
        early.cancel(now: start)

        let (alice, bob, _) = try duo.compared()
        let yes = try #require(try alice.confirm(true, now: start).sent)
        let fault2 = fault { () throws(PairingError) in try alice.confirm(true, now: start) }
        #expect(fault2?.code == .outOfOrder)
        _ = try bob.confirm(true, now: start)
        let last = try #require(try bob.receive(yes, now: start).sent)
        #expect(try alice.receive(last, now: start).verified == .bob)
    }

    @Test("the programs have fifteen seconds, and then the users have 110")
    func deadlines() throws {
        let duo = Duo()
        try duo.bob.open(.compare, until: after(60), now: start)
        let (slow, _) = try duo.alice.initiate(with: .bob, .compare, exporter: exported(1), now: start)
        #expect(slow.deadline == after(15))
        let late = fault { () throws(PairingError) in try slow.receive([], now: after(15)) }
        #expect(late?.code == .timedOut)

        let (alice, bob, _) = try duo.compared(at: after(100))
        #expect(alice.deadline == after(210))
        #expect(bob.deadline == after(210))
        _ = try alice.confirm(true, now: after(209))
        let expired = fault { () throws(PairingError) in try bob.confirm(true, now: after(210)) }
        #expect(expired?.code == .timedOut)
        #expect(bob.shown == nil)
        let told = fault { () throws(PairingError) in
            try alice.receive(PairingError.timedOut.reply, now: after(209))
        }
        #expect(told?.refusal == .expired)
    }

    @Test("the right code verifies both sides without a question")
    func rightCode() throws {
        let duo = Duo()
        let (alice, bob) = try duo.tryCode("271 828-182", shown: "271-828-182")
        #expect(alice == .success(.bob))
        #expect(bob == .success(.alice))
        #expect(duo.bob.standing(now: start).failures.isEmpty)
    }

    @Test("a wrong code verifies no peer, is counted on both sides, and ends pairing mode")
    func wrongCode() throws {
        let duo = Duo()
        let (alice, bob) = try duo.tryCode("271828183", shown: "271828182")
        #expect(alice.code == .refusedByPeer)
        #expect(bob.code == .wrongCode)
        #expect(duo.alice.standing(now: start).failures == [.bob: 1])
        #expect(duo.bob.standing(now: start).failures == [.alice: 1])
        #expect(duo.bob.standing(now: start).openUntil == nil)
        let (_, share) = try duo.alice.initiate(
            with: .bob, .code(.made("271828182")), exporter: exported(1), now: start)
        let closed = fault { () throws(PairingError) in
            try duo.bob.respond(to: share, from: .alice, exporter: exported(1), now: start)
        }
        #expect(closed?.code == .closed)
    }

    @Test("a responder that does not know the code cannot prove it")
    func fakeResponder() throws {
        let duo = Duo()
        let mallory = PairingGate(own: .mallory)
        try mallory.open(.code(.made("000000000")), until: after(60), now: start)
        let (alice, share) = try duo.alice.initiate(
            with: .mallory, .code(.made("271828182")), exporter: exported(1), now: start)
        let (_, answer) = try mallory.respond(to: share, from: .alice, exporter: exported(1), now: start)
        let proof = try #require(try alice.receive(answer, now: start).sent)
        // The best that is left: a proof made up, or the other side's own.
        let value = try PairingMessage(proof, from: .initiator)
        guard case .prove(let bytes) = value else {
            Issue.record("no proof")
            return
        }
        let reflected = PairingMessage.prove(bytes).encoded(from: .responder)
        let fault = fault { () throws(PairingError) in try alice.receive(reflected, now: start) }
        #expect(fault?.code == .wrongCode)
        #expect(duo.alice.standing(now: start).failures == [.mallory: 1])
    }

    @Test("the side that has shown its proof and gets none was tried, however the other side ends it")
    func tried() throws {
        let code = PairingMethod.code(.made("271828182"))
        for end in ["busy", "closed", "locked", "failed", "expired"] {
            let (alice, bob) = (PairingGate(own: .alice), PairingGate(own: .bob))
            try bob.open(code, until: after(60), now: start)
            let (session, share) = try alice.initiate(with: .bob, code, exporter: exported(1), now: start)
            #expect(!session.wasTried)
            let (other, answer) = try bob.respond(to: share, from: .alice, exporter: exported(1), now: start)
            let proof = try session.receive(answer, now: start).sent ?? []
            #expect(session.wasTried && !session.isVerified)
            let refused = Array(#"{"reason":"\#(end)","step":"refused","v":1}"#.utf8)
            _ = fault { () throws(PairingError) in try session.receive(refused, now: start) }
            #expect(session.wasTried, "\(end)")
            #expect(try other.receive(proof, now: start).verified == .alice && other.isVerified && !other.wasTried)
        }
    }
}
