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
    /// Lets one transfer in, whose sender has proved by a spoken code to be the one that the user means.
    case permit(transfer: String, peer: String)
    /// Lets it in no more, unless it has begun.
    case withdraw(transfer: String)
}

/// How pairing mode is to be opened.
package struct PairingOpening: Codable, Sendable, Equatable {
    package enum Method: String, Codable, Sendable {
        /// Both sides show the same, and people compare.
        case compare
        /// This side shows a code, and it is typed on the other.
        case code
        /// This side shows a spoken code and sends.
        case send
        /// This side shows a spoken code and receives.
        case receive
    }

    /// Machines that one spoken code can be for.
    package static let peopleLimit = 64

    package var method: Method
    /// How long; ten minutes at the most.
    package var seconds: Double
    /// The name for the contact here; nil for the name that the peer gives itself.
    package var name: String?
    /// How many words a spoken code has.
    package var words: Int?
    /// How many machines may prove to know a spoken code, one after the other.
    package var people: Int?
    /// How long each of them is a contact afterwards, if its user wants that too: seconds; nil for none.
    package var remembering: Double?

    package init(method: Method, seconds: Double, name: String?) {
        self.method = method
        self.seconds = seconds
        self.name = name
    }

    /// By a spoken code.
    package init(_ method: Method, words: Int, people: Int, remembering: Double?, seconds: Double) {
        (self.method, self.seconds) = (method, seconds)
        (self.words, self.people, self.remembering) = (words, people, remembering)
    }
}
