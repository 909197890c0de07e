/// A protocol for sharing items: its name and its abilities.
///
/// Each dialect's own module declares its value. Decisions ask for these abilities, never for the name.
package struct Dialect: Sendable {
    /// The word for it in files, documents and variables: 1 to 32 lower-case ASCII letters and digits.
    package let name: String
    /// Its name as people know it: one or two words.
    package let title: String
    /// Whether its peers prove that they hold a key. Without a proof, a peer is a stranger.
    package enum Proof: Sendable {
        case always
        /// Some programs prove a key, others cannot.
        case sometimes
        case never
    }

    package let proof: Proof
    /// Whether a sender learns of each item what became of it: the name in the Inbox, the digest, the handler's answer.
    package let givesReceipts: Bool
    /// Whether an interrupted transfer can be resumed, so that the parts of it are kept.
    package let resumes: Bool

    package init(name: String, title: String, proof: Proof, givesReceipts: Bool, resumes: Bool) {
        (self.name, self.title) = (name, title)
        (self.proof, self.givesReceipts, self.resumes) = (proof, givesReceipts, resumes)
    }

    /// Whether every peer proves a key.
    package var provesKeys: Bool { proof == .always }
}

/// Dialects of one name are one dialect.
extension Dialect: Hashable {
    package static func == (left: Dialect, right: Dialect) -> Bool { left.name == right.name }

    package func hash(into hasher: inout Hasher) { hasher.combine(name) }
}
