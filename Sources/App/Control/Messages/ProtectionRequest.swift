import Secrets

/// A request of the command line about data protection.
package enum ProtectionRequest: Codable, Sendable, Equatable {
    case status
    /// Take private keys into memory: the lines of an identity file (`VaultIdentities.lines`).
    case unlock(identities: [SecretText])
    /// Wipe the key of the stricter classes, or all.
    case lock(all: Bool)
    /// The key of a sealed file, of which this is the header of age, in base64.
    case fileKey(header: String)
    /// The public keys have changed: read them again.
    case reload
    /// Seal an item of the Inbox as this `ProtectionClass`; with `now` without waiting for a handler that reads it.
    case reseal(arrival: Int64, protection: String, now: Bool)

    /// Whether it carries a private key.
    var isSecret: Bool {
        if case .unlock = self { return true }
        return false
    }
}
