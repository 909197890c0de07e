/// Lines of `waft web`.
extension EventLine {
    struct OpenedPage: Encodable {
        /// Opens the page; nil if guests must type the PIN.
        var url: String?
        /// The address without a secret.
        var address: String
        /// Nil if no PIN opens the page any more.
        var pin: String?
        /// Of the certificate: 64 hexadecimal digits; nil without encryption.
        var fingerprint: String?
        var plain: Bool
        /// Whether guests can send something.
        var receives: Bool
        /// The names of the items that guests can fetch.
        var itemNames: [String]
        /// Until its time is over; nil for no end.
        var seconds: Int?
    }

    struct Guest: Encodable {
        var address: String?
        /// Foreign text.
        var browser: String?
    }

    struct NewPIN: Encodable {
        /// Nil if no PIN opens the page any more.
        var pin: String?
    }

    struct FetchedItem: Encodable {
        var address: String?
        var name: String
        /// Whether all of it was sent.
        var whole: Bool
    }

    struct ClosedPage: Encodable {
        /// Why.
        var end: PageRendering.End
    }
}
