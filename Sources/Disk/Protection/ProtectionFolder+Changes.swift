package import Age
package import Secrets

extension ProtectionFolder {
    /// The fewest characters of a passphrase.
    package static let passphraseCharacters = 8
    /// A shorter passphrase is worth a warning.
    package static let goodPassphraseCharacters = 12

    /// Characters of a passphrase in UTF-8.
    package static func characters(of passphrase: SecretBytes) -> Int {
        passphrase.withBytes { bytes in bytes.count { $0 & 0xC0 != 0x80 } }
    }

    private func check(_ passphrase: SecretBytes) throws(VaultError) {
        guard Self.characters(of: passphrase) >= Self.passphraseCharacters else {
            throw VaultError(.unfit, "a passphrase has at least \(Self.passphraseCharacters) characters")
        }
    }

    /// Checks that a set-up may begin.
    ///
    /// - Throws: `VaultError` `alreadySetUp`; `damaged` for private keys without public ones.
    package func checkIsEmpty() throws(VaultError) {
        guard try recipients() == nil else { throw VaultError(.alreadySetUp, "data protection is set up already") }
    }

    /// Checks that the public keys belong to these private keys.
    ///
    /// - Throws: `VaultError` `swapped` if they do not, or are missing; `damaged`, `storage`.
    package func check(_ identities: VaultIdentities) throws(VaultError) {
        guard let recipients = try recipients() else { throw swapped }
        guard identities.match(recipients) else { throw swapped(recipients, identities) }
    }

    /// Makes the keys of this machine, and writes them.
    ///
    /// - Throws: `VaultError` `alreadySetUp`, `unfit`, `storage`. Then nothing is set up.
    package func setUp(passphrase: SecretBytes, recovery: [AgeRecipient]) throws(VaultError) -> VaultIdentities {
        try check(passphrase)
        let identities = try VaultIdentities.generate(recovery: recovery)
        let recipients = try identities.recipients(keptBy: .passphrase)
        return try changing { () throws(VaultError) in
            try checkIsEmpty()
            try write(identities, passphrase: passphrase)
            try write(recipients)
            return identities
        }
    }

    /// Writes the public keys of keys that another keeper has already.
    ///
    /// - Throws: as above.
    package func setUp(keeping identities: VaultIdentities, by keeper: VaultMode) throws(VaultError) {
        let recipients = try identities.recipients(keptBy: keeper)
        try changing { () throws(VaultError) in
            try checkIsEmpty()
            try write(recipients)
        }
    }

    /// Makes this machine a drop box: what arrives is sealed to these keys, and can never be opened here.
    ///
    /// - Throws: as above.
    package func setUp(dropBox keys: [AgeRecipient]) throws(VaultError) {
        let recipients = try ProtectionRecipients(own: nil, others: keys)
        try changing { () throws(VaultError) in
            try checkIsEmpty()
            try write(recipients)
        }
    }

    /// Seals the private keys with another passphrase. Items stay as they are.
    ///
    /// - Throws: `VaultError` `wrongPassphrase`, `unfit`, `damaged`, `storage`. Then the old passphrase counts.
    package func changePassphrase(from old: SecretBytes, to new: SecretBytes) throws(VaultError) {
        try check(new)
        try changing { () throws(VaultError) in
            try write(try finishedIdentities(passphrase: old), passphrase: new)
        }
    }

    /// Makes new keys for what arrives from now on; the old ones still open what is there.
    ///
    /// - Returns: all keys.
    /// - Throws: `VaultError` `wrongPassphrase`, `swapped`, `unfit`, `damaged`, `storage`. Then all is as before.
    package func rotate(passphrase: SecretBytes) throws(VaultError) -> VaultIdentities {
        try changing { () throws(VaultError) in
            let old = try finishedIdentities(passphrase: passphrase)
            try check(old)
            let new = try old.rotated()
            let newRecipients = try new.recipients(keptBy: .passphrase)
            // In this order: an interruption leaves the old keys of both kinds, or the new ones of both.
            try write(new, passphrase: passphrase) { () throws(VaultError) in try write(newRecipients) }
            return new
        }
    }

    /// Writes the public keys that belong to the private ones, after another program has changed or removed them.
    ///
    /// - Throws: `VaultError` `unfit`, `storage`.
    package func restore(_ identities: VaultIdentities, keeper: VaultMode) throws(VaultError) {
        let recipients = try identities.recipients(keptBy: keeper)
        try changing { () throws(VaultError) in try write(recipients) }
    }

    /// The error for public keys that are not the newest ones of these private keys.
    func swapped(_ recipients: ProtectionRecipients, _ identities: VaultIdentities) -> VaultError {
        guard identities.retired(recipients) else { return swapped }
        return VaultError(
            .swapped,
            "\(recipientsPath) names keys of before a rotation, from a backup or by another program: "
                + "what has arrived since is sealed to the old keys")
    }

    /// The error for public keys that do not belong to the private ones.
    var swapped: VaultError {
        VaultError(
            .swapped,
            "\(recipientsPath) does not name your keys: whoever changed it can read what has arrived since, and you cannot"
        )
    }
}
