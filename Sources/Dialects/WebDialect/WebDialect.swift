package import Sharing

/// The facts of the page for guests.
package enum WebDialect {
    /// Where a page is served, if the user sets no other port and this one is free.
    package static let defaultPort: UInt16 = 7443
    /// The sources that the page may use.
    static let policy =
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' blob:; connect-src 'self'; form-action 'self'"
    /// The name of the cookie that holds a guest's token. A name with `__Host-` is kept to this host, and to TLS.
    /// - Parameter isPlain: whether the connections are not encrypted.
    static func cookie(isPlain: Bool) -> String { isPlain ? "waft-guest" : "__Host-waft-guest" }
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
    /// Connections of an address before their first request with the secret. A browser opens six.
    package static let connectionsPerAddress = 8
    /// Guests who are known at the same time; see `Guests`.
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
    /// How long a plan of a ZIP is given to those who ask for the same one.
    static let planLife: Duration = .seconds(10)
    /// Bytes that all downloads of a session hold together, and the plans of their ZIPs.
    static let downloadBytes = 96 << 20
    static let planBytes = 64 << 20
    /// Bytes that one of them holds: pieces that are read, encrypted and not yet taken.
    static let bytesPerDownload = 1 << 20
    /// Downloads of one address that are under way.
    static let downloadsPerAddress = 16
    /// Seconds after which a download without room is worth another try.
    static let downloadPause = 10
    /// Items of a session.
    package static let sharedItems = 1_000
}

extension Dialect {
    /// A browser: it proves no key. Its transfers go on within their session, but nothing of them is kept for later.
    package static let web = Dialect(
        name: "web", title: "a browser", proof: .never, givesReceipts: false, resumes: false, isByInvitation: true)
}
