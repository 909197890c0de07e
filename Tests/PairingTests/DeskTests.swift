import Sharing
import Testing

@testable import Pairing

@Suite("The desk")
struct DeskTests {
    private let bob = PairingGate(own: .bob)

    /// The first message of a pairing by comparing.
    private func commit(from peer: PeerID) throws -> [UInt8] {
        try PairingGate(own: peer).initiate(with: .bob, .compare, exporter: exported(1), now: start).message
    }

    private func respond(
        _ peer: PeerID, at now: ContinuousClock.Instant = start
    ) throws -> Result<PairingSession, PairingError> {
        let message = try commit(from: peer)
        do throws(PairingError) {
            return .success(try bob.respond(to: message, from: peer, exporter: exported(1), now: now).session)
        } catch {
            return .failure(error)
        }
    }

    @Test("answers no peer while pairing mode is not open, and counts nothing then")
    func closed() throws {
        for _ in 0..<20 { #expect(try respond(.alice).code == .closed) }
        try bob.open(.compare, until: after(60), now: start)
        bob.close()
        #expect(try respond(.alice).code == .closed)
        try bob.open(.compare, until: after(60), now: start)
        #expect(try respond(.alice, at: after(60)).code == .closed)
        #expect(bob.standing(now: after(60)).failures.isEmpty)
    }

    @Test("keeps pairing mode open for ten minutes at most")
    func openness() throws {
        try bob.open(.compare, until: after(1_000_000), now: start)
        #expect(bob.standing(now: start).openUntil == after(600))
        #expect(bob.standing(now: after(600)).openUntil == nil)
    }

    @Test("answers only the peer that pairing mode is open for, and only in the way it is open")
    func restricted() throws {
        try bob.open(.compare, for: .alice, until: after(60), now: start)
        #expect(bob.standing(now: start).openFor == .alice)
        #expect(try respond(.mallory).code == .closed)
        #expect(try respond(.alice).code == nil)

        try bob.open(.code(.random()), until: after(160), now: after(100))
        #expect(try respond(.alice, at: after(100)).code == .closed)
        #expect(bob.standing(now: after(100)).openUntil == after(160))
    }

    @Test("lets one pairing go on at a time, and the next one in when it is over")
    func oneAtATime() throws {
        try bob.open(.compare, until: after(600), now: start)
        let first = try respond(.alice).get()
        #expect(try respond(.mallory).code == .busy)
        let own = fault { () throws(PairingError) in
            try bob.initiate(with: .mallory, .compare, exporter: exported(1), now: start)
        }
        #expect(own?.code == .busy)
        // A stranger who only holds the place loses it.
        #expect(bob.standing(now: after(14)).underWay == .alice)
        #expect(try respond(.mallory, at: after(15)).code == nil)
        let late = fault { () throws(PairingError) in try first.receive([], now: after(15)) }
        #expect(late?.code == .timedOut)
        #expect(bob.standing(now: after(15)).failures[.alice] == 1)
    }

    @Test("counts a pairing that is dropped without a word")
    func dropped() throws {
        try bob.open(.compare, until: after(600), now: start)
        do {
            let session = try respond(.alice).get()
            #expect(session.shown == nil)
        }
        #expect(bob.standing(now: start).underWay == nil)
        #expect(bob.standing(now: start).failures == [.alice: 1])
    }

    @Test("closes pairing mode when there are digits to compare, whatever the result is")
    func usedUp() throws {
        let duo = Duo()
        let (_, bob, _) = try duo.compared()
        #expect(duo.bob.standing(now: start).openUntil == nil)
        _ = try bob.confirm(false, now: start)
        #expect(duo.bob.standing(now: start).failures == [.alice: 1])
        let again = try PairingGate(own: .alice).initiate(with: .bob, .compare, exporter: exported(1), now: start)
        let fault = fault { () throws(PairingError) in
            try duo.bob.respond(to: again.message, from: .alice, exporter: exported(1), now: start)
        }
        #expect(fault?.code == .closed)
    }

    @Test("is locked by ten wrong codes of ten peers for ten minutes, and then no longer")
    func locked() throws {
        for number in 0..<10 {
            let now = after(number)
            let peer = PeerID.made(UInt8(number))
            try bob.open(.code(.made("271828182")), until: now + .seconds(60), now: now)
            let (session, share) = try PairingGate(own: peer).initiate(
                with: .bob, .code(.made("314159265")), exporter: exported(1), now: now)
            let (answering, answer) = try bob.respond(to: share, from: peer, exporter: exported(1), now: now)
            let proof = try #require(try session.receive(answer, now: now).sent)
            let fault = fault { () throws(PairingError) in try answering.receive(proof, now: now) }
            #expect(fault?.code == .wrongCode)
        }
        #expect(bob.standing(now: after(10)).lockedUntil == after(609))
        let refused = fault { () throws(PairingError) in try bob.open(.compare, until: after(60), now: after(10)) }
        #expect(refused?.code == .locked)
        #expect(try respond(.alice, at: after(10)).code == .locked)
        // Tries that the lock turns away do not make it longer.
        #expect(bob.standing(now: after(10)).lockedUntil == after(609))
        try bob.open(.compare, until: after(700), now: after(609))
        #expect(try respond(.alice, at: after(609)).code == nil)
    }

    @Test("does not keep the user from a peer he names while strangers are locked out")
    func ownTries() throws {
        try bob.open(.compare, until: after(600), now: start)
        for number in 0..<10 { try respond(.made(UInt8(number))).get().cancel(now: start) }
        #expect(bob.standing(now: start).lockedUntil != nil)
        #expect(bob.standing(now: start).openUntil == nil)
        let (session, _) = try bob.initiate(with: .alice, .compare, exporter: exported(1), now: start)
        session.cancel(now: start)
        try bob.open(.compare, for: .alice, until: after(60), now: start)
        #expect(try respond(.mallory).code == .closed)
        #expect(try respond(.alice).code == nil)
    }

    @Test("locks a single peer out after five failed tries, for a while, and no other peer")
    func lockedPeer() throws {
        try bob.open(.compare, until: after(600), now: start)
        for _ in 0..<5 { try respond(.mallory).get().cancel(now: start) }
        #expect(try respond(.mallory).code == .locked)
        let own = fault { () throws(PairingError) in
            try bob.initiate(with: .mallory, .compare, exporter: exported(1), now: start)
        }
        #expect(own?.code == .locked)
        let named = fault { () throws(PairingError) in
            try bob.open(.compare, for: .mallory, until: after(60), now: start)
        }
        #expect(named?.code == .locked)
        #expect(try respond(.alice).code == nil)
        #expect(throws: Never.self) {
            try bob.open(.compare, for: .mallory, until: after(700), now: after(600))
        }
    }

