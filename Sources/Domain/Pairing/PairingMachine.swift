internal import Secrets
package import Sharing

/// The way in which two sides verify that they are connected directly.
package enum PairingMethod: Sendable {
    /// Both sides show a short string, and the users compare it.
    case compare
    /// One side shows a code, and a user types it on the other side.
    case code(PairingCode)

    package var purpose: PairingPurpose {
        switch self {
        case .compare: .contact
        case .code(let code): code.purpose
        }
    }
}

/// An action for the caller after a message or a user's answer. Actions are done in their order.
package enum PairingAction: Hashable, Sendable {
    /// Send these bytes: an initiator sends its next request, a responder the answer to the waiting request.
    case send([UInt8])
    /// Show this string to the user. The user compares it with the string on the other side.
    case show(ShortString)
    /// The pairing is done: this peer's key is verified. Store it before the next action is done.
    case verified(PeerID)
}

/// One side of one pairing, without I/O and clock.
///
/// ```
/// initiator   ─commit→ awaitingNonce ─reveal→ awaitingAgreement ──▶ comparing ─confirm→ ──▶ verified
///             ─share→ awaitingShare ─prove→ awaitingProof ────────────────────────────────▶ verified
/// responder   ─nonce→ awaitingRevelation ─agree→ ─────────────────▶ comparing ─confirm→ ──▶ verified
///             ─share→ awaitingProof ─prove→ ──────────────────────────────────────────────▶ verified
/// all         ──a fault, a refusal, a no──▶ ended
/// ```
struct PairingMachine: Sendable {
    private enum State: Sendable {
        case awaitingNonce(own: [UInt8])
        case awaitingRevelation(commitment: [UInt8], own: [UInt8])
        case awaitingAgreement(Comparison)
        /// `said`: this side's user confirmed. `heard`: the other side's user confirmed.
        case comparing(Comparison, said: Bool, heard: Bool)
        case awaitingShare(SPAKE2)
        case awaitingProof(expected: [UInt8], own: [UInt8])
        case verified
        case ended(PairingError)
    }

    let role: PairingRole
    private let binding: PairingBinding
    private var state: State

    /// Whether the other side could know already if it would succeed: then this counts as its try.
    private(set) var isTry: Bool

    /// The string to compare, from the beginning of the comparison to its end.
    var shown: ShortString? {
        guard case .comparing(let comparison, _, _) = state else { return nil }
        return comparison.shown
    }

    var isVerified: Bool { if case .verified = state { true } else { false } }

    /// Whether the pairing is over, so that no further call has an effect.
    var isOver: Bool {
        switch state {
        case .verified, .ended: true
        default: false
        }
    }

    /// The other side.
    var peer: PeerID { role == .initiator ? binding.responder : binding.initiator }

    private init(_ role: PairingRole, _ binding: PairingBinding, _ state: State) {
        self.role = role
        self.binding = binding
        self.state = state
        isTry = role == .responder
    }

    // MARK: Beginning

    /// Begins, and returns the first message.
    static func initiate(
        _ binding: PairingBinding, _ method: PairingMethod
    ) throws(PairingError) -> (PairingMachine, [UInt8]) {
        switch method {
        case .compare:
            let nonce = KeyDerivation.random(KeyDerivation.hashBytes)
            let message = PairingMessage.commit(try binding.commitment(to: nonce))
            return (PairingMachine(.initiator, binding, .awaitingNonce(own: nonce)), message.encoded(from: .initiator))
        case .code(let code):
            let spake2 = try binding.spake2(.initiator, code: code)
            let message = PairingMessage.share(spake2.share, code.purpose)
            return (PairingMachine(.initiator, binding, .awaitingShare(spake2)), message.encoded(from: .initiator))
        }
    }

    /// Takes the first message, and returns the answer.
    static func respond(
        to message: PairingMessage, _ binding: PairingBinding, _ method: PairingMethod
    ) throws(PairingError) -> (PairingMachine, [UInt8]) {
        switch (message, method) {
        case (.commit(let commitment), .compare):
            let nonce = KeyDerivation.random(KeyDerivation.hashBytes)
            let state = State.awaitingRevelation(commitment: commitment, own: nonce)
            let answer = PairingMessage.nonce(nonce)
            return (PairingMachine(.responder, binding, state), answer.encoded(from: .responder))
        case (.share(let share, _), .code(let code)):
            let spake2 = try binding.spake2(.responder, code: code)
            let proofs = try binding.proofs(spake2, share: share)
            let state = State.awaitingProof(expected: proofs.a, own: proofs.b)
            let answer = PairingMessage.share(spake2.share, code.purpose)
            return (PairingMachine(.responder, binding, state), answer.encoded(from: .responder))
        default:
            throw .outOfOrder(message.name)
        }
    }

