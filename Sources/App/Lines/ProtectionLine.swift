/// A lock has begun or ended, or an unlock: the state of the receiver's keys.
package struct LockLine: Line, Codable, Equatable {
    package static let event = "locked"

    package var event: String { outcome?.rawValue ?? (locking == true ? "locking" : unlocked ? "unlocked" : "locked") }

    /// The result of a verb. It stands, even if the state has changed since.
    package enum Outcome: String, Codable, Sendable { case locked, unlocked }

    /// The class of the settings: `ProtectionClass`.
    package var protection: String
    /// All protected items can be opened.
    package var unlocked: Bool
    /// True while a lock has begun that has not ended: nothing new is opened, and the key is in memory until those who
    /// read have ended. Otherwise absent.
    package var locking: Bool?
    /// Whether items of the class until first unlock can be opened.
    package var unlockedOnce: Bool
    /// The time of the last lock or unlock, or of the start; absent without a receiver.
    package var protectionSince: LineTime?
    /// Items that wait for the unlock; absent without a receiver.
    package var waitingItems: Int?
    /// Where the private keys come from: `VaultMode`; absent without any.
    package var keysFrom: String?
    /// Why the public keys cannot be used.
    package var protectionFault: String?
    /// Why it is locked: `LockCause`; absent while unlocked, and before the first lock.
    package var reason: String?
    @Unsaid package var isSetUp = true
    @Unsaid package var isDropBox = false
    @Unsaid package var outcome: Outcome?

    package init(protection: String, unlocked: Bool = false, unlockedOnce: Bool = false) {
        (self.protection, self.unlocked, self.unlockedOnce) = (protection, unlocked, unlockedOnce)
    }
}

/// How arrivals are sealed, and whether they can be read now. The private keys are in no line.
package struct ProtectionLine: Line {
    package static let event = "protection"

    private enum CodingKeys: String, CodingKey {
        case setUp, dropBox, recoveryRecipients, recipientsPath, identityPath, warnings, daemon
    }

    /// Whether there are keys.
    package let setUp: Bool
    package var dropBox = false
    /// The public keys of others that open everything, too.
    package var recoveryRecipients: [String] = []
    package let recipientsPath: String
    /// The file of the private keys, if they are in one.
    package var identityPath: String?
    package var warnings: [String]?
    /// The fields of the lock are among those of this line.
    package var lock: LockLine
    /// Whether a receiver runs.
    package let daemon: Bool
    /// The path of the private keys that a passphrase opens; nil for others. Only for the words.
    package var passphraseFile: String?

    package init(setUp: Bool, recipientsPath: String, lock: LockLine, daemon: Bool) {
        (self.setUp, self.recipientsPath, self.lock, self.daemon) = (setUp, recipientsPath, lock, daemon)
    }

    package func encode(to encoder: any Encoder) throws {
        try lock.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(setUp, forKey: .setUp)
        try container.encode(dropBox, forKey: .dropBox)
        try container.encode(recoveryRecipients, forKey: .recoveryRecipients)
        try container.encode(recipientsPath, forKey: .recipientsPath)
        try container.encodeIfPresent(identityPath, forKey: .identityPath)
        try container.encodeIfPresent(warnings, forKey: .warnings)
        try container.encode(daemon, forKey: .daemon)
    }
}

/// Where the keys are, and how a sealed item is read without Waft.
package struct ProtectionExportLine: Line {
    package static let event = "protectionExport"

    package let recipientsPath: String
    /// Absent for a drop box, and for keys in a keyring.
    package let identityPath: String?
    /// A command for a shell; `FILE` stands for the item. Absent for a drop box.
    package let openCommand: String?

    package init(recipientsPath: String, identityPath: String? = nil, openCommand: String? = nil) {
        (self.recipientsPath, self.identityPath, self.openCommand) = (recipientsPath, identityPath, openCommand)
    }
}
