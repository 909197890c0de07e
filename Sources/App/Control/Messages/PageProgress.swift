/// The standing of a page for guests.
package struct PageProgress: Codable, Sendable, Equatable {
    package enum Phase: String, Codable, Sendable {
        case opening
        case open
        /// The time is over, or the command has closed it: transfers that are under way end first.
        case closing
        case closed
    }

    package enum End: String, Codable, Sendable {
        /// Its time is over.
        case time
        /// The one guest is through.
        case guest
        /// The command has closed it, or was not heard of any more.
        case command
        /// The receiver could not open it, or ends.
        case receiver
    }

    /// An action of a guest.
    package struct Step: Codable, Sendable, Equatable {
        package enum Kind: String, Codable, Sendable {
            /// Has shown the secret or the PIN.
            case entered
            case wrongPIN
            /// The PIN was guessed at too often, and has changed.
            case newPIN
            /// A download has ended.
            case fetched
        }

        package var kind: Kind
        /// The guest's address; nil if unknown.
        package var address: String?
        /// Of `entered`: the browser, in its own words. Foreign text.
        package var browser: String?
        /// Of `fetched`: the name of the download, and whether all of it was sent.
        package var name: String?
        package var isWhole: Bool?
        /// Of `newPIN`; nil if no PIN opens the page any more.
        package var pin: String?

        package init(_ kind: Kind, address: String?) { (self.kind, self.address) = (kind, address) }
    }

    /// Names this page in `follow` and `close`.
    package var ticket: Int
    /// Another one at each change.
    package var revision = 0
    package var phase = Phase.opening
    package var end: End?
    /// Why it could not be opened: one line.
    package var fault: String?

    /// The addresses with the port, as they stand in a URL; the best one comes first.
    package var authorities: [String] = []
    /// The path that opens the page: it has a secret.
    package var path = ""
    /// Six digits that open the page, too; nil if no PIN does.
    package var pin: String?
    /// Of the certificate: 64 hexadecimal digits; nil without encryption.
    package var fingerprint: String?
    package var isPlain: Bool
    package var takes: Bool
    /// The names of the items.
    package var items: [String]
    /// Whether the settings keep it open.
    package var isStanding: Bool
    /// Until its time is over, rounded up; nil for no end.
    package var secondsLeft: Int?
    /// The newest steps after the revision that was seen, at most `maximumSteps`.
    package var steps: [Step] = []

    package static let maximumSteps = 100

    package init(ticket: Int, isPlain: Bool, takes: Bool, items: [String], isStanding: Bool) {
        (self.ticket, self.isPlain, self.takes) = (ticket, isPlain, takes)
        (self.items, self.isStanding) = (items, isStanding)
    }
}
