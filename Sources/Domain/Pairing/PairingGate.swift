package import Sharing
private import Synchronization

/// All pairings of this side begin here. The desk knows whether pairing mode is open, allows one pairing at a time, and
/// counts failed tries.
///
/// - Strangers are answered only while pairing mode is open. It ends at a code's first try, at the first pairing that
///   shows a short string, or when its time is over. A code for several peers ends at the first failed try, or when so
///   many have proved to know it.
/// - After `PairingLimits.failures` failed tries it is closed and locked for a while. Tries of other peers do not lock
///   calls that name a peer: `initiate`, and pairing mode for one peer.
/// - Every pairing that a stranger began and that was not verified is a failed try, however it ended: otherwise an
///   intermediary could try until it gets the right digits by chance.
///
/// All instants come from the caller, from one clock, and never go back.
package final class PairingGate: Sendable {
    struct Opening {
        let method: PairingMethod
        let peer: PeerID?
        let until: ContinuousClock.Instant
        /// How many peers may still prove to know a code.
        var runs = 1
    }

    struct Active {
        let ticket: UInt64
        let peer: PeerID
        let role: PairingRole
        var deadline: ContinuousClock.Instant
        var isTry: Bool
        /// Whether more peers may come with the same code after it.
        var keepsOpen = false
    }

    struct Ledger {
        var opening: Opening?
        var active: Active?
        var tickets: UInt64 = 0
        var tries: TryLedger
    }

    /// This side's key.
    package let own: PeerID
    let limits: PairingLimits
    private let ledger: Mutex<Ledger>

    package init(own: PeerID, limits: PairingLimits = PairingLimits()) {
        self.own = own
        self.limits = limits
        ledger = Mutex(Ledger(tries: TryLedger(limits: limits)))
    }

    // MARK: Pairing mode

    /// Opens pairing mode, and replaces an open one.
    ///
    /// - Parameters:
    ///   - peer: the only peer that may pair; nil for any.
    ///   - until: when it ends by itself; `PairingLimits.openness` from now at the latest.
    ///   - runs: how many peers may prove to know a code, one after the other.
    /// - Throws: `PairingError` (`locked`).
    package func open(
        _ method: PairingMethod, for peer: PeerID? = nil, until: ContinuousClock.Instant, runs: Int = 1,
        now: ContinuousClock.Instant
    ) throws(PairingError) {
        let isLocked = ledger.withLock { ledger in
            ledger.expire(at: now)
            guard !ledger.isLocked(for: peer, at: now) else { return true }
            ledger.opening = Opening(
                method: method, peer: peer, until: min(until, now + PairingLimits.openness), runs: runs)
            return false
        }
        if isLocked { throw .locked }
    }

    /// Ends pairing mode. A pairing that has begun continues.
    package func close() {
        ledger.withLock { $0.opening = nil }
    }

    /// The state of the desk for the user.
    package struct Status: Sendable {
        /// The end of open pairing mode; nil if it is not open.
        package let openUntil: ContinuousClock.Instant?
        /// The only peer that may pair; nil for any.
        package let openFor: PeerID?
        /// The end of the lock for strangers; nil if they are not locked out.
        package let lockedUntil: ContinuousClock.Instant?
        /// The other side of the current pairing.
        package let underWay: PeerID?
        /// Stored failed tries.
        package let failures: [PeerID: Int]
    }

    /// The current state of the desk.
    package func standing(now: ContinuousClock.Instant) -> Status {
        ledger.withLock { ledger in
            ledger.expire(at: now)
            return Status(
                openUntil: ledger.opening?.until,
                openFor: ledger.opening?.peer,
                lockedUntil: ledger.tries.locked(at: now),
                underWay: ledger.active?.peer,
                failures: ledger.tries.failures(at: now))
        }
    }

    // MARK: Beginning

    /// Begins a pairing at the request of this side's user.
    ///
    /// - Parameters:
    ///   - peer: the peer whose key the connection's handshake proved.
    ///   - exporter: the bytes that the connection exports by `PairingPurpose.exporterLabel`.
    /// - Returns: the pairing, and the first message.
    /// - Throws: `PairingError` (`sameKey`, `locked` by this peer's own tries, `busy`).
    package func initiate(
        with peer: PeerID, _ method: PairingMethod, exporter: [UInt8], now: ContinuousClock.Instant
    ) throws(PairingError) -> (session: PairingSession, message: [UInt8]) {
        precondition(exporter.count == PairingSession.exporterBytes, "an exporter of another length")
        guard peer != own else { throw .sameKey }
        let admission = ledger.withLock { ledger -> Result<UInt64, PairingError> in
            ledger.expire(at: now)
            guard ledger.tries.locked(peer, at: now) == nil else { return .failure(.locked) }
            guard ledger.active == nil else { return .failure(.busy) }
            return .success(ledger.admit(peer, .initiator, until: now + limits.exchange))
        }
        let ticket = try admission.get()
        return try begin(ticket, now) { () throws(PairingError) in
            let binding = PairingBinding(
                initiator: own, responder: peer, exporter: exporter, purpose: method.purpose)
            return try PairingMachine.initiate(binding, method)
        }
    }

    /// Answers the first message of a peer that wants to pair. This uses up a code.
    ///
    /// - Parameters:
    ///   - peer: the peer whose key the connection's handshake proved.
    ///   - exporter: the bytes that the connection exports by `PairingPurpose.exporterLabel`.
    /// - Returns: the pairing, and the answer.
    /// - Throws: `PairingError`; its `reply` is then the answer.
    package func respond(
        to message: [UInt8], from peer: PeerID, exporter: [UInt8], now: ContinuousClock.Instant
    ) throws(PairingError) -> (session: PairingSession, message: [UInt8]) {
        precondition(exporter.count == PairingSession.exporterBytes, "an exporter of another length")
        guard peer != own else { throw .sameKey }
        let message = try PairingMessage(message, from: .initiator)
        let admission = ledger.withLock { ledger in ledger.admit(message, from: peer, limits, at: now) }
        let (ticket, method) = try admission.get()
        return try begin(ticket, now) { () throws(PairingError) in
            let binding = PairingBinding(
                initiator: peer, responder: own, exporter: exporter, purpose: method.purpose)
            return try PairingMachine.respond(to: message, binding, method)
        }
    }

    private func begin(
        _ ticket: UInt64, _ now: ContinuousClock.Instant,
        _ make: () throws(PairingError) -> (PairingMachine, [UInt8])
    ) throws(PairingError) -> (session: PairingSession, message: [UInt8]) {
        do throws(PairingError) {
            let (machine, message) = try make()
            let session = PairingSession(
                machine, peer: machine.peer, ticket: ticket, desk: self, now: now, deadline: now + limits.exchange)
            return (session, message)
        } catch {
            settle(ticket, isVerified: false, at: now)
            throw error
        }
    }

    // MARK: Reports of pairings

    /// - Returns: whether the pairing is still the current one.
    func update(
        _ ticket: UInt64, deadline: ContinuousClock.Instant, isTry: Bool, isShown: Bool
    ) -> Bool {
        ledger.withLock { ledger in
            guard ledger.active?.ticket == ticket else { return false }
            ledger.active?.deadline = deadline
            ledger.active?.isTry = isTry
            if isShown, ledger.active?.role == .responder { ledger.opening = nil }
            return true
        }
    }

    /// - Returns: whether the pairing was still the current one.
    @discardableResult
    func settle(_ ticket: UInt64, isVerified: Bool, at now: ContinuousClock.Instant) -> Bool {
        ledger.withLock { $0.settle(ticket, isVerified: isVerified, at: now) }
    }
}
