package import Lines

/// The standing of pairing mode.
package struct PairingProgress: Codable, Sendable, Equatable {
    package enum Phase: String, Codable, Sendable {
        /// No peer has come.
        case waiting
        /// A peer has come; there is nothing to compare, or nothing yet.
        case trying
        /// The user is to compare.
        case comparing
        /// The user said yes; the other side has not.
        case confirmed
        case paired
        /// All machines have come that the spoken code is for.
        case met
        case failed
    }

    /// Names this pairing mode in `follow` and the other requests.
    package var ticket: Int
    /// Another one at each change.
    package var revision = 0
    package var phase = Phase.waiting
    /// The one-time code, `123-456-789` or `7-pumpkin-sausage`: in the answer to `open` only.
    package var code: String?
    package var peer: PairingPeerLine?
    package var comparison: CompareLine?
    package var paired: PairedLine?
    /// The address from which the peer came.
    package var address: String?
    /// The beginning of the key that those see who ask for the code's nameplate: in the answer to `open` only.
    package var shownKey: String?
    /// The machines that have proved to know the spoken code, in their order.
    package var guests: [CodeGuest] = []
    package var failure: PairingEndError?

    package init(ticket: Int) {
        self.ticket = ticket
    }
}

/// A machine that has proved to know a spoken code: its transfer can begin.
package struct CodeGuest: Codable, Sendable, Equatable {
    package var peer: PairingPeerLine
    /// The transfer that this side or that machine sends.
    package var transfer: String
    /// The address from which it came, and, if it receives, the port at which it takes the transfer.
    package var address: String?
    package var port: Int?
    /// It is a contact now, because both users wanted that.
    package var paired: PairedLine?

    package init(_ peer: PairingPeerLine, transfer: String, address: String?, port: Int?, paired: PairedLine?) {
        (self.peer, self.transfer, self.paired) = (peer, transfer, paired)
        (self.address, self.port) = (address, port)
    }
}

/// Why a pairing failed.
package struct PairingEndError: Codable, Sendable, Equatable, Error {
    package enum Code: String, Codable, Sendable {
        /// A user said no, the codes differ, or the other side does not want to begin.
        case declined
        /// No peer came, or the user there did not answer, in time.
        case noAnswer
        /// The connection broke off.
        case lost
        /// It was given up on this side.
        case cancelled
        /// The contact could not be stored, or something broke.
        case failed
    }

    package var code: Code
    /// One line.
    package var reason: String

    package init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }
}
