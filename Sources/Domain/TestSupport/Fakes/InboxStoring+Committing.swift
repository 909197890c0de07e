package import Sharing

extension InboxStoring {
    /// Commits into the Inbox itself.
    package func commit(
        _ items: [(staged: any StagedItem, name: SafeName)],
        announcing: ([FileIdentity?]) throws(TransferError) -> Void = { _ in }
    ) -> [Result<StoredItem, TransferError>] {
        commit(items.map { ItemToCommit($0.staged, as: $0.name) }, announcing: announcing)
    }
}
