package import UniformTypes

/// What holding some content against the type that it is said to have has come to.
package struct ContentVerdict: Sendable, Hashable, Codable {
    /// The raw values are written into the journal and receipts: they do not change.
    package enum Outcome: String, Sendable, Hashable, Codable, CaseIterable {
        /// The content is what it is said to be, or nothing speaks against it.
        case consistent

        /// The content is not recognised, where that of the declared type would be. It may go to those who claim the declared
        /// type, and is not to be opened by itself.
        case unverified

        /// The content is of another type, harmlessly. It goes to those who claim `contentType`.
        case mislabelled

        /// The content is of another kind, or runs. No handler is to be called.
        case lying
    }

    package let outcome: Outcome

    /// What the content is; nil where that is not known. For routing where `outcome` is `mislabelled`, when it is not
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
