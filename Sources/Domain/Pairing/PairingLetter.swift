/// One message of a pairing, as a dialect carries it.
package struct PairingLetter: Sendable, Hashable {
    /// The message: JSON of at most `byteLimit` bytes.
    package var message: [UInt8]
    /// The sender's own name, fit to show; it decides nothing. Nil if the sender gives none.
    package var name: String?

    package init(message: [UInt8], name: String? = nil) {
        self.message = message
        self.name = name
    }

    /// Maximum bytes of a message, including its name (Pairing, section 3).
    package static let byteLimit = 1_024
}
