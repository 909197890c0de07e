package import Contacts
package import Control
package import Pairing
import Sharing

extension PairingEndError {
    package init(_ fault: PairingError) {
        let code: Code =
            switch fault.code {
            // A message of no or the wrong form may be an attack, as a wrong proof may be.
            case .declined, .mismatch, .wrongCode, .locked, .busy, .closed, .malformed, .outOfOrder: .declined
            case .timedOut: .noAnswer
            case .cancelled: .lost
            case .refusedByPeer: Self.code(fault.refusal)
            default: .failed
            }
        self.init(code, fault.code == .cancelled ? Self.lost.reason : fault.description)
    }

    private static func code(_ refusal: PairingRefusal?) -> Code {
        switch refusal {
        case .expired: .noAnswer
        case .declined, .mismatch, .code, .locked, .busy, .closed, .protocol: .declined
        default: .failed
        }
    }

    package init(_ error: ContactError) {
        self.init(.failed, "the contact could not be stored: \(error)")
    }

    package static let lost = PairingEndError(.lost, "the connection broke off before both sides had confirmed")
    package static let nobodyCame = PairingEndError(.noAnswer, "no machine paired in time")
    package static let givenUp = PairingEndError(.cancelled, "the pairing was cancelled on this side")
}

extension PairingSession {
    /// Why a pairing that is over came to nothing; nil when its peer was verified. Ends one that is not over.
    package func end() -> PairingError? {
        cancel(now: .now)
        guard !isVerified else { return nil }
        do throws(PairingError) {
            _ = try receive([], now: .now)
            return nil
        } catch {
            return error
        }
    }
}

extension Verification.Method {
    /// How a pairing by `method` verifies.
    package init(_ method: PairingMethod) {
        switch method {
        case .compare: self = .comparedCode
        case .code: self = .typedCode
        }
    }
}
