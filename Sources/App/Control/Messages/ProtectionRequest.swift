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

/// Whether protected items can be received and opened now.
package struct ProtectionReport: Codable, Sendable, Equatable {
    /// The class of the settings: `ProtectionClass`.
    package var protection: String
    package var isSetUp: Bool
    package var isDropBox: Bool
    /// All protected items can be opened.
    package var isUnlocked: Bool
    /// A lock has begun: nothing new is opened, and the key is in memory until those who read have ended. Nil from a
    /// receiver that is older than the command line.
    package var isLocking: Bool?
    /// Items of the class until first unlock can be opened.
    package var wasUnlocked: Bool
    /// The last change: milliseconds since 1970.
    package var since: Int64
    /// Where the private keys come from: `VaultMode`.
    package var mode: String?
    /// Items that wait for the unlock.
    package var waitingItems: Int
    /// Why the public keys cannot be used.
    package var fault: String?
    /// Why it is locked: `LockCause`; nil while unlocked, and before the first lock.
    package var reason: String?

    package init(
        protection: String, isSetUp: Bool, isDropBox: Bool, isUnlocked: Bool, wasUnlocked: Bool, since: Int64,
        mode: String? = nil, waitingItems: Int = 0, fault: String? = nil, reason: String? = nil,
        isLocking: Bool = false
    ) {
        (self.protection, self.isSetUp, self.isDropBox) = (protection, isSetUp, isDropBox)
        (self.isUnlocked, self.isLocking) = (isUnlocked, isLocking)
        (self.wasUnlocked, self.since) = (wasUnlocked, since)
        (self.mode, self.waitingItems, self.fault, self.reason) = (mode, waitingItems, fault, reason)
    }
}
