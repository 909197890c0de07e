package import WebDialect

/// A page that guests are to see.
package struct GuestPage: Sendable {
    /// Different for each page of this process.
    package let number: Int
    package let session: WebSession

    package init(number: Int, session: WebSession) {
        (self.number, self.session) = (number, session)
    }
}

/// Where guests find a page.
package struct PagePlace: Sendable, Hashable {
    package var port: Int
    /// The addresses with the port, as they stand in a URL; the one that guests reach most probably comes first.
    package var authorities: [String]
    /// Of the certificate: 64 hexadecimal digits; nil without encryption.
    package var fingerprint: String?

    package init(port: Int, authorities: [String], fingerprint: String?) {
        (self.port, self.authorities, self.fingerprint) = (port, authorities, fingerprint)
    }
}

/// The host's wishes about a page for guests, as an endpoint sees them.
package protocol PageHosting: Sendable {
    /// The page that is to be open now; nil for none.
    var page: GuestPage? { get }

    /// Waits until the page is as wanted, or the task is cancelled. Asks again when the page has changed, its time is over,
    /// and after each change of the settings.
    func wait(until wanted: @Sendable (GuestPage?) -> Bool) async

    /// The page can be opened by guests.
    func opened(_ page: GuestPage, at place: PagePlace)

    /// A step of a guest.
    func saw(_ event: WebEvent, on page: GuestPage)

    /// The one guest, for whom the page was, is through.
    func finished(_ page: GuestPage)

    /// The page is closed, and no transfer of a guest is under way.
    /// - Parameter fault: one line if it could not be opened, or broke; nil otherwise.
    func closed(_ page: GuestPage, fault: String?)
}
