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
        case failed
    }

    /// Names this pairing mode in `follow` and the other requests.
    package var ticket: Int
    /// Another one at each change.
    package var revision = 0
    package var phase = Phase.waiting
    /// The one-time code, `123-456-789`: in the answer to `open` only.
    package var code: String?
    package var peer: PairingPeerLine?
    package var comparison: CompareLine?
    package var paired: PairedLine?
    package var failure: PairingEndError?

    package init(ticket: Int) {
        self.ticket = ticket
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
