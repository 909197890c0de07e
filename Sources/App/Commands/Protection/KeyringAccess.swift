import Protection

/// The private keys in a keyring.
struct KeyringAccess {
    private let keeper: any IdentityKeeper

    init(_ keeper: any IdentityKeeper) {
        self.keeper = keeper
    }

    /// - Throws: `CommandError` `locked` if the keyring has no keys, or is locked itself.
    func fetch() async throws(CommandError) -> VaultIdentities {
        let text = try await catching { try await keeper.fetch() }
        guard let text else {
            throw CommandError(
                .locked, "the keyring does not give the private keys", hint: "unlock the keyring of your desktop first")
        }
        return try CommandError.catching { () throws(VaultError) in try VaultIdentities(parsing: text) }
    }

    /// Stores keys and reads them back.
    func store(_ identities: VaultIdentities) async throws(CommandError) {
        let text = identities.text
        try await catching { try await keeper.store(text) }
        let back = try await fetch()
        guard back.lines.count == identities.lines.count,
            back.recipient(.whileUnlocked) == identities.recipient(.whileUnlocked),
            back.recipient(.sinceFirstUnlock) == identities.recipient(.sinceFirstUnlock)
        else { throw CommandError(.unexpected, "the keyring does not give back the private keys") }
    }

    private func catching<Value>(_ body: () async throws -> Value) async throws(CommandError) -> Value {
        do {
            return try await body()
        } catch {
            throw CommandError(
                .unexpected, "the keyring cannot be used: \(TerminalText.escaped("\(error)", limit: 1_000))")
        }
    }
}
