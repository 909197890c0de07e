package import Desktop
import Protection
package import Secrets

/// Keeps the private keys in the keyring of the desktop.
package struct KeyringKeeper: IdentityKeeper {
    private let item: SecretServiceItem
    private let manner: KeyringManner

    /// - Parameter manner: `asking` for a command of a person, `silent` for a receiver.
    package init(_ manner: KeyringManner, item: SecretServiceItem = SecretServiceItem()) {
        (self.item, self.manner) = (item, manner)
    }

    /// - Throws: `KeyringError`.
    package func fetch() async throws -> SecretBytes? {
        do throws(KeyringError) {
            return try await item.lookUp(manner)
        } catch {
            switch error {
            case .missing, .locked: return nil
            default: throw error
            }
        }
    }

    /// - Throws: `KeyringError`.
    package func store(_ text: SecretBytes) async throws {
        try await item.store(text, manner)
    }
}
