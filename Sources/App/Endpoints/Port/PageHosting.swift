package import Sharing

/// A page that guests are to see.
package struct GuestPage: Sendable {
    /// Different for each page of this process.
    package let number: Int
    /// The items that guests can fetch: repeatable, of known sizes.
    package let items: [any ItemSource]
    /// Whether guests can send something.
    package let takes: Bool
    /// Whether it is without encryption.
    package let isPlain: Bool
    /// Whether it is for one guest, until a transfer of that guest has ended.
    package let isOnce: Bool
    /// After this time no guest gets in; nil for no end.
    package let end: ContinuousClock.Instant?

    package init(
        number: Int, items: [any ItemSource] = [], takes: Bool = true, isPlain: Bool = false, isOnce: Bool = false,
        end: ContinuousClock.Instant? = nil
    ) {
        (self.number, self.items, self.takes) = (number, items, takes)
        (self.isPlain, self.isOnce, self.end) = (isPlain, isOnce, end)
    }
}

/// Where and how guests find a page.
package struct PageAddress: Sendable, Hashable {
    /// The addresses with the port, as they stand in a URL; the one that guests reach most probably comes first.
    package var authorities: [String]
    /// The path that opens the page: it has a secret, which stays the same for a page.
    package var path: String
    /// Six digits that open the page, too.
    package var pin: String?
    /// Of the certificate: 64 hexadecimal digits; nil without encryption.
    package var fingerprint: String?

    /// Whether no address leads to this machine from another one.
    package var isLocal: Bool { PageAddress.areLocal(authorities) }

    /// Whether all of these addresses with a port are of loopback.
    package static func areLocal(_ authorities: [String]) -> Bool {
        authorities.allSatisfy { $0.hasPrefix("127.") || $0.hasPrefix("[::1]") }
    }

    package init(authorities: [String], path: String, pin: String?, fingerprint: String?) {
        (self.authorities, self.path, self.pin, self.fingerprint) = (authorities, path, pin, fingerprint)
    }
}

/// A step of a guest, for displays.
package enum GuestStep: Sendable, Hashable {
    /// A guest has shown the secret or the PIN. The browser is foreign text.
    case entered(address: String?, browser: String)
    case wrongPIN(address: String?)
    /// The PIN has changed; nil if no PIN opens the page any more.
    case newPIN(String?)
    /// A download has ended.
    /// - Parameter isWhole: whether all its bytes were sent.
    case fetched(address: String?, name: String, isWhole: Bool)
}

/// The host's wishes about a page for guests, as an endpoint sees them.
package protocol PageHosting: Sendable {
    /// The page that is to be open now; nil for none.
    var page: GuestPage? { get }

    /// Waits until the page is as wanted, or the task is cancelled. Asks again when the page has changed, its time is over,
    /// and after each change of the settings.
    func wait(until wanted: @Sendable (GuestPage?) -> Bool) async

    /// The page can be opened by guests.
    func opened(_ page: GuestPage, at place: PageAddress)

    /// A guest has done something.
    func saw(_ step: GuestStep, on page: GuestPage)

    /// The one guest, for whom the page was, is through.
    func finished(_ page: GuestPage)

    /// The page is closed, and no transfer of a guest is under way.
    /// - Parameter fault: one line if it could not be opened, or broke; nil otherwise.
    func closed(_ page: GuestPage, fault: String?)
}
