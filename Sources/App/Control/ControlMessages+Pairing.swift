// Pairing over the control socket. A command opens pairing mode, follows its standing, and answers for its user.

/// A command's request about pairing.
package enum PairingRequest: Codable, Sendable, Equatable {
    /// Opens pairing mode.
    case open(PairingOpening)
    /// Wants the standing, as soon as its revision is another than `seen`, or after a few seconds. A command that does
    /// not ask again for half a minute is taken to be gone, and pairing mode ends with it.
    case follow(ticket: Int, seen: Int)
    /// Whether both sides show the same.
    case answer(ticket: Int, isSame: Bool)
    /// Ends pairing mode, and a pairing that is under way.
    case close(ticket: Int)
}

/// How pairing mode is to be opened.
package struct PairingOpening: Codable, Sendable, Equatable {
    package enum Method: String, Codable, Sendable {
        /// Both sides show the same, and people compare.
        case compare
        /// This side shows a code, and it is typed on the other.
        case code
    }

    package var method: Method
    /// How long; ten minutes at the most.
    package var seconds: Double
    /// The name for the contact here; nil for the name that the peer gives itself.
    package var name: String?

    package init(method: Method, seconds: Double, name: String?) {
        self.method = method
        self.seconds = seconds
        self.name = name
    }
}

/// The standing of pairing mode.
package struct PairingStanding: Codable, Sendable, Equatable {
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

    /// The peer that wants to pair.
    package struct Peer: Codable, Sendable, Equatable {
        /// The whole id.
        package var id: String
        /// Its short form.
        package var key: String
        /// The name that the peer gives itself, or the name of its contact.
        package var name: String
        package var isContact: Bool
        /// A warning if the peer gives itself the name of a contact that has another key.
        package var warning: String?

        package init(id: String, key: String, name: String, isContact: Bool, warning: String?) {
            self.id = id
            self.key = key
            self.name = name
            self.isContact = isContact
            self.warning = warning
        }
    }

    /// Names this pairing mode in `follow` and the other requests.
    package var ticket: Int
    /// Another one at each change.
    package var revision = 0
    package var phase = Phase.waiting
    /// The one-time code, `123-456-789`: in the answer to `open` only.
    package var code: String?
    package var peer: Peer?
    /// Digits and words to compare.
    package var digits: String?
    package var words: [String]?
    /// The name of the contact here, once there is one.
    package var contact: String?
    package var failure: PairingEnd?

    package init(ticket: Int) {
        self.ticket = ticket
    }
}

/// Why a pairing failed.
package struct PairingEnd: Codable, Sendable, Equatable, Error {
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
