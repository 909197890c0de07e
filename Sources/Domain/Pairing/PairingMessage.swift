private import Foundation
internal import Secrets

/// The side of a pairing: the initiator sends first, the responder answers.
package enum PairingRole: String, Codable, Hashable, Sendable {
    /// Sends a message and waits for the answer.
    case initiator
    /// Answers each message.
    case responder

    /// The role of the other side.
    package var other: PairingRole { self == .initiator ? .responder : .initiator }
}

/// The messages between the two sides of a pairing (Pairing, section 3), each checked as far as possible alone.
enum PairingMessage: Hashable, Sendable {
    /// The initiator's commitment, sent before it has seen anything.
    case commit([UInt8])
    /// The responder's nonce.
    case nonce([UInt8])
    /// The initiator's nonce, which opens the commitment.
    case reveal([UInt8])
    /// The responder's proof that it derived the same values from both nonces.
    case agree([UInt8])
    /// This side's user confirmed this comparison.
    case confirm([UInt8])
    /// A public share of SPAKE2, for a purpose.
    case share([UInt8], PairingPurpose)
    /// A key confirmation of SPAKE2.
    case prove([UInt8])
    /// After both proofs of a spoken code: the transfer can be taken, or the place to take it is reached.
    case ready
    /// The end of the pairing, from either side, at any time.
    case refused(PairingRefusal)

    /// The name of the message for a fault.
    var name: String {
        switch self {
        case .commit: "a commitment"
        case .nonce: "a nonce"
        case .reveal: "a revelation"
        case .agree: "an agreement"
        case .confirm: "a confirmation"
        case .share: "a share"
        case .prove: "a proof"
        case .ready: "a readiness"
        case .refused: "a refusal"
        }
    }
}

/// The form of a message as JSON.
private struct WireMessage: Codable {
    enum Step: String, Codable {
        case commit
        case nonce
        case reveal
        case agree
        case confirm
        case share
        case prove
        case ready
        case refused
    }

    var v = 1
    var from: PairingRole?
    var step: Step
    var value: String?
    var reason: String?
    /// Of a share for a transfer: whether the side that shows the code sends or receives, and the code's number.
    var code: Direction?
    var nameplate: Int?

    enum Direction: String, Codable {
        case send
        case receive
    }

    /// - Throws: `PairingError` (`malformed`).
    func purpose() throws(PairingError) -> PairingPurpose {
        guard let code else { return .contact }
        guard let nameplate, SpokenCode.nameplates.contains(nameplate) else { throw .malformed("it has no nameplate") }
        return code == .send ? .send(nameplate: nameplate) : .receive(nameplate: nameplate)
    }

    mutating func note(_ purpose: PairingPurpose) {
        nameplate = purpose.nameplate
        switch purpose {
        case .contact: code = nil
        case .send: code = .send
        case .receive: code = .receive
        }
    }
}

extension PairingMessage {
    /// Reads a message of the side with the role `sender`.
    ///
    /// - Throws: `PairingError` (`malformed`); an invalid message is refused as a whole.
    init(_ bytes: [UInt8], from sender: PairingRole) throws(PairingError) {
        guard bytes.count <= PairingLimits.messageBytes else { throw .malformed("it is too long") }
        let message: WireMessage
        do {
            message = try JSONDecoder().decode(WireMessage.self, from: Data(bytes))
        } catch {
            throw .malformed("it is not JSON of the form that is known here")
        }
        guard message.v == 1 else { throw .malformed("it has another version than 1") }
        if message.step == .refused {
            self = .refused(message.reason.flatMap(PairingRefusal.init) ?? .failed)
            return
        }
        guard message.from == sender else { throw .malformed("it is not from the \(sender)") }
        if message.step == .ready {
            self = .ready
            return
        }
        let count = message.step == .share ? P256.pointBytes : KeyDerivation.hashBytes
        guard let text = message.value, let value = Hexadecimal.bytes(text, count: count) else {
            throw .malformed("its value is not \(count) bytes")
        }
        switch message.step {
        case .commit: self = .commit(value)
        case .nonce: self = .nonce(value)
        case .reveal: self = .reveal(value)
        case .agree: self = .agree(value)
        case .confirm: self = .confirm(value)
        case .share: self = .share(value, try message.purpose())
        case .prove: self = .prove(value)
        case .ready: self = .ready
        case .refused: self = .refused(.failed)
        }
    }

    /// A refusal, which either side can send.
    var encoded: [UInt8] { encoded(from: nil) }

    /// The JSON text, from the side with the role `sender`.
    func encoded(from sender: PairingRole?) -> [UInt8] {
        let (step, value): (WireMessage.Step, [UInt8]?) =
            switch self {
            case .commit(let value): (.commit, value)
            case .nonce(let value): (.nonce, value)
            case .reveal(let value): (.reveal, value)
            case .agree(let value): (.agree, value)
            case .confirm(let value): (.confirm, value)
            case .share(let value, _): (.share, value)
            case .prove(let value): (.prove, value)
            case .ready: (.ready, nil)
            case .refused: (.refused, nil)
            }
        var message = WireMessage(step: step)
        if case .refused(let refusal) = self {
            message.reason = refusal.rawValue
        } else {
            message.from = sender
            message.value = value.map { Hexadecimal.text($0) }
        }
        if case .share(_, let purpose) = self { message.note(purpose) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        do {
            return [UInt8](try encoder.encode(message))
        } catch {
            // The message has only strings and a number: encoding cannot fail.
            preconditionFailure("a pairing message could not be encoded: \(error)")
        }
    }
}
