/// The two marks that identify an Inbox which a receiver has used before.
package struct KnownInbox: Hashable, Sendable {
    /// The id in the Inbox's mark file: 32 lower-case hexadecimal digits.
    package var id: String
    /// The identity of the folder on its file system.
    package var folder: FileIdentity

    package init(id: String, folder: FileIdentity) {
        self.id = id
        self.folder = folder
    }
}

/// Remembers which Inbox was used at a path. Calls may block on the disk.
package protocol InboxMemory: Sendable {
    /// - Returns: nil if no Inbox was ever used at that path.
    func knownInbox(at path: String) throws(JournalError) -> KnownInbox?
    /// Returns when the entry is on the disk.
    func remember(_ inbox: KnownInbox, at path: String) throws(JournalError)
}
