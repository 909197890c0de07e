/// By what the Inbox that a receiver has used is known again.
package struct KnownInbox: Hashable, Sendable {
    /// What stands in a file in it: 32 lower-case hexadecimal digits.
    package var id: String
    /// What the folder is on its file system.
    package var folder: FileIdentity

    package init(id: String, folder: FileIdentity) {
        self.id = id
        self.folder = folder
    }
}

/// Where it is remembered which Inbox has lain at a path. Calls may block on the disk.
package protocol InboxMemory: Sendable {
    /// - Returns: nil where none was ever used at that path.
    func knownInbox(at path: String) throws(JournalFault) -> KnownInbox?
    /// On the disk when this returns.
    func remember(_ inbox: KnownInbox, at path: String) throws(JournalFault)
}
