import Age
import Glibc
package import Secrets
import SystemCalls

/// The folder of the keys for protected items: `protection` in the state folder.
///
/// `recipients` has the public keys, `identity.age` the private ones, as a passphrase file of age. The commands write
/// both, the receiver reads `recipients` only. A new file replaces the old one as a whole; private keys are written
/// first, so that no item is sealed to a key that could be lost. `identity.age.new` has the keys of a rotation until
/// the public ones are written: it finishes an interrupted one. All calls may block on the disk.
package struct ProtectionFolder: Sendable, Hashable {
    /// Absolute.
    package let path: String
    /// Of scrypt, for new files: the logarithm of its work to the base 2.
    let workFactor: Int

    package var recipientsPath: String { path + "/recipients" }
    package var identityPath: String { path + "/identity.age" }
    private var newIdentityPath: String { identityPath + ".new" }

    /// About 1.2 seconds and 273 MiB: what age itself uses.
    package static let standardWorkFactor = 18
    /// Four times that; a file that wants more is refused.
    static let maximumWorkFactor = 20
    private static let identityBytes = 64 << 10

    package init(path: String) { self.init(path: path, workFactor: Self.standardWorkFactor) }

    /// - Parameter workFactor: less than the usual one is for tests.
    init(path: String, workFactor: Int) { (self.path, self.workFactor) = (path, workFactor) }

    // MARK: Reading

    /// The public keys; nil if data protection is not set up.
    ///
    /// - Throws: `VaultError` `damaged`, also if the file is missing beside private keys; `storage`.
    package func recipients() throws(VaultError) -> ProtectionRecipients? {
        let bytes: [UInt8]
        do {
            bytes = try SmallFile.read(recipientsPath, limit: ProtectionRecipients.fileBytes)
        } catch {
            guard error == .missing else {
                throw VaultError(recipientsPath, limit: ProtectionRecipients.fileBytes, error)
            }
            guard !hasIdentities else {
                throw VaultError(
                    .damaged, "\(recipientsPath) is missing, although there are private keys beside it")
            }
            return nil
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw .damaged(recipientsPath, "it is no text")
        }
        return try ProtectionRecipients(text: text, path: recipientsPath)
    }

    /// Whether there is a file of private keys.
    package var hasIdentities: Bool { Self.isThere(identityPath) }

    private static func isThere(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }

    /// The private keys. Runs scrypt, which needs a second and 273 MiB. Finishes an interrupted rotation.
    ///
    /// - Throws: `VaultError` `wrongPassphrase`, `notSetUp` without the file, `damaged`, `storage`.
    package func identities(passphrase: SecretBytes) throws(VaultError) -> VaultIdentities {
        guard Self.isThere(newIdentityPath) else {
            return try Self.identities(in: try identityFile(), identityPath, passphrase)
        }
        return try changing { () throws(VaultError) in try finishedIdentities(passphrase: passphrase) }
    }

    /// The private keys, for a change: as above.
    func finishedIdentities(passphrase: SecretBytes) throws(VaultError) -> VaultIdentities {
        let old = try Self.identities(in: try identityFile(), identityPath, passphrase)
        // Only the keys of a rotation, whose public keys are there already: an old copy of the file is none.
        guard Self.isThere(newIdentityPath), let recipients = (try? recipients()) ?? nil, !old.match(recipients),
            let file = try? SmallFile.read(newIdentityPath, limit: Self.identityBytes),
            let new = try? Self.identities(in: file, newIdentityPath, passphrase), new.follow(old),
            new.match(recipients)
        else { return old }
        try putInPlace()
        return new
    }

    private func identityFile() throws(VaultError) -> [UInt8] {
        do {
            return try SmallFile.read(identityPath, limit: Self.identityBytes)
        } catch {
            if error == .missing { throw VaultError(.notSetUp, "there are no private keys in \(path)") }
            throw VaultError(identityPath, limit: Self.identityBytes, error)
        }
    }

    private static func identities(
        in file: [UInt8], _ path: String, _ passphrase: SecretBytes
    ) throws(VaultError) -> VaultIdentities {
        let text: SecretBytes
        do throws(AgeError) {
            text = try AgePassphraseFile.open(file, passphrase: passphrase, maximumWorkFactor: maximumWorkFactor)
        } catch {
            throw VaultError(path, error)
        }
        return try VaultIdentities(parsing: text)
    }

    // MARK: Writing

    /// Runs `change` while no other process changes the folder, which is made if it is missing.
    func changing<Value>(_ change: () throws(VaultError) -> Value) throws(VaultError) -> Value {
        let lock: FolderLock
        do { lock = try FolderLock.taking(path) } catch { throw .unwritable(path, error) }
        let result = Result { () throws(VaultError) in try change() }
        lock.release()
        return try result.get()
    }

    /// Replaces the private keys. The old file stays until the new one was read back and opened.
    ///
    /// - Parameter before: what comes before the old file goes; a crash then leaves both.
    func write(
        _ identities: VaultIdentities, passphrase: SecretBytes,
        before: () throws(VaultError) -> Void = { () throws(VaultError) in }
    ) throws(VaultError) {
        let text = identities.text
        let sealed: [UInt8]
        do throws(AgeError) {
            sealed = try AgePassphraseFile.seal(text, passphrase: passphrase, workFactor: workFactor)
        } catch {
            throw VaultError(identityPath, error)
        }
        let new = newIdentityPath
        do {
            try SmallFile.replace(new, with: sealed, exactly: 0o600)
        } catch {
            throw .unwritable(new, error)
        }
        let back: [UInt8]
        do {
            back = try SmallFile.read(new, limit: Self.identityBytes)
        } catch {
            throw VaultError(new, limit: Self.identityBytes, error)
        }
        let opened = try Self.identities(in: back, new, passphrase)
        guard opened.text.isEqual(to: text) else { throw .damaged(new, "it does not hold the keys that were written") }
        try before()
        try putInPlace()
    }

    private func putInPlace() throws(VaultError) {
        do {
            try systemCall { rename(newIdentityPath, identityPath) }
            try SmallFile.syncFolder(path)
        } catch {
            throw .unwritable(identityPath, error)
        }
    }

    /// Replaces the public keys.
    func write(_ recipients: ProtectionRecipients) throws(VaultError) {
        do {
            try SmallFile.replace(recipientsPath, with: Array(recipients.text.utf8), exactly: 0o644)
        } catch {
            throw .unwritable(recipientsPath, error)
        }
    }
}
