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
    /// Whether peers come only where the user has invited them: a visibility that hides this machine does not bar them.
    package let isByInvitation: Bool

    package init(
        name: String, title: String, proof: Proof, givesReceipts: Bool, resumes: Bool, isByInvitation: Bool = false
    ) {
        (self.name, self.title, self.proof) = (name, title, proof)
        (self.givesReceipts, self.resumes, self.isByInvitation) = (givesReceipts, resumes, isByInvitation)
    }

    /// Whether every peer proves a key.
    package var provesKeys: Bool { proof == .always }

    /// Whether a peer can be the same one on another connection. AirDrop's peers have a new id on each.
    package var knowsAgain: Bool { proof != .never || isByInvitation }
}

/// Dialects of one name are one dialect.
extension Dialect: Hashable {
    package static func == (left: Dialect, right: Dialect) -> Bool { left.name == right.name }

    package func hash(into hasher: inout Hasher) { hasher.combine(name) }
}