    // MARK: Messages and answers

    /// Takes a message of the other side. After a fault every call throws it again.
    mutating func receive(_ bytes: [UInt8]) throws(PairingError) -> [PairingAction] {
        switch state {
        case .ended(let fault): throw fault
        case .verified: throw .outOfOrder("another message")
        default: break
        }
        do throws(PairingError) {
            let message = try PairingMessage(bytes, from: role.other)
            if case .refused(let refusal) = message { throw PairingError.refused(refusal) }
            return try take(message)
        } catch {
            state = .ended(error)
            throw error
        }
    }

    private mutating func take(_ message: PairingMessage) throws(PairingError) -> [PairingAction] {
        switch (state, message) {
        case (.awaitingNonce(let own), .nonce(let nonce)):
            isTry = true
            let comparison = try binding.comparison(initiatorNonce: own, responderNonce: nonce)
            state = .awaitingAgreement(comparison)
            return [send(.reveal(own))]

        case (.awaitingRevelation(let commitment, let own), .reveal(let nonce)):
            guard KeyDerivation.areEqual(commitment, try binding.commitment(to: nonce)) else {
                throw .commitmentBroken
            }
            let comparison = try binding.comparison(initiatorNonce: nonce, responderNonce: own)
            state = .comparing(comparison, said: false, heard: false)
            return [.show(comparison.shown), send(.agree(comparison.agreement))]

        case (.awaitingAgreement(let comparison), .agree(let agreement)):
            guard KeyDerivation.areEqual(agreement, comparison.agreement) else { throw .foreignProof }
            state = .comparing(comparison, said: false, heard: false)
            return [.show(comparison.shown)]

        // The initiator confirms first, so it has always confirmed before the responder's confirmation comes.
        case (.comparing(let comparison, let said, false), .confirm(let confirmation))
        where said || role == .responder:
            guard KeyDerivation.areEqual(confirmation, comparison.confirmation(of: role.other)) else {
                throw .foreignProof
            }
            state = .comparing(comparison, said: said, heard: true)
            return advance()

        case (.awaitingShare(let spake2), .share(let share, _)):
            isTry = true
            let proofs = try binding.proofs(spake2, share: share)
            state = .awaitingProof(expected: proofs.b, own: proofs.a)
            return [send(.prove(proofs.a))]

        case (.awaitingProof(let expected, let own), .prove(let proof)):
            guard KeyDerivation.areEqual(proof, expected) else { throw .wrongCode }
            state = .verified
            return role == .initiator ? [.verified(peer)] : [.verified(peer), send(.prove(own))]

        default:
            throw .outOfOrder(message.name)
        }
    }

    /// Takes this side's user's answer. A second confirmation, or an answer without a comparison, is a fault that
    /// changes nothing.
    mutating func confirm(_ isSame: Bool) throws(PairingError) -> [PairingAction] {
        switch state {
        case .comparing(_, _, _) where !isSame:
            state = .ended(.declined)
            return [.send(PairingError.declined.reply)]
        case .comparing(let comparison, false, let heard):
            state = .comparing(comparison, said: true, heard: heard)
            return role == .initiator ? [send(.confirm(comparison.confirmation(of: role)))] : advance()
        case .ended(let fault):
            throw fault
        default:
            throw .outOfOrder("the user's answer")
        }
    }

    /// Verified if both sides have confirmed.
    private mutating func advance() -> [PairingAction] {
        guard case .comparing(let comparison, true, true) = state else { return [] }
        state = .verified
        return role == .initiator
            ? [.verified(peer)] : [.verified(peer), send(.confirm(comparison.confirmation(of: role)))]
    }

    /// Ends the pairing. Does nothing if it is over.
    mutating func end(by fault: PairingError) {
        if !isOver { state = .ended(fault) }
    }

    private func send(_ message: PairingMessage) -> PairingAction { .send(message.encoded(from: role)) }
}
