import Foundation
import GRDB
package import Sharing
private import Synchronization

/// What must survive a crash: what has arrived, and how far its delivery to handlers has come.
///
/// SQLite with a write-ahead log and `synchronous = FULL`: what a call has written is on the disk when it returns, and a
/// crash at any point leaves all of it or nothing. There is one writer of a folder at a time; any number of
/// `JournalReader`s, in other processes too, read meanwhile.
///
/// All calls block on the disk, one after the other.
package final class Journal: ArrivalJournal, DeliveryJournal, Sendable {
    /// Attempts that are kept of one arrival: the first one, and the latest.
    package static let keptAttempts = 64

    let file: JournalFile
    let queue: DatabaseQueue
    /// Kept for nothing but that it is not given back: that takes a thread of libdispatch's, whose monitor then wakes up
    /// each second for as long as the process lives.
    private let closed: DatabaseQueue
    let now: @Sendable () -> WallTime
    let unreadable: @Sendable (JournalFault) -> Void
    /// The last arrival that an earlier process wrote down.
    private let lastOfEarlier: Int64
    let place: JournalPlace
    /// Held for as long as the connection is open.
    private let lock: JournalLock
    private let firstDamage = Mutex<String?>(nil)

    /// One line if a read or write since the opening has found damage. From then on all calls that need the journal
    /// fail, nothing is stored, and the next start moves the file aside.
    package var damage: String? { firstDamage.withLock { $0 } }

    /// Opens the journal in a folder, or makes an empty one; the folder too where it is not there.
    ///
    /// - Parameters:
    ///   - folder: an absolute path, without a slash at its end.
    ///   - now: the time at which things arrive; by default what the system's clock says.
    ///   - unreadable: called for each row that a list passes over because its values cannot be what was written; from
    ///     the thread of the call, which must not use the journal meanwhile.
    /// - Throws: where it cannot be opened, another process is using it, it is damaged, not a journal, or from a newer
    ///   version. It is then left as it was.
    package convenience init(
        folder: String,
        now: (@Sendable () -> WallTime)? = nil,
        unreadable: @escaping @Sendable (JournalFault) -> Void = { _ in }
    ) throws(JournalFault) {
        do throws(JournalTrouble) {
            try self.init(opening: JournalFile(folder: folder), now: now ?? { .now }, unreadable: unreadable)
        } catch {
            throw error.journalFault
        }
    }

    /// - Parameter lock: the lock that the caller holds; nil takes it.
    init(
        opening file: JournalFile,
        lock: JournalLock? = nil,
        now: @escaping @Sendable () -> WallTime,
        unreadable: @escaping @Sendable (JournalFault) -> Void
    ) throws(JournalTrouble) {
        self.file = file
        self.now = now
        self.unreadable = unreadable
        try file.prepare()
        if let lock { self.lock = lock } else { self.lock = try JournalLock(file) }
        do {
            closed = try Self.inspect(file)
            queue = try DatabaseQueue(path: file.path, configuration: Self.configuration)
            lastOfEarlier = try Self.makeReady(queue)
            place = JournalPlace(of: file)
        } catch {
            throw JournalTrouble(error, doing: "could not open the journal", file: file, isOpening: true)
        }
    }

    /// Looks at the whole file by a connection that cannot change it: the writing one would, when it is closed, move the
    /// log into a file that is perhaps not ours.
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
            // A crash in the very beginning, before there was a log, is only mended by a connection that may write.
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
        // Readers do not hold a writer up; what could is a person with a database tool.
        configuration.busyMode = .timeout(10)
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA synchronous = FULL; PRAGMA cell_size_check = ON")
        }
        return configuration
    }

    /// - Returns: the last number that was given.
    private static func makeReady(_ queue: DatabaseQueue) throws -> Int64 {
        try queue.writeWithoutTransaction { database in
            // Not by the library's own setting, which sets `synchronous = NORMAL` with it.
            guard try String.fetchOne(database, sql: "PRAGMA journal_mode = WAL") == "wal" else {
                throw JournalTrouble("could not open the journal: its file system takes no write-ahead log")
            }
            // Before there is a table in it: one with tables that does not say that it is ours is another program's, and so
            // would be what a crash between the first table and this left.
            if try Int.fetchOne(database, sql: "PRAGMA application_id") == 0 {
                try database.execute(sql: "PRAGMA application_id = \(JournalSchema.applicationID)")
            }
            // A log that a long reader made grow is cut back.
            try database.execute(sql: "PRAGMA journal_size_limit = \(8 << 20)")
        }
        try JournalSchema.migrator.migrate(queue)
        try queue.read { try JournalSchema.checkColumns($0) }
        return try queue.read { database in
            try Int64.fetchOne(database, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'arrivals'") ?? 0
        }
    }

    /// Arrivals that an earlier process intended and never settled, by number: what is found in the Inbox by its
    /// identity is there, and the rest never came to be there. They wait for `settle`.
    package func unsettled() throws(JournalFault) -> [UnsettledArrival] {
        try reading("could not read unfinished items") { database in
            let statement = try database.cachedStatement(
                sql:
                    "SELECT \(UnsettledRow.columns) FROM arrivals WHERE stored_name IS NULL AND number <= ? ORDER BY number"
            )
            return try Row.fetchCursor(statement, arguments: [self.lastOfEarlier])
                .readable(reporting: self.unreadable) { try UnsettledRow.unsettled($0) }
        }
    }

    /// How many deliveries wait, are parked, and have failed.
    package func summary() throws(JournalFault) -> (waiting: Int, parked: Int, failed: Int) {
        try reading("could not count the deliveries") { try JournalReader.summary($0) }
    }

    /// Removes arrivals whose delivery is finished, with all that is known of them; never what waits or is parked, nor
    /// the things themselves.
    ///
    /// - Parameters:
    ///   - kept: so many of the latest arrivals are left, whatever they are.
    ///   - time: what arrived then or later is left.
    /// - Returns: how many were removed.
    @discardableResult
    package func prune(keeping kept: Int, olderThan time: WallTime) throws(JournalFault) -> Int {
        var removed = 0
        while true {
            // In bites, so that what arrives meanwhile does not wait.
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

    /// By the connection that writes, one after the other with what it writes.
    ///
    /// - Parameter doing: what failed to happen when `body` throws: `could not …`.
    func reading<Result>(_ doing: String, _ body: (Database) throws -> Result) throws(JournalFault) -> Result {
        // Not `read`: that says so to SQLite by a PRAGMA, whereupon it compiles every statement anew.
        do {
            return try queue.unsafeRead(body)
        } catch {
            throw noted(JournalTrouble(error, doing: doing, file: file)).journalFault
        }
    }

    private func noted(_ trouble: JournalTrouble) -> JournalTrouble {
        if trouble.isDamage { firstDamage.withLock { $0 = $0 ?? trouble.line } }
        return trouble
    }

    /// All of `body` or, when it throws, nothing; on the disk when this returns.
    func changing<Result>(_ doing: String, _ body: (Database) throws -> Result) throws(JournalTrouble) -> Result {
        do { return try queue.write(body) } catch { throw noted(JournalTrouble(error, doing: doing, file: file)) }
    }

    /// As `changing`.
    func writing<Result>(_ doing: String, _ body: (Database) throws -> Result) throws(JournalFault) -> Result {
        do throws(JournalTrouble) { return try changing(doing, body) } catch { throw error.journalFault }
    }
}

extension WallTime {
    /// The time by the system's clock.
    package static var now: WallTime {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return WallTime(milliseconds: Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000)
    }
}

extension RowCursor {
    /// Reads every row, but passes over those that cannot be read: one that is damaged must not make all others
    /// unreachable.
    ///
    /// - Parameters:
    ///   - limit: the most that are returned.
    ///   - isWanted: which are returned.
    func readable<Element>(
        limit: Int = .max, where isWanted: (Element) -> Bool = { _ in true },
        reporting unreadable: (JournalFault) -> Void, _ read: (Row) throws -> Element
    ) throws -> [Element] {
        var elements: [Element] = []
        while elements.count < limit, let row = try next() {
            do {
                let element = try read(row)
                if isWanted(element) { elements.append(element) }
            } catch let error as UnreadableRow {
                unreadable(JournalFault(error.line))
            }
        }
        return elements
    }
}
