package import Sharing

/// One message of a pairing, as a dialect carries it.
package struct PairingLetter: Sendable, Hashable {
    /// The message: JSON of at most `byteLimit` bytes.
    package var message: [UInt8]
    /// The sender's own name, fit to show; it decides nothing. Nil if the sender gives none.
    package var name: String?
    /// The transfer that a spoken code is for; beside the proof of the side that sends it.
    package var transfer: TransferID?
    /// The port at which the side that receives takes the transfer, beside `ready`.
    package var port: UInt16?

    package init(message: [UInt8], name: String? = nil) {
        self.message = message
        self.name = name
    }

    /// Maximum bytes of a message, including its name (Pairing, section 3).
    package static let byteLimit = 1_024

    /// After both proofs: the initiator takes the transfer at this port.
    /// - Parameter name: of the initiator, which the responder may know now.
    package static func ready(at port: UInt16, name: String) -> PairingLetter {
        var letter = PairingLetter(message: PairingMessage.ready.encoded(from: .initiator), name: name)
        letter.port = port
        return letter
    }

    /// The answer: the responder begins the transfer.
    package static let begins = PairingLetter(message: PairingMessage.ready.encoded(from: .responder))

    /// Whether it says `ready`, from a side with this role.
    package func isReady(from sender: PairingRole) -> Bool {
        (try? PairingMessage(message, from: sender)) == .ready
    }
}
