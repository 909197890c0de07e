import Age
import Control
import Desktop
package import Lines
import Protection
import Receiving
package import Secrets
import Settings
import Sharing
import SystemCalls

extension Waft {
    /// Data protection: what arrives is sealed on the disk.
    package var protection: DataProtection { DataProtection(self) }
}

/// The keys of this user, and the receiver that uses them. A passphrase is a value that the face has asked for.
package struct DataProtection: Sendable {
    /// The keeper of the private keys.
    package enum Keeper: Sendable { case passphrase, keyring }

    private let waft: Waft
    private let folder: ProtectionFolder
    private let keyring: KeyringAccess

    /// - Parameter keyring: of the desktop, which may ask the person.
    init(_ waft: Waft, keyring: any IdentityKeeper = KeyringKeeper(.asking)) {
        (self.waft, self.keyring) = (waft, KeyringAccess(keeper: keyring))
        folder = ProtectionFolder(path: waft.home.protection)
    }

    // MARK: Standing

    /// - Throws: `WaftError`.
    package func status() async throws(WaftError) -> ProtectionLine {
        let recipients = try recipients()
        return line(recipients, try await lockIfRunning())
    }

    /// - Throws: `WaftError` `usage` if data protection is not set up.
    package func checkIsSetUp() throws(WaftError) { _ = try existingRecipients() }

    /// - Throws: `WaftError`: `usage` if data protection is not set up, `locked` for a drop box.
    package func keeper() throws(WaftError) -> Keeper {
        guard let own = try existingRecipients().own else { throw .isDropBox }
        return own.keeper == .keyring ? .keyring : .passphrase
    }

    /// - Throws: `WaftError`: as `keeper`; `usage` if the keys are in the keyring.
    package func checkHasPassphrase() throws(WaftError) {
        guard try keeper() == .passphrase else {
            throw WaftError(
                .usage, "the private keys are in the keyring, and have no passphrase of their own",
                hint: "to make new keys: waft protection rotate")
        }
    }

    /// - Throws: as `checkIsSetUp`.
    package func export() throws(WaftError) -> ProtectionExportLine {
        let (path, identityPath) = (folder.recipientsPath, folder.identityPath)
        switch try existingRecipients().own?.keeper {
        case .passphrase:
            return ProtectionExportLine(
                recipientsPath: path, identityPath: identityPath,
                openCommand: "age -d -i \(ShellWord.quoted(identityPath)) FILE.age > FILE")
        case .keyring:
            return ProtectionExportLine(
                recipientsPath: path,
                openCommand: "secret-tool lookup xdg:schema org.waft.Protection | age -d -i - FILE.age > FILE")
        case .credential, nil: return ProtectionExportLine(recipientsPath: path)
        }
    }

    // MARK: Keys

    /// The private keys, from their keeper.
    package struct PrivateKeys: Sendable {
        let identities: VaultIdentities
    }

    /// Why a passphrase is too short for new keys: one line; nil if it is not.
    package static func fault(ofNew passphrase: SecretBytes) -> String? {
        let (least, count) = (ProtectionFolder.passphraseCharacters, ProtectionFolder.characters(of: passphrase))
        return count < least ? "a passphrase has at least \(least) characters, and this one has \(count)" : nil
    }

    /// A warning about a new passphrase that is rather short: one line; nil for a good one.
    package static func warning(ofNew passphrase: SecretBytes) -> String? {
        let (good, count) = (ProtectionFolder.goodPassphraseCharacters, ProtectionFolder.characters(of: passphrase))
        guard count < good else { return nil }
        return
            "a passphrase of \(count) characters can be guessed by whoever has the disk; \(good) or more are better, "
            + "such as five words"
    }

    /// Public keys that a user gives.
    package struct GivenKeys: Sendable {
        /// Those of a drop box; none for another set-up.
        fileprivate let dropBox: [AgeRecipient]
        fileprivate let recovery: [AgeRecipient]
    }

    /// The place of new private keys.
    package enum NewKeeper: Sendable {
        case passphrase(SecretBytes)
        case keyring
        /// They are elsewhere: this machine is a drop box.
        case elsewhere
    }

    /// Checks that keys can be made.
    /// - Throws: `WaftError` `usage` for a key that cannot be used, too many, or if there are keys already.
    package func given(dropBox: [String], recovery: [String]) throws(WaftError) -> GivenKeys {
        try WaftError.catching { () throws(VaultError) in
            let keys = GivenKeys(dropBox: try Self.keys(dropBox), recovery: try Self.keys(recovery))
            guard keys.dropBox.count + keys.recovery.count <= ProtectionRecipients.maximumOthers else {
                throw VaultError(.unfit, "at most \(ProtectionRecipients.maximumOthers) keys can be given")
            }
            try folder.checkIsEmpty()
            return keys
        }
    }

    private static func keys(_ texts: [String]) throws(VaultError) -> [AgeRecipient] {
        var keys: [AgeRecipient] = []
        for text in texts { keys.append(try ProtectionRecipients.read(text)) }
        return keys
    }

    /// Makes the keys, and unlocks the running receiver with them. The class of the settings stays as it is.
    /// - Throws: `WaftError`: `usage` if there are keys already or no keyring, `unexpected` if the disk fails.
    package func setUp(_ given: GivenKeys, keeper: NewKeeper) async throws(WaftError) {
        var identities: VaultIdentities?
        switch keeper {
        case .elsewhere:
            try WaftError.catching { () throws(VaultError) in
                try folder.setUp(dropBox: given.dropBox + given.recovery)
            }
        case .keyring:
            try await keyring.checkIsEmpty()
            let new = try WaftError.catching { () throws(VaultError) in
                try VaultIdentities.generate(recovery: given.recovery)
            }
            try await keyring.store(new)
            try WaftError.catching { () throws(VaultError) in try folder.setUp(keeping: new, by: .keyring) }
            identities = new
        case .passphrase(let passphrase):
            identities = try WaftError.catching { () throws(VaultError) in
                try folder.setUp(passphrase: passphrase, recovery: given.recovery)
            }
        }
        _ = try await tell(identities, unlocks: true)
    }

    /// - Throws: `WaftError`: `locked` for a wrong passphrase, `usage` for a new one that is too short.
    package func changePassphrase(from old: SecretBytes, to new: SecretBytes) async throws(WaftError) -> ProtectionLine
    {
        try WaftError.catching { () throws(VaultError) in try folder.changePassphrase(from: old, to: new) }
        // The change is done, whether the receiver answers or not.
        return line(try recipients(), (try? await lockIfRunning()) ?? nil)
    }

    /// Makes new keys for what arrives from now on.
    /// - Parameter passphrase: nil if the keys are in the keyring.
    /// - Throws: `WaftError`: as `keeper`; `locked` for a wrong passphrase or a keyring that cannot be read.
    package func rotate(passphrase: SecretBytes?) async throws(WaftError) -> ProtectionLine {
        let identities: VaultIdentities
        if let passphrase {
            identities = try WaftError.catching { () throws(VaultError) in try folder.rotate(passphrase: passphrase) }
        } else {
            let old = try await keyring.fetch()
            let new = try WaftError.catching { () throws(VaultError) in
                try folder.check(old)
                return try old.rotated()
            }
            try await keyring.store(new)
            try WaftError.catching { () throws(VaultError) in try folder.restore(new, keeper: .keyring) }
            identities = new
        }
        let lock = try await tell(identities, unlocks: false)
        return line(try recipients(), lock)
    }

    /// The private keys that a passphrase opens.
    /// - Returns: the failure is that of a wrong passphrase.
    /// - Throws: `WaftError` for any other reason.
    package func keys(passphrase: SecretBytes) throws(WaftError) -> Result<PrivateKeys, WaftError> {
        do throws(VaultError) {
            return .success(PrivateKeys(identities: try folder.identities(passphrase: passphrase)))
        } catch {
            guard error.code == .wrongPassphrase else { throw WaftError(error) }
            return .failure(WaftError(error))
        }
    }

    /// - Throws: `WaftError` `locked` if the keyring has no keys, is locked, or cannot be asked.
    package func keysOfKeyring() async throws(WaftError) -> PrivateKeys {
        PrivateKeys(identities: try await keyring.fetch())
    }

    /// The place of the private keys, if nothing is known but the files.
    package var likelyKeeper: Keeper { folder.hasIdentities ? .passphrase : .keyring }

    /// Puts the public keys of the private ones back, and unlocks the running receiver, if there is one.
    /// - Throws: `WaftError`.
    package func restore(_ keys: PrivateKeys, of keeper: Keeper) async throws(WaftError) -> ProtectionLine {
        try WaftError.catching { () throws(VaultError) in
            try folder.restore(keys.identities, keeper: keeper == .keyring ? .keyring : .passphrase)
        }
        let lock = try await tell(keys.identities, unlocks: true)
        return line(try recipients(), lock)
    }

    // MARK: The receiver

    /// - Throws: `WaftError`, `notRunning` when no receiver is running.
    package func lockStanding() async throws(WaftError) -> LockLine {
        guard case .protection(let lock) = try await waft.receiver.ask(.protection(.status)) else {
            throw Self.noAnswer
        }
        return lock
    }

    /// Wipes the private keys from the memory of the receiver.
    /// - Parameter all: also those of the class until first unlock.
    /// - Throws: `WaftError`: `notRunning` when no receiver is running, `usage` if data protection is not set up.
    package func lock(all: Bool) async throws(WaftError) -> LockLine {
        let reply = try await waft.receiver.ask(.protection(.lock(all: all)), timeout: .seconds(20))
        var lock = try Self.lock(in: reply)
        guard lock.isSetUp else { throw .notSetUp }
        lock.outcome = .locked
        return lock
    }

    /// Checks that the private keys belong to the public ones.
    /// - Throws: `WaftError`.
    package func check(_ keys: PrivateKeys) throws(WaftError) {
        try WaftError.catching { () throws(VaultError) in try folder.check(keys.identities) }
    }

    /// Gives the private keys to the running receiver.
    /// - Throws: `WaftError`: `notRunning` when no receiver is running, `locked` if it does not take them.
    package func unlock(_ keys: PrivateKeys) async throws(WaftError) -> LockLine {
        try await unlock(keys.identities)
    }

    private func unlock(_ identities: VaultIdentities) async throws(WaftError) -> LockLine {
        let lines = identities.lines.map { SecretText($0) }
        // The receiver waits for the end of a lock that has begun, and tells the handlers, before it answers.
        let reply = try await waft.receiver.ask(.protection(.unlock(identities: lines)), timeout: .seconds(30))
        var lock = try Self.lock(in: reply)
        lock.outcome = .unlocked
        return lock
    }

    /// Tells the running receiver of new keys; it keeps them if it was unlocked, or if it is to be.
    /// - Returns: nil if none runs.
    private func tell(_ identities: VaultIdentities?, unlocks: Bool) async throws(WaftError) -> LockLine? {
        guard let before = try await lockIfRunning() else { return nil }
        if let identities, unlocks || before.unlocked { return try await unlock(identities) }
        if let identities, before.unlockedOnce { return try await unlock(identities.only(.sinceFirstUnlock)) }
        return try Self.lock(in: try await waft.receiver.ask(.protection(.reload)))
    }

    /// - Returns: nil if no receiver runs.
    private func lockIfRunning() async throws(WaftError) -> LockLine? {
        guard let reply = try await waft.receiver.askIfRunning(.protection(.status)) else { return nil }
        return try Self.lock(in: reply)
    }

    private static let noAnswer = WaftError(.unexpected, "the receiver gave no answer about data protection")

    private static func lock(in reply: ControlReply) throws(WaftError) -> LockLine {
        switch reply {
        case .protection(let lock): return lock
        case .locked(let reason): throw WaftError(.locked, reason, hint: WaftError.unlockHint)
        case .refused(let reason): throw WaftError(.unexpected, reason)
        default: throw noAnswer
        }
    }

    private func recipients() throws(WaftError) -> ProtectionRecipients? {
        try WaftError.catching { () throws(VaultError) in try folder.recipients() }
    }

    private func existingRecipients() throws(WaftError) -> ProtectionRecipients {
        guard let recipients = try recipients() else { throw .notSetUp }
        return recipients
    }

    private func line(_ recipients: ProtectionRecipients?, _ lock: LockLine?) -> ProtectionLine {
        var standing = lock ?? LockLine(protection: waft.settings.protection.rawValue)
        if lock == nil { standing.keysFrom = recipients?.own?.keeper.rawValue }
        var line = ProtectionLine(
            setUp: recipients != nil, recipientsPath: folder.recipientsPath, lock: standing, daemon: lock != nil)
        line.dropBox = recipients?.isDropBox ?? false
        line.recoveryRecipients = recipients?.others.map(\.description) ?? []
        line.identityPath = folder.hasIdentities ? folder.identityPath : nil
        if let own = recipients?.own, own.keeper != .keyring { line.passphraseFile = folder.identityPath }
        return line
    }
}

