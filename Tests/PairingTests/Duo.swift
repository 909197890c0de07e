import Sharing

@testable import Pairing

/// Two desks, and a pairing between them that goes on as far as the test lets it.
struct Duo {
    let alice: PairingGate
    let bob: PairingGate

    init(limits: PairingLimits = PairingLimits()) {
        alice = PairingGate(own: .alice, limits: limits)
        bob = PairingGate(own: .bob, limits: limits)
    }

    /// Two sessions with something to compare.
    func compared(
        at now: ContinuousClock.Instant = start
    ) throws -> (alice: PairingSession, bob: PairingSession, shown: [ShortString]) {
        try bob.open(.compare, until: now + .seconds(120), now: now)
        let (initiator, commit) = try alice.initiate(with: .bob, .compare, exporter: exported(1), now: now)
        let (responder, nonce) = try bob.respond(to: commit, from: .alice, exporter: exported(1), now: now)
        let reveal = try initiator.receive(nonce, now: now)
        let agree = try responder.receive(reveal.sent ?? [], now: now)
        let shown = try initiator.receive(agree.sent ?? [], now: now)
        return (initiator, responder, [agree.shown, shown.shown].compactMap { $0 })
    }

    /// One try with codes: the results of both sides.
    func tryCode(
        _ typed: String, shown: String, at now: ContinuousClock.Instant = start
    ) throws -> (alice: Result<PeerID?, PairingError>, bob: Result<PeerID?, PairingError>) {
        try bob.open(.code(.made(shown)), until: now + .seconds(120), now: now)
        let (initiator, share) = try alice.initiate(with: .bob, .code(.made(typed)), exporter: exported(1), now: now)
        let (responder, answer) = try bob.respond(to: share, from: .alice, exporter: exported(1), now: now)
        let proof = try initiator.receive(answer, now: now).sent ?? []
        var last: [UInt8]
        let outcome: Result<PeerID?, PairingError>
        do throws(PairingError) {
            let actions = try responder.receive(proof, now: now)
            last = actions.sent ?? []
            outcome = .success(actions.verified)
        } catch {
            last = error.reply
            outcome = .failure(error)
        }
        do throws(PairingError) {
            return (.success(try initiator.receive(last, now: now).verified), outcome)
        } catch {
            return (.failure(error), outcome)
        }
    }
}

extension Result where Failure == PairingError {
    var code: PairingError.Code? {
        guard case .failure(let fault) = self else { return nil }
        return fault.code
    }
}
