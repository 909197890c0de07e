internal import Sharing

// The admission of pairings and their results. Called with the desk's lock held.

extension PairingGate.Ledger {
    /// Ends pairing mode and the pairing whose time is over.
    mutating func expire(at now: ContinuousClock.Instant) {
        if let opening, opening.until <= now { self.opening = nil }
        if let active, active.deadline <= now { settle(active.ticket, isVerified: false, at: active.deadline) }
    }

    func isLocked(for peer: PeerID?, at now: ContinuousClock.Instant) -> Bool {
        guard let peer else { return tries.locked(at: now) != nil }
        return tries.locked(peer, at: now) != nil
    }

    /// Admits a stranger, or returns the reason why not. A refusal is no try: the stranger has learnt nothing.
    mutating func admit(
        _ message: PairingMessage, from peer: PeerID, _ limits: PairingLimits, at now: ContinuousClock.Instant
    ) -> Result<(UInt64, PairingMethod), PairingError> {
        expire(at: now)
        guard tries.locked(peer, at: now) == nil else { return .failure(.locked) }
        guard let opening else { return .failure(tries.locked(at: now) == nil ? .closed : .locked) }
        guard opening.peer == nil || opening.peer == peer else { return .failure(.closed) }
        switch (message, opening.method) {
        case (.commit, .compare): break
        // A code for another purpose is no try.
        case (.share(_, let purpose), .code(let code)) where purpose == code.purpose: break
        case (.commit, .code), (.share, _): return .failure(.closed)
        default: return .failure(.outOfOrder(message.name))
        }
        guard active == nil else { return .failure(.busy) }
        let ticket = admit(peer, .responder, until: now + limits.exchange)
        // A code allows one try, even a failed one, or as many right ones as there are peers to come.
        if case .code = opening.method {
            self.opening?.runs -= 1
            if opening.runs <= 1 { self.opening = nil } else { active?.keepsOpen = true }
        }
        return .success((ticket, opening.method))
    }

    mutating func admit(_ peer: PeerID, _ role: PairingRole, until deadline: ContinuousClock.Instant) -> UInt64 {
        tickets += 1
        active = PairingGate.Active(
            ticket: tickets, peer: peer, role: role, deadline: deadline, isTry: role == .responder)
        return tickets
    }

    @discardableResult
    mutating func settle(_ ticket: UInt64, isVerified: Bool, at now: ContinuousClock.Instant) -> Bool {
        guard let active, active.ticket == ticket else { return false }
        self.active = nil
        if isVerified {
            tries.succeed(active.peer)
            if active.role == .responder, !active.keepsOpen { opening = nil }
        } else {
            if active.keepsOpen { opening = nil }
            guard active.isTry else { return true }
            tries.fail(active.peer, at: now)
            if let opening, isLocked(for: opening.peer, at: now) { self.opening = nil }
        }
        return true
    }
}
