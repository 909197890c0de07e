import GRDB
package import Sharing
import SystemCalls

extension Journal {
    /// Opens the journal in a folder as `init` does. A file that is damaged or not a journal is moved aside with its
    /// log and replaced by a new one. The numbers continue after the old ones if these can be read, so that no number
    /// is used twice. The new journal has no entries for items in the Inbox, so no handler is called for them again.
    ///
    /// - Parameter damaged: called with one line after a journal was replaced.
    /// - Throws: as `init`, except for a damaged file that can be moved aside.
    package static func openingOrReplacing(
        folder: String,
        dialects: DialectTable,
        now: (@Sendable () -> WallTime)? = nil,
        unreadable: @escaping @Sendable (JournalError) -> Void = { _ in },
        damaged: (String) -> Void
    ) throws(JournalError) -> Journal {
        let file = JournalFile(folder: folder)
        let now = now ?? { .now }
        do throws(JournalAccessError) {
            do throws(JournalAccessError) {
                return try Journal(opening: file, dialects: dialects, now: now, unreadable: unreadable)
            } catch  where error.isDamage {
                // While this lock is held, no other receiver has the file open.
                let lock = try JournalLock(file)
                let aside = try file.setAside()
                let journal = try Journal(
                    opening: file, dialects: dialects, lock: lock, now: now, unreadable: unreadable)
                let last = lastNumber(in: aside)
                let inboxes = inboxes(in: aside)
                try journal.goOn(after: last, inboxes)
                damaged(
                    "\(error.line); it was moved to \(aside), and a new one was started"
                        + (last == nil ? ", from number 1" : ""))
                return journal
            }
        } catch {
            throw error.journalError
        }
    }

    /// A last number outside this range counts as damage.
    private static let plausibleNumbers: ClosedRange<Int64> = 1...(1 << 40)

    private static func lastNumber(in path: String) -> Int64? {
        guard let queue = try? DatabaseQueue(path: path, configuration: JournalReader.configuration) else { return nil }
        let sources = ["SELECT seq FROM sqlite_sequence WHERE name = 'arrivals'", "SELECT max(number) FROM arrivals"]
        return sources.compactMap { sql in (try? queue.read { try Int64.fetchOne($0, sql: sql) }) ?? nil }
            .filter(plausibleNumbers.contains).max()
    }

    /// The Inboxes of the old journal. Without them the new journal would accept any folder as the Inbox.
    private static func inboxes(in path: String) -> [(path: DatabaseValue, inbox: KnownInbox)] {
        guard let queue = try? DatabaseQueue(path: path, configuration: JournalReader.configuration) else { return [] }
        let rows = try? queue.read { database in
            try Row.fetchAll(database, sql: "SELECT path, id, device, inode FROM inboxes LIMIT 1000")
        }
        return (rows ?? []).compactMap { row in inbox(row).map { (row["path"] as DatabaseValue, $0) } }
    }

    private func goOn(
        after number: Int64?, _ inboxes: [(path: DatabaseValue, inbox: KnownInbox)]
    ) throws(JournalAccessError) {
        try changing("could not start a new journal") { database in
            if let number {
                try database.execute(
                    sql: "INSERT INTO sqlite_sequence (name, seq) VALUES ('arrivals', ?)", arguments: [number])
            }
            for (path, inbox) in inboxes { try Self.insert(inbox, at: path, in: database) }
        }
    }
}

extension JournalFile {
    /// Moves the journal and its log files aside; returns the new path.
    fileprivate func setAside() throws(JournalAccessError) -> String {
        do {
            return try DamagedFile.setAside(path, with: ["-wal", "-shm", "-journal"])
        } catch {
            throw JournalAccessError("could not move the damaged journal \(path) away: \(error)")
        }
    }
}
