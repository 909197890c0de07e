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
    package var steps: [GuestLine] = []

    package static let maximumSteps = 100

    package init(ticket: Int, isPlain: Bool, takes: Bool, items: [String], isStanding: Bool) {
        (self.ticket, self.isPlain, self.takes) = (ticket, isPlain, takes)
        (self.items, self.isStanding) = (items, isStanding)
    }
}

/// A page that is to be opened.
package struct PageOpening: Codable, Sendable, Equatable {
    /// Absolute paths of the files and folders that guests can fetch.
    package var items: [String] = []
    /// How long it is open; nil for as long as the command follows it.
    package var seconds: Double?
    /// Whether guests can send something.
    package var takes = true
    /// Whether it is for one guest, until a transfer of that guest has ended.
    package var isOnce = false
    /// Whether it is without encryption.
    package var isPlain = false

    package init() {}
}

/// A page that guests can open, or its new address.
package struct PageLine: Line {
    package static let event = "page"

    /// Opens the page; nil if guests must type the PIN.
    package let url: String?
    /// The address without a secret.
    package let address: String
    /// Nil if no PIN opens the page any more.
    package let pin: String?
    /// Of the certificate: 64 hexadecimal digits; nil without encryption.
    package let fingerprint: String?
    package let plain: Bool
    /// Whether guests can send something.
    package let receives: Bool
    /// The names of the items that guests can fetch.
    package let itemNames: [String]
    /// Until its time is over; nil for no end.
    package let seconds: Int?

    /// - Parameter byPIN: whether the address carries no secret.
    /// - Returns: nil for a page without an address.
    package init?(_ page: PageProgress, byPIN: Bool) {
        guard let address = page.addresses.first else { return nil }
        (self.address, url) = (address, byPIN ? nil : address.dropLast() + page.path)
        (pin, fingerprint, plain, receives) = (page.pin, page.fingerprint, page.isPlain, page.takes)
        (itemNames, seconds) = (page.items, page.secondsLeft)
    }
}

extension PageProgress {
    /// Those that guests can open.
    package var addresses: [String] { authorities.map { "\(isPlain ? "http" : "https")://\($0)/" } }
}

/// An action of a guest.
package struct GuestLine: Line, Codable, Equatable {
    package enum Kind: String, Codable, Sendable {
        /// Has shown the secret or the PIN.
        case guest
        case wrongPin
        /// The PIN was guessed at too often, and has changed.
        case newPin
        /// A download has ended.
        case fetched
    }

    package static let event = Kind.guest.rawValue

    package var event: String { kind.rawValue }

    /// The guest's address; nil if unknown, and of `newPin`.
    package var address: String?
    /// Of `guest`: the browser, in its own words. Foreign text.
    package var browser: String?
    /// Of `fetched`: the name of the download, and whether all of it was sent.
    package var name: String?
    package var whole: Bool?
    /// Of `newPin`; nil if no PIN opens the page any more.
    package var pin: String?
    @Unsaid package var kind: Kind

    package init(_ kind: Kind, address: String? = nil) { (self.kind, self.address) = (kind, address) }
}

/// A page is closed.
package struct PageClosedLine: Line {
    package static let event = "pageClosed"

    package enum End: String, Encodable, Sendable {
        case time, guest, interrupted, receiver
    }

    package let end: End
    /// Whether the settings keep the page open.
    @Unsaid package var stays: Bool

    package init(_ end: End, stays: Bool = false) { (self.end, self.stays) = (end, stays) }
}
