package import Sharing

/// The origin of the private keys.
package enum VaultMode: String, Sendable, Codable, CaseIterable {
    /// A file that a passphrase opens.
    case passphrase
    /// The keyring of the desktop.
    case keyring
    /// A credential of the service manager, which opens the class until first unlock only.
    case credential
}

/// Whether protected items can be received and opened now.
package struct VaultState: Sendable, Hashable {
    package var isSetUp: Bool
    /// Nothing can ever be opened here.
    package var isDropBox: Bool
    /// The keys to all protected items are in memory.
    package var isUnlocked: Bool
    /// A lock has begun: those who read may end, and nothing new is opened.
    package var isLocking: Bool
    /// Items of the class until first unlock can be opened.
    package var wasUnlocked: Bool
    /// The time of the last change: an unlock, a lock, or the start.
    package var since: WallTime
    /// Where the private keys come from; nil without any.
    package var mode: VaultMode?
    /// Why it is locked, or locks; nil while unlocked, and before the first lock.
    package var cause: LockCause?

    package init(
        isSetUp: Bool, isDropBox: Bool, isUnlocked: Bool, isLocking: Bool = false, wasUnlocked: Bool, since: WallTime,
        mode: VaultMode?, cause: LockCause? = nil
    ) {
        (self.isSetUp, self.isDropBox) = (isSetUp, isDropBox)
        (self.isUnlocked, self.isLocking, self.wasUnlocked) = (isUnlocked, isLocking, wasUnlocked)
        (self.since, self.mode, self.cause) = (since, mode, cause)
    }
}
