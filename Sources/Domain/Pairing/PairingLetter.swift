package import Sharing

/// One message of a pairing, as a dialect carries it.
package struct PairingLetter: Sendable, Hashable {
    /// The message: JSON of at most `byteLimit` bytes.
    package var message: [UInt8]
    /// The sender's own name, fit to show; it decides nothing. Nil if the sender gives none.
    package var name: String?
    /// The transfer that a spoken code is for: beside the responder's proof, or the initiator's `ready`.
    package var transfer: TransferID?
    /// The port at which the initiator takes the transfer, beside its `ready`.
    package var port: UInt16?
    /// Beside `ready`: whether the user of this side wants the other one as a contact for a time.
    package var remembers = false

    package init(message: [UInt8], name: String? = nil) {
        self.message = message
        self.name = name
    }

    /// Maximum bytes of a message, including its name (Pairing, section 3).
    package static let byteLimit = 1_024

    /// After both proofs, from either side: the transfer can begin.
    /// - Parameter name: of the side that says it, which the other side may know now.
    package static func ready(_ role: PairingRole, name: String, remembers: Bool) -> PairingLetter {
        var letter = PairingLetter(message: PairingMessage.ready.encoded(from: role), name: name)
        letter.remembers = remembers
        return letter
    }

    /// Whether it says `ready`, from a side with this role.
    package func isReady(from sender: PairingRole) -> Bool {
        (try? PairingMessage(message, from: sender)) == .ready
    }
}
