package import Sharing

/// The facts of the page for guests.
package enum WebDialect {
    /// Where a page is served, if the user sets no other port and this one is free.
    package static let defaultPort: UInt16 = 7443
    /// The sources that the page may use.
    static let policy =
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' blob:; connect-src 'self'; form-action 'self'"
    /// The name of the cookie that holds a guest's token.
    static let cookie = "waft-guest"
    /// The name of a guest who types none.
    static let guestName = "a guest"
}

/// Every bound on the memory, counts and waits that a guest may cause.
package enum WebLimits {
    /// Bytes of a question.
    static let questionBytes = 4 << 20
    /// Files, texts and links in one question.
    static let files = 20_000
    /// Bytes of a text or a link in a question, and of a field of a form.
    static let textBytes = Limits.messageBytes
    /// Bytes of the form of the PIN.
    static let pinFormBytes = 1 << 10
    /// Wrong PINs from one address before it must wait.
    package static let wrongPINs = 5
    /// Guests who are known at the same time: the oldest are forgotten.
    static let guests = 256
    /// Offers of a session that are not over, and those whose end can still be asked for.
    static let openOffers = 4
    static let endedOffers = 16
    /// Bytes that are read and dropped of a piece that came at the wrong place, so that the connection can go on.
    static let unwantedPiece = 8 << 20
    /// How long a question about an offer is held.
    static let longestPoll: Duration = .seconds(25)
    /// Files, folders and links in one ZIP.
    static let zipEntries = 200_000
    /// Items of a session.
    package static let sharedItems = 1_000
}

extension Dialect {
    /// A browser: it proves no key. Its transfers go on within their session, but nothing of them is kept for later.
    package static let web = Dialect(
        name: "web", title: "a browser", proof: .never, givesReceipts: false, resumes: false, isByInvitation: true)
}
