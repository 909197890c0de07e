import Desktop
import Lines
import Protection
import Secrets

/// The private keys in a keyring.
struct KeyringAccess {
    private let keeper: any IdentityKeeper

    init(_ keeper: any IdentityKeeper) {
        self.keeper = keeper
    }

    /// - Throws: `CommandError` `locked` if the keyring has no keys, is locked, or cannot be asked.
    func fetch() async throws(CommandError) -> VaultIdentities {
        guard let identities = try await fetchIfThere() else {
            throw CommandError(
                .locked, "the keyring has no private keys of Waft", hint: "unlock the keyring of your desktop first")
        }
        return identities
    }

    /// Checks that a set-up would replace no keys.
    ///
    /// - Throws: `CommandError` `usage` if there are keys, or no keyring.
    func checkIsEmpty() async throws(CommandError) {
        let text: SecretBytes?
        do { text = try await keeper.fetch() } catch { throw Self.unusable(error) }
        guard text == nil else {
            throw CommandError(
                .usage, "the keyring has private keys of Waft already",
                hint: "to use them: waft unlock --restore; to delete them for good: secret-tool clear xdg:schema "
                    + "org.waft.Protection")
        }
    }

    /// Stores keys and reads them back.
    func store(_ identities: VaultIdentities) async throws(CommandError) {
        let text = identities.text
        do { try await keeper.store(text) } catch { throw Self.unusable(error) }
        guard let back = try await fetchIfThere(), back.lines.count == identities.lines.count,
            back.recipient(.whileUnlocked) == identities.recipient(.whileUnlocked),
            back.recipient(.sinceFirstUnlock) == identities.recipient(.sinceFirstUnlock)
        else { throw CommandError(.unexpected, "the keyring does not give back the private keys") }
    }

    private func fetchIfThere() async throws(CommandError) -> VaultIdentities? {
        let text: SecretBytes?
        do { text = try await keeper.fetch() } catch {
            throw CommandError(.locked, "the private keys are in the keyring: \(Self.reason(error))")
        }
        guard let text else { return nil }
        return try CommandError.catching { () throws(VaultError) in try VaultIdentities(parsing: text) }
    }

    private static func unusable(_ error: any Error) -> CommandError {
        switch error as? KeyringError {
        case .noService, .noCollection:
            CommandError(.usage, reason(error), hint: "or use a passphrase: leave out --keyring")
        case .dismissed, .unanswered, .locked: CommandError(.locked, reason(error))
        default: CommandError(.unexpected, reason(error))
        }
    }

    private static func reason(_ error: any Error) -> String { TerminalText.escaped("\(error)", limit: 1_000) }
}
