package import Secrets

/// Keeps the private keys outside the files of Waft, such as the keyring of the desktop.
package protocol IdentityKeeper: Sendable {
    /// The text of the private keys (`VaultIdentities.text`); nil if it has none, or is locked itself.
    ///
    /// - Throws: an error with one readable line.
    func fetch() async throws -> SecretBytes?

    /// Replaces the private keys.
    ///
    /// - Throws: as `fetch`. Then those of before are kept.
    func store(_ text: SecretBytes) async throws
}
