import Foundation
import GRDB
package import Sharing
private import Synchronization

/// The record that survives a crash: all arrivals, and the progress of their delivery to handlers.
///
/// SQLite with a write-ahead log and `synchronous = FULL`: when a call returns, its changes are on the disk. A crash at
/// any point leaves all changes of a call or none. A folder has one writer at a time. Any number of `JournalReader`s
/// read meanwhile, also in other processes.
///
/// All calls block on the disk and run one after the other.
package final class Journal: ArrivalJournal, DeliveryJournal, Sendable {
    /// Maximum number of attempts kept for one arrival: the first one and the latest ones.
    package static let keptAttempts = 64

    let file: JournalFile
    let dialects: DialectTable
    let queue: DatabaseQueue
    /// This reference only prevents the release of the connection. The release takes a thread of libdispatch, whose
    /// monitor then wakes up each second until the process ends.
    private let closed: DatabaseQueue
    let now: @Sendable () -> WallTime
    let unreadable: @Sendable (JournalError) -> Void
    /// The number of the last arrival that an earlier process recorded.
    private let lastOfEarlier: Int64
    let place: JournalFiles
    /// Held while the connection is open.
    private let lock: JournalLock
    private let firstDamage = Mutex<String?>(nil)

    /// One line if a read or write since the opening has found damage. From then on all calls that need the journal
    /// fail, nothing is stored, and the next start moves the file aside.
    package var damage: String? { firstDamage.withLock { $0 } }

    /// Opens the journal in a folder, or creates an empty one; also creates a missing folder.
    ///
    /// - Parameters:
    ///   - folder: an absolute path, without a slash at its end.
    ///   - dialects: for the names of protocols in it.
    ///   - now: returns the time of an arrival; by default the system's clock.
    ///   - unreadable: called for each damaged row that a list skips, on the thread of the call. Meanwhile it must not
    ///     use the journal.
    /// - Throws: if the journal cannot be opened, another process uses it, or it is damaged, not a journal, or from a
    ///   newer version. The file then stays unchanged.
    package convenience init(
        folder: String,
        dialects: DialectTable,
        now: (@Sendable () -> WallTime)? = nil,
        unreadable: @escaping @Sendable (JournalError) -> Void = { _ in }
    ) throws(JournalError) {
        do throws(JournalAccessError) {
            try self.init(
                opening: JournalFile(folder: folder), dialects: dialects, now: now ?? { .now }, unreadable: unreadable)
        } catch {
            throw error.journalError
        }
    }

    /// - Parameter lock: the lock that the caller holds; with nil, this initializer takes it.
    init(
        opening file: JournalFile,
        dialects: DialectTable,
        lock: JournalLock? = nil,
        now: @escaping @Sendable () -> WallTime,
        unreadable: @escaping @Sendable (JournalError) -> Void
    ) throws(JournalAccessError) {
        self.file = file
        self.dialects = dialects
        self.now = now
        self.unreadable = unreadable
        try file.prepare()
        if let lock { self.lock = lock } else { self.lock = try JournalLock(file) }
        do {
            closed = try Self.inspect(file)
            queue = try DatabaseQueue(path: file.path, configuration: Self.configuration)
            lastOfEarlier = try Self.makeReady(queue)
            place = JournalFiles(of: file)
        } catch {
            throw JournalAccessError(error, doing: "could not open the journal", file: file, isOpening: true)
        }
    }

    /// Checks the whole file through a read-only connection. A writing connection would move the log into the file when
    /// it is closed, and the file may belong to another program.
    /// - Returns: the connection, closed.
    private static func inspect(_ file: JournalFile) throws -> DatabaseQueue {
        do {
            let queue = try DatabaseQueue(path: file.path, configuration: JournalReader.configuration)
            try queue.read { try JournalSchema.check($0, file: file) }
            try queue.close()
            return queue
        } catch let error as DatabaseError
            where error.resultCode == .SQLITE_READONLY || error.resultCode == .SQLITE_CANTOPEN
        {
            // A crash before the log exists leaves a state that only a writing connection can repair.
            let queue = try DatabaseQueue(path: file.path, configuration: configuration)
            try queue.unsafeRead { try JournalSchema.check($0, file: file) }
            try queue.close()
            return queue
        }
    }

    private static var configuration: Configuration {
        var configuration = Configuration()
        configuration.label = "Waft.Journal"
        configuration.foreignKeysEnabled = true
        // Readers do not block a writer, but a person with a database tool can.
        configuration.busyMode = .timeout(10)
        configuration.prepareDatabase { database in
            // The system has the pages in its cache too.
            try database.execute(
                sql: "PRAGMA synchronous = FULL; PRAGMA cell_size_check = ON; PRAGMA cache_size = -\(cacheKiB)")
        }
        return configuration
    }

    /// Memory for pages of the file.
    private static let cacheKiB = 1_000

    /// - Returns: the last assigned number.
    private static func makeReady(_ queue: DatabaseQueue) throws -> Int64 {
        try queue.writeWithoutTransaction { database in
            // The library's own setting is not used, because it also sets `synchronous = NORMAL`.
            guard try String.fetchOne(database, sql: "PRAGMA journal_mode = WAL") == "wal" else {
                throw JournalAccessError("could not open the journal: its file system takes no write-ahead log")
            }
            // This runs before the first table exists. A database with tables and without this id counts as another
            // program's; a crash between the first table and this statement would leave such a file.
            if try Int.fetchOne(database, sql: "PRAGMA application_id") == 0 {
                try database.execute(sql: "PRAGMA application_id = \(JournalSchema.applicationID)")
            }
            // Shortens a log that a long reader made grow.
            try database.execute(sql: "PRAGMA journal_size_limit = \(8 << 20)")
        }
        try JournalSchema.migrator.migrate(queue)
        try queue.read { try JournalSchema.checkColumns($0) }
        return try queue.read { database in
            try Int64.fetchOne(database, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'arrivals'") ?? 0
        }
    }

    /// Arrivals that an earlier process intended and never settled, by number. If the Inbox has an item with the
    /// recorded identity, the item was stored; otherwise it was not. The caller must `settle` each.
    package func unsettled() throws(JournalError) -> [UnsettledArrival] {
        try reading("could not read unfinished items") { database in
            let statement = try database.cachedStatement(
                sql:
                    "SELECT \(UnsettledRow.columns) FROM arrivals WHERE stored_name IS NULL AND number <= ? ORDER BY number"
            )
            return try Row.fetchCursor(statement, arguments: [self.lastOfEarlier])
                .readable(reporting: self.unreadable) { try UnsettledRow.unsettled($0) }
        }
    }

    /// Returns when all calls before this one have ended.
    package func ping() {
        queue.unsafeRead { _ in }
    }

    /// The numbers of deliveries that wait, are parked, and have failed.
    package func summary() throws(JournalError) -> (waiting: Int, parked: Int, failed: Int) {
        try reading("could not count the deliveries") { try JournalReader.summary($0) }
    }

    /// The numbers of sealed items whose delivery waits, by their protection.
    package func waitingSealed() throws(JournalError) -> [ProtectionClass: Int] {
        try reading("could not count the sealed items") { database in
            let rows = try Row.fetchAll(
                database,
                sql: "SELECT protection, count(*) FROM arrivals WHERE state = 'waiting' AND stored_name IS NOT NULL "
                    + "AND protection IS NOT NULL GROUP BY protection")
            var counts: [ProtectionClass: Int] = [:]
            for row in rows {
                if let protection = ProtectionClass(rawValue: row[0]) { counts[protection] = row[1] }
            }
            return counts
        }
    }

    /// Removes arrivals whose delivery is finished, with all their records. Never removes waiting or parked deliveries,
    /// nor the items themselves.
    ///
    /// - Parameters:
    ///   - kept: number of latest arrivals that are never removed.
    ///   - time: arrivals from this time on are never removed.
    /// - Returns: the number of removed arrivals.
    @discardableResult
    package func prune(keeping kept: Int, olderThan time: WallTime) throws(JournalError) -> Int {
        var removed = 0
        while true {
            // Several short transactions, so that arrivals in the meantime do not wait.
            let count = try writing("could not shorten the journal") { database in
                try database.execute(sql: Self.pruning, arguments: [time.milliseconds, max(kept, 0), Self.pruningBite])
                return database.changesCount
            }
            removed += count
            if count < Self.pruningBite { return removed }
        }
    }

    private static let pruningBite = 1_000
    private static let pruning = """
        DELETE FROM arrivals WHERE number IN (
            SELECT number FROM arrivals
            WHERE stored_name IS NOT NULL AND state NOT IN ('waiting', 'parked') AND arrived < ?
                AND number NOT IN (SELECT number FROM arrivals ORDER BY number DESC LIMIT ?)
            LIMIT ?
        )
        """

    // MARK: - Transactions

    /// Reads through the writing connection, in sequence with its writes.
    ///
    /// - Parameter doing: names the failed action if `body` throws: `could not …`.
    func reading<Result>(_ doing: String, _ body: (Database) throws -> Result) throws(JournalError) -> Result {
        // `read` is not used: it sets a PRAGMA, after which SQLite compiles every statement again.
        do {
            return try queue.unsafeRead(body)
        } catch {
            throw noted(JournalAccessError(error, doing: doing, file: file)).journalError
        }
    }

    private func noted(_ trouble: JournalAccessError) -> JournalAccessError {
        if trouble.isDamage { firstDamage.withLock { $0 = $0 ?? trouble.line } }
        return trouble
    }

    /// Runs `body` in one transaction: on the disk when this returns, rolled back if `body` throws.
    func changing<Result>(_ doing: String, _ body: (Database) throws -> Result) throws(JournalAccessError) -> Result {
        do { return try queue.write(body) } catch { throw noted(JournalAccessError(error, doing: doing, file: file)) }
    }

    /// Same as `changing`, with another error type.
    func writing<Result>(_ doing: String, _ body: (Database) throws -> Result) throws(JournalError) -> Result {
        do throws(JournalAccessError) { return try changing(doing, body) } catch { throw error.journalError }
    }
}

extension RowCursor {
    /// Reads every row and skips damaged ones, so that one damaged row does not make all others unreachable.
    ///
    /// - Parameters:
    ///   - limit: maximum number of returned elements.
    ///   - isWanted: selects the returned elements.
    func readable<Element>(
        limit: Int = .max, where isWanted: (Element) -> Bool = { _ in true },
        reporting unreadable: (JournalError) -> Void, _ read: (Row) throws -> Element
    ) throws -> [Element] {
        var elements: [Element] = []
        while elements.count < limit, let row = try next() {
            do {
                let element = try read(row)
                if isWanted(element) { elements.append(element) }
            } catch let error as UnreadableRowError {
                unreadable(JournalError(error.line))
            }
        }
        return elements
    }
}
