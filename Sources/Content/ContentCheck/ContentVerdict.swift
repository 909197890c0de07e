package import UniformTypes

/// The result of the comparison of some content with its declared type.
package struct ContentVerdict: Sendable, Hashable, Codable {
    /// The raw values are written into the journal and receipts: they do not change.
    package enum Outcome: String, Sendable, Hashable, Codable, CaseIterable {
        /// The content is of the declared type, or nothing contradicts it.
        case consistent

        /// The content is not recognised, although content of the declared type would be. Handlers that claim the
        /// declared type may get it; it must not be opened automatically.
        case unverified

        /// The content is of another, harmless type. Handlers that claim `contentType` get it.
        case mislabelled

        /// The content is of another kind, or it is a program. No handler may be called.
        case lying
    }

    package let outcome: Outcome

    /// The type of the content; nil if it is not known. Used for routing if `outcome` is `mislabelled` and it is not
    /// nil.
    package let contentType: UniformType?

    /// One line for people, without control characters. It has no text from the peer but the identifier of the declared
    /// type.
    package let explanation: String

    package init(_ outcome: Outcome, _ contentType: UniformType?, _ explanation: String) {
        self.outcome = outcome
        self.contentType = contentType
        self.explanation = explanation
    }
}
