import GRDB
package import Sharing

extension Journal: InboxMemory {
    package func knownInbox(at path: String) throws(JournalError) -> KnownInbox? {
        try reading("could not read which Inbox this is") { try Self.knownInbox(at: path, in: $0) }
    }

    static func knownInbox(at path: String, in database: Database) throws -> KnownInbox? {
        try Row.fetchOne(
            database, sql: "SELECT id, device, inode FROM inboxes WHERE path = ?", arguments: [WrittenText.value(path)]
        ).flatMap(Self.inbox)
    }

    package func remember(_ inbox: KnownInbox, at path: String) throws(JournalError) {
        try writing("could not record which Inbox this is") { database in
            try Self.insert(inbox, at: WrittenText.value(path), in: database)
        }
    }

    static func insert(_ inbox: KnownInbox, at path: DatabaseValue, in database: Database) throws {
        try database.execute(
            sql: "INSERT OR REPLACE INTO inboxes (path, id, device, inode) VALUES (?, ?, ?, ?)",
            arguments: [
                path, inbox.id, Int64(bitPattern: inbox.folder.device), Int64(bitPattern: inbox.folder.inode),
            ])
    }

    static func inbox(_ row: Row) -> KnownInbox? {
        guard let id = String.fromDatabaseValue(row["id"]), let device = Int64.fromDatabaseValue(row["device"]),
            let inode = Int64.fromDatabaseValue(row["inode"])
        else { return nil }
        let folder = FileIdentity(device: UInt64(bitPattern: device), inode: UInt64(bitPattern: inode))
        return KnownInbox(id: id, folder: folder)
    }
}

extension JournalReader {
    /// - Returns: nil if no Inbox was ever used at that path.
    package func knownInbox(at path: String) throws(JournalError) -> KnownInbox? {
        try read(orElse: nil) { try Journal.knownInbox(at: path, in: $0) }
    }
}
