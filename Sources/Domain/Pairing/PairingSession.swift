package import Sharing
private import Synchronization

/// One pairing with one peer over one TLS connection, made by a `PairingDesk`.
///
/// Feed it what the peer sends and what the user says, and do what it answers, in that order:
///
/// - **Initiator**: send the first message; give each answer to `receive`, send what comes of it, and so on. When there is
///   something to `show`, ask the user and give the answer to `confirm`.
/// - **Responder**: give each request to `receive`. When no `send` comes of it, the answer waits for the user: it comes of
///   `confirm`.
/// - Call `cancel` when the connection breaks, and at `deadline`. A fault ends the pairing for good; its `reply` is to be
///   sent where that is still possible. Only `PairingAction.verified` makes a peer verified, and it comes once.
///
/// A pairing belongs to its connection: messages of another connection are not given to it.
package final class PairingSession: Sendable {
    /// The label by which TLS exports the `exporterBytes` that bind a pairing to its connection (RFC 8446, section 7.5),
    /// with an empty context. It begins as RFC 5705, section 4, asks of labels for private use.
    package static let exporterLabel = "EXPERIMENTAL Waft pairing 1"

    /// Bytes of the exporter.
    package static let exporterBytes = 32

    private struct State {
        var machine: PairingMachine
        var deadline: ContinuousClock.Instant
        var latest: ContinuousClock.Instant
    }

    /// The other side.
    package let peer: PeerID
    /// Which side this is.
    package let role: PairingRole

    private let ticket: UInt64
    private let desk: PairingDesk
    private let state: Mutex<State>

    init(
        _ machine: PairingMachine, peer: PeerID, ticket: UInt64, desk: PairingDesk,
        now: ContinuousClock.Instant, deadline: ContinuousClock.Instant
    ) {
        self.peer = peer
        role = machine.role
        self.ticket = ticket
        self.desk = desk
        state = Mutex(State(machine: machine, deadline: deadline, latest: now))
    }

    deinit {
        // Dropped in the middle: a try all the same.
        desk.settle(ticket, isVerified: false, at: state.withLock(\.latest))
    }

    /// When the pairing ends by itself. It moves once, when there is something to compare.
    package var deadline: ContinuousClock.Instant { state.withLock(\.deadline) }

    /// What the users compare; nil before they can, and after the end.
    package var shown: ShortString? { state.withLock(\.machine.shown) }

    /// Takes a message of the peer.
    ///
    /// - Throws: `PairingFault`: the pairing has ended, now or before.
    package func receive(
        _ message: [UInt8], now: ContinuousClock.Instant
    ) throws(PairingFault) -> [PairingAction] {
        try advance(now) { (machine) throws(PairingFault) in try machine.receive(message) }
    }

    /// Takes this side's user's answer: whether both sides show the same.
    ///
    /// A no ends the pairing; the peer is to be told so by what is to be sent. Of several yeses the first counts; the
    /// others are a fault (`outOfOrder`) that changes nothing.
    /// - Throws: `PairingFault`; `declined` and the others when it had ended before.
    package func confirm(
        _ isSame: Bool, now: ContinuousClock.Instant
    ) throws(PairingFault) -> [PairingAction] {
        try advance(now) { (machine) throws(PairingFault) in try machine.confirm(isSame) }
    }

    /// Gives the pairing up, because the connection broke, the time is over or the program stops. Nothing happens when
    /// it is over.
    package func cancel(now: ContinuousClock.Instant) {
        state.withLock { state in
            state.latest = now
            state.machine.end(by: now < state.deadline ? .cancelled : .timedOut)
            desk.settle(ticket, isVerified: false, at: now)
        }
    }

    private func advance(
        _ now: ContinuousClock.Instant,
        _ step: (inout PairingMachine) throws(PairingFault) -> [PairingAction]
    ) throws(PairingFault) -> [PairingAction] {
        let result = state.withLock { state -> Result<[PairingAction], PairingFault> in
            state.latest = now
            if now >= state.deadline { state.machine.end(by: .timedOut) }
            let wasShown = state.machine.shown != nil
            let result = Result { () throws(PairingFault) in try step(&state.machine) }
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

    /// Tells the desk how it ended. A fault that changes nothing has not ended it.
    private func settle(
        _ state: inout State, _ result: Result<[PairingAction], PairingFault>, _ now: ContinuousClock.Instant
    ) -> Result<[PairingAction], PairingFault> {
        guard state.machine.isOver else { return result }
        let isVerified = if case .success(let actions) = result { actions.contains(.verified(peer)) } else { false }
        let isCurrent =
            if isVerified {
                desk.settle(ticket, isVerified: true, at: now)
            } else {
                desk.settle(ticket, isVerified: false, at: now)
            }
        // The desk has given the place to another pairing in the meantime.
        return isVerified && !isCurrent ? .failure(.timedOut) : result
    }
}
