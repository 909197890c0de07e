internal import Secrets

/// Why a pairing did not begin, or ended without a verified peer.
///
/// `code` is for programs, `description` for people: one line, lower case, without any text from a peer.
package struct PairingError: Error, Hashable {
    /// The kind of fault.
    package struct Code: Hashable, Sendable {
        private enum Value {
            case declined
            case refusedByPeer
            case timedOut
            case cancelled
            case mismatch
            case wrongCode
            case locked
            case busy
            case closed
            case malformed
            case outOfOrder
            case sameKey
            case noCryptography
        }

        private let value: Value

        /// This side's user declined.
        package static let declined = Code(value: .declined)
        /// The other side ended it; `refusal` has its reason.
        package static let refusedByPeer = Code(value: .refusedByPeer)
        /// The time for it is over.
        package static let timedOut = Code(value: .timedOut)
        /// The pairing was cancelled: the connection broke, or the program was stopped.
        package static let cancelled = Code(value: .cancelled)
        /// The peer's message does not match its commitment, or belongs to another pairing.
        package static let mismatch = Code(value: .mismatch)
        /// The peer does not know the code, or an intermediary intercepts the connection.
        package static let wrongCode = Code(value: .wrongCode)
        /// There were too many failed tries.
        package static let locked = Code(value: .locked)
        /// Another pairing is under way.
        package static let busy = Code(value: .busy)
        /// Pairing mode is not open for this peer or by this method.
        package static let closed = Code(value: .closed)
        /// A message does not have the required form.
        package static let malformed = Code(value: .malformed)
        /// A message or a user's answer came at the wrong time.
        package static let outOfOrder = Code(value: .outOfOrder)
        /// The peer has this side's own key.
        package static let sameKey = Code(value: .sameKey)
        /// libcrypto failed.
        package static let noCryptography = Code(value: .noCryptography)
    }

    /// The kind of fault.
    package let code: Code

    /// The other side's reason, if `code` is `refusedByPeer`.
    package let refusal: PairingRefusal?

    private let message: String

    private init(_ code: Code, _ message: String, refusal: PairingRefusal? = nil) {
        self.code = code
        self.message = message
        self.refusal = refusal
    }

    /// The message to send to the peer when the pairing ends by this fault.
    package var reply: [UInt8] { PairingMessage.refused(told).encoded }

    /// The reason that the peer receives.
    private var told: PairingRefusal {
        switch code {
        case .declined: .declined
        case .timedOut: .expired
        case .mismatch: .mismatch
        case .wrongCode: .code
        case .locked: .locked
        case .busy: .busy
        case .closed: .closed
        case .malformed, .outOfOrder, .sameKey: .protocol
        default: .failed
        }
    }
}

/// The reason for which a peer ends a pairing, as it sends it (Pairing, section 3).
package enum PairingRefusal: String, Sendable {
    /// Its user declined.
    case declined
    /// The time is over.
    case expired
    /// The revealed value does not match the commitment.
    case mismatch
    /// The code is wrong.
    case code
    /// There were too many tries.
    case locked
    /// It is pairing with another peer.
    case busy
    /// It is not in pairing mode.
    case closed
    /// A message was malformed or out of order.
    case `protocol`
    /// Another reason, and every unknown reason.
    case failed

    var explanation: String {
        switch self {
        case .declined: "its user said no"
        case .expired: "its time limit was over"
        case .mismatch: "the revealed value does not match the commitment"
        case .code: "the code is wrong, or someone is intercepting the connection"
        case .locked: "there were too many tries without success"
        case .busy: "it is pairing with another peer"
        case .closed:
            "it is not accepting pairing now; run there first: waft pair --accept, or for a code: waft pair --code"
        case .protocol: "it did not understand this side"
        case .failed: "it failed there"
        }
    }
}

extension PairingError: CustomStringConvertible {
    package var description: String { message }
}

extension PairingError {
    static let declined = PairingError(.declined, "the pairing was declined on this side")
    static let timedOut = PairingError(.timedOut, "the time limit of this pairing is over")
    static let cancelled = PairingError(.cancelled, "the pairing was cancelled")
    static let busy = PairingError(.busy, "another pairing is under way")
    static let closed = PairingError(.closed, "pairing mode is not open for this peer")
    static let sameKey = PairingError(.sameKey, "a peer cannot be paired with itself")

    static let locked = PairingError(
        .locked, "pairing is locked for a while: there were too many tries without success")

    static let commitmentBroken = PairingError(
        .mismatch, "the peer revealed a value that does not match its commitment")

    static let foreignProof = PairingError(.mismatch, "the peer's proof belongs to another pairing")

    static let wrongCode = PairingError(
        .wrongCode, "the code is wrong, or someone is intercepting the connection")

    static func refused(_ refusal: PairingRefusal) -> PairingError {
        PairingError(.refusedByPeer, "the peer ended the pairing: \(refusal.explanation)", refusal: refusal)
    }

    static func malformed(_ what: String) -> PairingError {
        PairingError(.malformed, "the peer's message is malformed: \(what)")
    }

    static func outOfOrder(_ what: String) -> PairingError {
        PairingError(.outOfOrder, "\(what) came out of order")
    }

    static func noCryptography(_ what: String) -> PairingError {
        PairingError(.noCryptography, "libcrypto did not make \(what)")
    }

    /// Calls `body`, and throws its error as one of a pairing.
    static func mapping<Value>(_ body: () throws(SecretsError) -> Value) throws(PairingError) -> Value {
        do throws(SecretsError) { return try body() } catch { throw .noCryptography(error.product) }
    }
}
