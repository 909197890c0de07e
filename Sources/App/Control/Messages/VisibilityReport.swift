/// The visibility of a running receiver.
package struct VisibilityReport: Codable, Sendable, Equatable {
    /// `Visibility`.
    package var visibility: String
    /// The stored visibility, if the receiver was started with one that overrides it.
    package var stored: String?
    /// When a temporary visibility ends, in milliseconds since 1970, and the next visibility.
    package var until: Int64?
    package var then: String?

    package init(visibility: String, stored: String?, until: Int64?, then: String?) {
        (self.visibility, self.stored, self.until, self.then) = (visibility, stored, until, then)
    }
}
