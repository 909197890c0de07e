package import Sharing
private import Synchronization

/// One pairing with one peer over one TLS connection, made by a `PairingGate`.
///
/// The caller passes in the peer's messages and the user's answers, and does the returned actions in their order:
///
/// - **Initiator**: send the first message; pass each answer to `receive`, send the message that it returns, and so on.
///   For a `show` action, ask the user and pass the answer to `confirm`.
/// - **Responder**: pass each request to `receive`. If it returns no `send`, the answer waits for the user: `confirm`
///   returns it.
/// - Call `cancel` when the connection breaks, and at `deadline`. A fault ends the pairing for good; send its `reply`
///   if that is still possible. Only `PairingAction.verified` makes a peer verified, and it comes once.
///
/// A pairing belongs to its connection: it must not receive messages of another connection.
package final class PairingSession: Sendable {
    /// Bytes that TLS exports by `PairingPurpose.exporterLabel`.
    package static let exporterBytes = 32

    private struct State {
        var machine: PairingMachine
        var deadline: ContinuousClock.Instant
        var latest: ContinuousClock.Instant
    }

    /// The other side.
    package let peer: PeerID
    /// The role of this side.
    package let role: PairingRole

    private let ticket: UInt64
    private let desk: PairingGate
    private let state: Mutex<State>

    init(
        _ machine: PairingMachine, peer: PeerID, ticket: UInt64, desk: PairingGate,
        now: ContinuousClock.Instant, deadline: ContinuousClock.Instant
    ) {
        self.peer = peer
        role = machine.role
        self.ticket = ticket
        self.desk = desk
        state = Mutex(State(machine: machine, deadline: deadline, latest: now))
    }

    deinit {
        // A pairing that is dropped before its end counts as a try too.
        desk.settle(ticket, isVerified: false, at: state.withLock(\.latest))
    }

    /// When the pairing ends by itself. It changes once, when the comparison begins.
    package var deadline: ContinuousClock.Instant { state.withLock(\.deadline) }

    /// The string that the users compare; nil before the comparison and after the end.
    package var shown: ShortString? { state.withLock(\.machine.shown) }

    /// Whether the peer has proved what it was to prove.
    package var isVerified: Bool { state.withLock(\.machine.isVerified) }

    /// Whether this side has given its proof, or a peer could have tested a guess otherwise, and the peer has proved nothing.
    package var wasTried: Bool { state.withLock { $0.machine.isTry && !$0.machine.isVerified } }

    /// Takes a message of the peer.
    ///
    /// - Throws: `PairingError`: the pairing has ended, now or before.
    package func receive(
        _ message: [UInt8], now: ContinuousClock.Instant
    ) throws(PairingError) -> [PairingAction] {
        try advance(now) { (machine) throws(PairingError) in try machine.receive(message) }
    }

    /// Takes the answer of this side's user: whether both sides show the same string.
    ///
    /// A negative answer ends the pairing; the returned action tells the peer. Only the first positive answer counts; a
    /// further one is a fault (`outOfOrder`) that changes nothing.
    /// - Throws: `PairingError`; `declined` and the others if the pairing had ended before.
    package func confirm(
        _ isSame: Bool, now: ContinuousClock.Instant
    ) throws(PairingError) -> [PairingAction] {
        try advance(now) { (machine) throws(PairingError) in try machine.confirm(isSame) }
    }

    /// Ends the pairing because the connection broke, the time is over or the program stops. Does nothing if the
    /// pairing is over.
    package func cancel(now: ContinuousClock.Instant) {
        state.withLock { state in
            state.latest = now
            state.machine.end(by: now < state.deadline ? .cancelled : .timedOut)
            desk.settle(ticket, isVerified: false, at: now)
        }
    }

    private func advance(
        _ now: ContinuousClock.Instant,
        _ step: (inout PairingMachine) throws(PairingError) -> [PairingAction]
    ) throws(PairingError) -> [PairingAction] {
        let result = state.withLock { state -> Result<[PairingAction], PairingError> in
            state.latest = now
            if now >= state.deadline { state.machine.end(by: .timedOut) }
            let wasShown = state.machine.shown != nil
            let result = Result { () throws(PairingError) in try step(&state.machine) }
            guard case .success(let actions) = result, !state.machine.isOver else {
                return settle(&state, result, now)
            }
            let isShown = state.machine.shown != nil
            if isShown, !wasShown { state.deadline = now + desk.limits.comparing }
            let isCurrent = desk.update(
                ticket, deadline: state.deadline, isTry: state.machine.isTry, isShown: isShown)
            guard isCurrent else {
                state.machine.end(by: .timedOut)
                return .failure(.timedOut)
            }
            return .success(actions)
        }
        return try result.get()
    }

    /// Reports the result to the desk. A fault that changes nothing has not ended the pairing.
    private func settle(
        _ state: inout State, _ result: Result<[PairingAction], PairingError>, _ now: ContinuousClock.Instant
    ) -> Result<[PairingAction], PairingError> {
        guard state.machine.isOver else { return result }
        let isVerified = if case .success(let actions) = result { actions.contains(.verified(peer)) } else { false }
        let isCurrent =
            if isVerified {
                desk.settle(ticket, isVerified: true, at: now)
            } else {
                desk.settle(ticket, isVerified: false, at: now)
            }
        // The desk has admitted another pairing in the meantime.
        return isVerified && !isCurrent ? .failure(.timedOut) : result
    }
}
