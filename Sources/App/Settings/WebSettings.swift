import WebDialect

/// The settings for the page for guests.
package struct WebSettings: Sendable, Equatable {
    /// Whether a receiver has a page open all the time.
    package var isEnabled = false
    package var port = Int(WebDialect.defaultPort)
    /// Whether that page is without encryption.
    package var isPlain = false
    /// Absolute paths of a certificate of the user's own, with those that it rests on, and of its key (PEM); nil for one
    /// that Waft makes. Without a path of the key, the key is in the first file.
    package var certificate: String?
    package var key: String?

    package init() {}
}
