import SecureTransport

/// Why a peer did not answer at its addresses.
package struct MeetingError: Error, Sendable, CustomStringConvertible {
    package enum Kind: Sendable {
        /// The name of the host has no address.
        case unknownName
        /// There is no route to the address.
        case unreachable
        /// Nothing answers: the machine is off, or a filter drops the packets.
        case noAnswer
        /// The machine answers that no program listens on the port.
        case refused
        /// A program answers that is not Waft.
        case otherProgram
        /// A peer with another key answers.
        case otherKey
    }

    package let kind: Kind
    /// One line.
    package let description: String

    package init(_ kind: Kind, _ description: String) {
        (self.kind, self.description) = (kind, description)
    }

    init(_ error: DialError) {
        let kind: Kind =
            switch error.kind {
            case .unknownName: .unknownName
            case .unreachable, .failed: .unreachable
            case .noAnswer: .noAnswer
            case .refused: .refused
            case .closed, .notTLS, .notWaft: .otherProgram
            case .wrongKey: .otherKey
            }
        self.init(kind, error.description)
    }
}