/// The private keys in a keyring.
private struct KeyringAccess {
    let keeper: any IdentityKeeper

    func fetch() async throws(WaftError) -> VaultIdentities {
        guard let identities = try await fetchIfThere() else {
            throw WaftError(
                .locked, "the keyring has no private keys of Waft", hint: "unlock the keyring of your desktop first")
        }
        return identities
    }

    /// Checks that a set-up would replace no keys.
    func checkIsEmpty() async throws(WaftError) {
        let text: SecretBytes?
        do { text = try await keeper.fetch() } catch { throw Self.unusable(error) }
        guard text == nil else {
            throw WaftError(
                .usage, "the keyring has private keys of Waft already",
                hint: "to use them: waft unlock --restore; to delete them for good: secret-tool clear xdg:schema "
                    + "org.waft.Protection")
        }
    }

    /// Stores keys and reads them back.
    func store(_ identities: VaultIdentities) async throws(WaftError) {
        let text = identities.text
        do { try await keeper.store(text) } catch { throw Self.unusable(error) }
        guard let back = try await fetchIfThere(), back.lines.count == identities.lines.count,
            back.recipient(.whileUnlocked) == identities.recipient(.whileUnlocked),
            back.recipient(.sinceFirstUnlock) == identities.recipient(.sinceFirstUnlock)
        else { throw WaftError(.unexpected, "the keyring does not give back the private keys") }
    }