    @Test("does not count refusals that a peer makes before it could know anything")
    func refusedAtOnce() throws {
        let alice = PairingGate(own: .alice)
        for _ in 0..<20 {
            let (session, _) = try alice.initiate(with: .bob, .compare, exporter: exported(1), now: start)
            let fault = fault { () throws(PairingError) in try session.receive(PairingError.closed.reply, now: start) }
            #expect(fault?.refusal == .closed)
        }
        #expect(alice.standing(now: start).failures.isEmpty)
    }

    @Test("forgets failed tries after an hour, and those of a peer that was verified since")
    func forgetting() throws {
        let duo = Duo()
        _ = try duo.tryCode("271828183", shown: "271828182")
        #expect(duo.bob.standing(now: after(3_599)).failures == [.alice: 1])
        #expect(duo.bob.standing(now: after(3_600)).failures.isEmpty)
        _ = try duo.tryCode("271828182", shown: "271828182")
        #expect(duo.bob.standing(now: start).failures.isEmpty)
        #expect(duo.alice.standing(now: start).failures.isEmpty)
    }

    @Test("remembers a bounded number of peers")
    func bounded() {
        var ledger = TryLedger(limits: PairingLimits())
        for number in 0..<200 {
            for _ in 0..<3 { ledger.fail(.made(UInt8(number)), at: after(number)) }
        }
        #expect(ledger.failures(at: after(200)).count == TryLedger.peers)
        for number in 0..<200 {
            for _ in 0..<5 { ledger.fail(.made(UInt8(number)), at: after(number)) }
        }
        #expect((0..<200).count { ledger.locked(.made(UInt8($0)), at: after(200)) != nil } == TryLedger.peers)
    }

    @Test("pairs no peer with its own key")
    func ownKey() throws {
        try bob.open(.compare, until: after(60), now: start)
        let message = try commit(from: .alice)
        let answered = fault { () throws(PairingError) in
            try bob.respond(to: message, from: .bob, exporter: exported(1), now: start)
        }
        let begun = fault { () throws(PairingError) in
            try bob.initiate(with: .bob, .compare, exporter: exported(1), now: start)
        }
        #expect(answered?.code == .sameKey)
        #expect(begun?.code == .sameKey)
    }

    @Test("lets in one of many that come at the same time")
    func concurrency() async throws {
        try bob.open(.compare, until: after(60), now: start)
        let bob = bob
        let sessions = await withTaskGroup(of: PairingSession?.self) { group in
            for number in 0..<100 {
                group.addTask {
                    let peer = PeerID.made(UInt8(number))
                    guard
                        let begun = try? PairingGate(own: peer).initiate(
                            with: .bob, .compare, exporter: exported(1), now: start)
                    else { return nil }
                    return try? bob.respond(to: begun.message, from: peer, exporter: exported(1), now: start).session
                }
            }
            return await group.reduce(into: [PairingSession]()) { all, session in
                if let session { all.append(session) }
            }
        }
        #expect(sessions.count == 1)
    }

    @Test("reads hostile first messages without a trace")
    func hostileMessages() throws {
        try bob.open(.compare, until: after(60), now: start)
        for message in HostileMessages.all {
            let fault = fault { () throws(PairingError) in
                try bob.respond(to: message, from: .mallory, exporter: exported(1), now: start)
            }
            #expect(fault?.code == .malformed)
        }
        #expect(bob.standing(now: start).failures.isEmpty)
        #expect(try respond(.alice).code == nil)
    }
}
