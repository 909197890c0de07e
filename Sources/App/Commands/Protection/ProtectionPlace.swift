import Age
import Control
import Desktop
import Lines
import Protection
import Receiving
import Settings
import Sharing

/// The keys of this user, and the receiver that uses them.
struct ProtectionPlace: Sendable {
    let folder: ProtectionFolder
    /// The class of the settings.
    let protection: ProtectionClass

    init(folder: ProtectionFolder, protection: ProtectionClass) {
        (self.folder, self.protection) = (folder, protection)
    }

    /// - Throws: `CommandError` `usage` if the home cannot be used.
    init() throws(CommandError) {
        let context = try CommandContext.forgiving
        folder = ProtectionFolder(path: context.home.protection)
        protection = context.settings.protection
    }

    /// The keyring of the desktop, which may ask the person.
    static var keyring: KeyringAccess { KeyringAccess(KeyringKeeper(.asking)) }

    /// The public keys; nil if data protection is not set up.
    func recipients() throws(CommandError) -> ProtectionRecipients? {
        try CommandError.catching { () throws(VaultError) in try folder.recipients() }
    }

    /// The public keys.
    ///
    /// - Throws: `CommandError` `usage` if data protection is not set up.
    func existingRecipients() throws(CommandError) -> ProtectionRecipients {
        guard let recipients = try recipients() else { throw .notSetUp }
        return recipients
    }

    /// The keeper of the private keys.
    ///
    /// - Throws: `CommandError` `usage` if data protection is not set up, `locked` for a drop box.
    func keeper() throws(CommandError) -> VaultMode {
        guard let own = try existingRecipients().own else { throw .isDropBox }
        return own.keeper
    }

    // MARK: The receiver

    /// How the running receiver stands; nil if none runs.
    func report() async throws(CommandError) -> ProtectionReport? {
        guard let reply = try await Daemon.askIfRunning(.protection(.status)) else { return nil }
        return try Self.report(in: reply)
    }

    /// Gives the private keys to the running receiver.
    func unlock(_ identities: VaultIdentities) async throws(CommandError) -> ProtectionReport {
        let lines = identities.lines.map { SecretText($0) }
        // The receiver waits for the end of a lock that has begun, and tells the handlers, before it answers.
        return try Self.report(in: try await Daemon.ask(.protection(.unlock(identities: lines)), timeout: .seconds(30)))
    }

    /// Tells the running receiver of new keys; it keeps them if it was unlocked, or if it is to be.
    ///
    /// - Returns: nil if none runs.
    func tell(_ identities: VaultIdentities?, unlocks: Bool) async throws(CommandError) -> ProtectionReport? {
        guard let before = try await report() else { return nil }
        if let identities, unlocks || before.isUnlocked { return try await unlock(identities) }
        if let identities, before.wasUnlocked { return try await unlock(identities.only(.sinceFirstUnlock)) }
        return try Self.report(in: try await Daemon.ask(.protection(.reload)))
    }

    static func report(in reply: ControlReply) throws(CommandError) -> ProtectionReport {
        switch reply {
        case .protection(let report): return report
        case .locked(let reason): throw .locked(reason)
        case .refused(let reason): throw CommandError(.unexpected, TerminalText.escaped(reason, limit: 1_000))
        default: throw CommandError(.unexpected, "the receiver gave no answer about data protection")
        }
    }
}