    private func fetchIfThere() async throws(WaftError) -> VaultIdentities? {
        let text: SecretBytes?
        do { text = try await keeper.fetch() } catch {
            throw WaftError(.locked, "the private keys are in the keyring: \(error)")
        }
        guard let text else { return nil }
        return try WaftError.catching { () throws(VaultError) in try VaultIdentities(parsing: text) }
    }

    private static func unusable(_ error: any Error) -> WaftError {
        switch error as? KeyringError {
        case .noService, .noCollection:
            WaftError(.usage, "\(error)", hint: "or use a passphrase: leave out --keyring")
        case .dismissed, .unanswered, .locked: WaftError(.locked, "\(error)")
        default: WaftError(.unexpected, "\(error)")
        }
    }
}

extension WaftError {
    package static let unlockHint = "unlock it with: waft unlock"

    static let notSetUp = WaftError(
        .usage, "data protection is not set up", hint: "set it up with: waft protection set-up")

    static let isDropBox = WaftError(
        .locked, "this machine is a drop box: its private keys are elsewhere, and nothing can be opened here")

    init(_ error: VaultError) {
        switch error.code {
        case .locked: self.init(.locked, error.description, hint: Self.unlockHint)
        case .noIdentity: self = .isDropBox
        case .notSetUp: self = .notSetUp
        case .wrongPassphrase: self.init(.locked, error.description)
        case .alreadySetUp:
            self.init(
                .usage, error.description,
                hint:
                    "to change it: waft protection passphrase, waft protection rotate, waft config set protection CLASS"
            )
        case .unfit: self.init(.usage, error.description)
        case .foreign: self.init(.contentChanged, error.description)
        case .swapped:
            self.init(.unexpected, error.description, hint: "to put your own keys back: waft unlock --restore")
        case .damaged, .storage: self.init(.unexpected, error.description)
        }
    }

    fileprivate static func catching<Value>(_ body: () throws(VaultError) -> Value) throws(WaftError) -> Value {
        do throws(VaultError) { return try body() } catch { throw WaftError(error) }
    }
}
