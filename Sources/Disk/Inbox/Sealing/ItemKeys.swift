import Age
package import Protection
package import Sharing

/// The keys of a receiver's items. Here the Inbox, and all that read its items, ask whether an item can be opened or
/// sealed, and get the keys for it: nothing else between an item and its readers knows the vault.
package struct ItemKeys: Sendable {
    private let vault: Vault?

    /// - Parameter vault: nil if nothing is sealed.
    package init(_ vault: Vault?) { self.vault = vault }

    /// Whether there are keys: items may be sealed.
    package var areThere: Bool { vault?.standing.isSetUp ?? false }

    /// Whether a folder has keys to seal items with.
    ///
    /// - Parameter folder: its path.
    /// - Throws: `closed` if they cannot be used.
    package static func areThere(in folder: String) throws(SealedFileError) -> Bool {
        do throws(VaultError) { return try ProtectionFolder(path: folder).recipients() != nil } catch {
            throw SealedFileError(error)
        }
    }

    /// Whether items of this protection can be opened now. An item that is not sealed always can.
    package func canOpen(_ protection: ProtectionClass) -> Bool {
        !protection.isSealed || vault?.canOpen(protection) ?? false
    }

    /// The keys with which the receiver itself compares items: their use does not postpone the lock of an idle receiver.
    /// - Returns: nil for an item that is not sealed, and without keys.
    func recognising(_ protection: ProtectionClass) -> FileKeys? { keys(to: protection, for: .recognising) }

    /// The keys for a reader that goes on when a lock begins.
    /// - Returns: nil for an item that is not sealed, and without keys.
    func admitted(_ protection: ProtectionClass) -> FileKeys? { keys(to: protection, for: .admitted) }

    private func keys(to protection: ProtectionClass, for use: Vault.Use) -> FileKeys? {
        guard protection.isSealed, let vault else { return nil }
        return FileKeys(vault, for: use)
    }

    /// The keys to seal an item with.
    /// - Parameter kept: the sealers of files that were cut.
    /// - Returns: nil if it is not to be sealed.
    /// - Throws: `storage` if there are none.
    func sealing(_ protection: ProtectionClass, _ kept: KeptSealers) throws(TransferError) -> ItemSealing? {
        guard protection.isSealed else { return nil }
        guard let vault else { throw TransferError(.storage, "it cannot be sealed: there are no keys") }
        do {
            return ItemSealing(
                recipients: try vault.recipients(for: protection), keys: FileKeys(vault, for: .recognising),
                kept: kept, isComplete: protection == .complete, isUnlocked: { vault.isUnlocked })
        } catch {
            throw TransferError(.storage, "it cannot be sealed: \(error)")
        }
    }
}

extension FileKeys {
    /// The keys that a vault has in memory.
    package init(_ vault: Vault, for use: Vault.Use = .reading) {
        self.init { header throws(SealedFileError) in
            do throws(VaultError) { return try vault.fileKey(of: header, for: use) } catch {
                throw SealedFileError(error)
            }
        }
    }
}
