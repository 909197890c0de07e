import GRDB
import Glibc
package import Sharing
import Synchronization

/// Reads the journal of a folder, whether or not a receiver writes it, and changes nothing in it.
///
/// A missing journal counts as an empty one. Each call sees the journal at one moment, and blocks on the disk. The first
/// call opens the journal for all.
package struct JournalReader: Sendable {
    /// Maximum number of entries that `entries(named:)` returns.
    package static let maximumEntriesOfAName = 1_000

    private let file: JournalFile
    private let connection = ReaderConnection()
    private let dialects: DialectTable
    private let unreadable: @Sendable (JournalError) -> Void

    /// - Parameters:
    ///   - folder: an absolute path, without a slash at its end.
    ///   - dialects: for the names of protocols in it.
    ///   - unreadable: called for each damaged row that a list skips.
    package init(
        folder: String, dialects: DialectTable, unreadable: @escaping @Sendable (JournalError) -> Void = { _ in }
    ) {
        self.file = JournalFile(folder: folder)
        self.dialects = dialects
        self.unreadable = unreadable
    }

    /// The latest arrivals, the last one first, without their attempts.
    ///
    /// - Parameters:
    ///   - count: maximum number of entries.
    ///   - before: only entries with a lower number: for the next page.
    ///   - filter: selects the entries.
    package func entries(
        latest count: Int, before: ArrivalNumber? = nil, filter: ArrivalFilter = .all
    ) throws(JournalError) -> [JournalEntry] {
        try read(orElse: []) { database in
            // The query has no limit, because skipped rows do not count.
            let statement = try database.cachedStatement(
                sql: "SELECT \(ArrivalRow.columns) FROM arrivals "
                    + "WHERE stored_name IS NOT NULL AND (?1 IS NULL OR number < ?1) AND \(Self.condition) "
                    + "ORDER BY number DESC")
            return try Row.fetchCursor(statement, arguments: Self.arguments(before, filter))
                .readable(limit: count, where: filter.matches, reporting: self.unreadable) {
                    try ArrivalRow.entry($0, self.dialects)
                }
        }
    }

    /// The arrivals stored under a name in the Inbox, the last one first, without their attempts, and without those that
    /// only called for an item again.
    package func entries(named name: String) throws(JournalError) -> [JournalEntry] {
        // SQLite would use only the part of a text before a NUL.
        guard let name = try? SafeName(name) else { return [] }
        return try read(orElse: []) { database in
            let statement = try database.cachedStatement(
                sql: "SELECT \(ArrivalRow.columns) FROM arrivals "
                    + "WHERE stored_name = ? AND again IS NULL ORDER BY number DESC")
            return try Row.fetchCursor(statement, arguments: [name.text])
                .readable(limit: Self.maximumEntriesOfAName, reporting: self.unreadable) {
                    try ArrivalRow.entry($0, self.dialects)
                }
        }
    }

    /// Arrivals that are in the Inbox according to the journal, in the order of arrival, without their attempts.
    ///
    /// An item that was sent again is there once: as the arrival that stored it or, with a state in the filter, as the last
    /// arrival whose delivery is in that state.
    /// - Parameters:
    ///   - after: only entries with a higher number: for the next page.
    ///   - count: maximum number of entries.
    ///   - filter: selects the entries.
    package func entriesThere(
        after: ArrivalNumber? = nil, count: Int, filter: ArrivalFilter = .all
    ) throws(JournalError) -> [JournalEntry] {
        try read(orElse: []) { database in
            let statement = try database.cachedStatement(
                sql: "SELECT \(ArrivalRow.columns) FROM arrivals "
                    + "WHERE \(filter.state == nil ? DepartureRow.holdsItem : Self.isLastInState) "
                    + "AND number > ?1 AND \(Self.condition) ORDER BY number")
            return try Row.fetchCursor(statement, arguments: Self.arguments(after ?? ArrivalNumber(.min), filter))
                .readable(limit: count, where: filter.matches, reporting: self.unreadable) {
                    try ArrivalRow.entry($0, self.dialects)
                }
        }
    }

    /// The places of all items in the Inbox that have an identity on the disk.
    package func placesThere() throws(JournalError) -> [JournaledItem] {
        try read(orElse: []) { try JournaledItemRow.places(in: $0, self.unreadable) }
    }

    /// A filter's conditions in SQL; ?1 is the page.
    private static let condition = "(?2 IS NULL OR arrived >= ?2) AND (?3 IS NULL OR state = ?3)"

    /// A condition: the item is there, and no later arrival of it is in the state ?3.
    private static let isLastInState =
        "\(DepartureRow.isThere) AND NOT EXISTS (SELECT 1 FROM arrivals AS later "
        + "WHERE later.again = coalesce(arrivals.again, arrivals.number) AND later.number > arrivals.number "
        + "AND later.state = ?3 AND later.stored_name IS NOT NULL)"

    private static func arguments(_ page: ArrivalNumber?, _ filter: ArrivalFilter) -> StatementArguments {
        [page?.value, filter.since?.milliseconds, filter.state?.rawValue]
    }

    /// Maximum number of senders that `senders` returns.
    private static let maximumSenders = 10_000

    /// All senders, with one element for each name of a sender, the latest first.
    package func senders() throws(JournalError) -> [(peer: PeerID, name: String)] {
        try read(orElse: []) { database in
            let statement = try database.cachedStatement(
                sql: "SELECT peer, sender_name FROM arrivals WHERE stored_name IS NOT NULL "
                    + "GROUP BY peer, sender_name ORDER BY max(number) DESC")
            return try Row.fetchCursor(statement).readable(limit: Self.maximumSenders, reporting: self.unreadable) {
                row in
                var columns = ColumnReader(row, "arrival")
                let peer = try columns.text("peer", PeerID.init(bareText:))
                return (peer: peer, name: try columns.text("sender's name"))
            }
        }
    }

    /// The number of arrivals in the Inbox according to the journal, and their total bytes.
    package func totalsThere() throws(JournalError) -> (count: Int, bytes: UInt64) {
        try read(orElse: (count: 0, bytes: 0)) { database in
            // Sizes are bit patterns. The total is a floating-point number: it cannot overflow, and is only shown.
            let row = try Row.fetchOne(
                database, sql: "SELECT count(*), total(size) FROM arrivals WHERE \(DepartureRow.holdsItem)")
            let bytes = row.flatMap { Double.fromDatabaseValue($0[1]) } ?? 0
            return (count: row.flatMap { Int.fromDatabaseValue($0[0]) } ?? 0, bytes: UInt64(max(0, min(bytes, 1e19))))
        }
    }

    /// One arrival with its attempts.
    ///
    /// - Returns: nil if the number does not exist or is not settled.
    /// - Throws: also if the row of the arrival cannot be read; unreadable attempts are skipped.
    package func entry(_ number: ArrivalNumber) throws(JournalError) -> JournalEntry? {
        try read(orElse: nil) { database in
            guard var entry = try Self.entry(number, self.dialects, in: database) else { return nil }
            let statement = try database.cachedStatement(
                sql: "SELECT \(AttemptRow.columns) FROM attempts WHERE arrival = ? ORDER BY number")
            entry.attempts = try Row.fetchCursor(statement, arguments: [number.value])
                .readable(reporting: self.unreadable) { try AttemptRow.attempt($0, of: number) }
            return entry
        }
    }

    /// Whether an item may still be in its place: it has not left, and no later item has its place.
    package func isThere(_ number: ArrivalNumber) throws(JournalError) -> Bool {
        try read(orElse: false) { try Self.isThere(number, in: $0) }
    }

    /// The numbers of deliveries that wait, are parked, and have failed.
    package func summary() throws(JournalError) -> (waiting: Int, parked: Int, failed: Int) {
        try read(orElse: (waiting: 0, parked: 0, failed: 0)) { try Self.summary($0) }
    }

    // MARK: - Shared with the writer

    static var configuration: Configuration {
        var configuration = Configuration()
        configuration.label = "Waft.JournalReader"
        configuration.readonly = true
        configuration.busyMode = .timeout(10)
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA cell_size_check = ON") }
        return configuration
    }

    static func entry(
        _ number: ArrivalNumber, _ dialects: DialectTable, in database: Database
    ) throws -> JournalEntry? {
        let statement = try database.cachedStatement(
            sql: "SELECT \(ArrivalRow.columns) FROM arrivals WHERE number = ? AND stored_name IS NOT NULL")
        return try Row.fetchOne(statement, arguments: [number.value]).map { try ArrivalRow.entry($0, dialects) }
    }

    static func isThere(_ number: ArrivalNumber, in database: Database) throws -> Bool {
        // The path alone would be enough, but names are indexed.
        let statement = try database.cachedStatement(
            sql: """
                SELECT 1 FROM arrivals AS this
                WHERE number = ? AND stored_name IS NOT NULL AND left_how IS NULL AND NOT EXISTS (
                    SELECT 1 FROM arrivals
                    WHERE stored_name = this.stored_name AND stored_path = this.stored_path
                        AND number > coalesce(this.again, this.number) AND \(DepartureRow.holdsItem))
                """)
        return try Int.fetchOne(statement, arguments: [number.value]) != nil
    }

    static func summary(_ database: Database) throws -> (waiting: Int, parked: Int, failed: Int) {
        // Each state has its own query with a literal, so that SQLite counts in the small index of that state.
        func count(_ state: String) throws -> Int {
            try Int.fetchOne(
                database,
                sql: "SELECT count(*) FROM arrivals WHERE state = '\(state)' AND stored_name IS NOT NULL") ?? 0
        }
        return (waiting: try count("waiting"), parked: try count("parked"), failed: try count("failed"))
    }

    // MARK: - Connection

    /// Opens a connection for this call alone: the file may be created or moved away between two calls.
    func read<Result>(
        orElse nothing: Result, _ body: (Database) throws -> Result
    ) throws(JournalError) -> Result {
        do {
            // An empty file is no database yet: SQLite would have to write to it before it reads.
            guard let size = try file.size(), size > 0 else { return nothing }
            return try connection.queue(file, Self.configuration).read { database in
                guard let version = try JournalSchema.version(database, file: file) else { return nothing }
                guard version == JournalSchema.migrator.migrations.last else {
                    throw JournalAccessError(
                        "could not read the journal: \(file.path) was written by an older version of Waft, and is "
                            + "brought up to date when a receiver of this one starts")
                }
                return try body(database)
            }
        } catch {
            throw JournalAccessError(error, doing: "could not read the journal", file: file).journalError
        }
    }
}

/// A reader's connection to the journal. The first call makes it. A call makes a new one if another file has its place.
private final class ReaderConnection: Sendable {
    private struct Opened {
        var queue: DatabaseQueue
        var device: dev_t
        var inode: ino_t
    }

    private let opened = Mutex<Opened?>(nil)

    func queue(_ file: JournalFile, _ configuration: Configuration) throws -> DatabaseQueue {
        var status = stat()
        let isThere = stat(file.path, &status) == 0
        return try opened.withLock { opened in
            if isThere, let opened, opened.device == status.st_dev, opened.inode == status.st_ino {
                return opened.queue
            }
            let queue = try DatabaseQueue(path: file.path, configuration: configuration)
            opened = Opened(queue: queue, device: status.st_dev, inode: status.st_ino)
            return queue
        }
    }
}
