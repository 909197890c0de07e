import GRDB

/// The tables and their migrations. A released migration never changes.
enum JournalSchema {
    /// Marks a database as a journal of Waft: `Waft` in ASCII.
    static let applicationID = 0x5761_6674

    /// Throws a `JournalAccessError` if the database is damaged, of another program, or from a newer version of Waft.
    /// Changes nothing.
    static func check(_ database: Database, file: JournalFile) throws {
        if let damage = try String.fetchOne(database, sql: "PRAGMA quick_check(1)"), damage != "ok" {
            throw JournalAccessError(
                "could not open the journal: \(file.path) is damaged "
                    + "(\(damage.split(whereSeparator: \.isNewline).joined(separator: " "))): \(file.remedy)",
                isDamage: true)
        }
        _ = try version(database, file: file)
    }

    /// The last applied migration; nil for an empty database.
    ///
    /// - Throws: same as `check`, but does not check every page.
    static func version(_ database: Database, file: JournalFile) throws -> String? {
        let isEmpty = try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_master") == 0
        let application = try Int.fetchOne(database, sql: "PRAGMA application_id")
        guard isEmpty || application == applicationID else {
            throw JournalAccessError(
                "could not open the journal: \(file.path) is a database of another program: \(file.remedy)",
                isDamage: true)
        }
        guard try !migrator.hasBeenSuperseded(database) else {
            throw JournalAccessError(
                "could not open the journal: \(file.path) was written by a newer version of Waft: "
                    + "use that one, or \(file.wayOut)")
        }
        return try migrator.completedMigrations(database).last
    }

    /// Throws a `DatabaseError` if a table or column is missing.
    static func checkColumns(_ database: Database) throws {
        for (columns, table) in [
            (ArrivalRow.columns, "arrivals"), (UnsettledRow.columns, "arrivals"), (AttemptRow.columns, "attempts"),
        ] {
            _ = try database.makeStatement(sql: "SELECT \(columns) FROM \(table)")
        }
    }

    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { database in try database.execute(sql: first) }
        migrator.registerMigration("2") { database in try database.execute(sql: second) }
        migrator.registerMigration("dialect") { database in try database.execute(sql: dialect) }
        migrator.registerMigration("departures") { database in try database.execute(sql: departures) }
        migrator.registerMigration("again") { database in try database.execute(sql: again) }
        migrator.registerMigration("days") { database in try database.execute(sql: days) }
        migrator.registerMigration("inboxes") { database in try database.execute(sql: inboxes) }
        migrator.registerMigration("order") { database in try database.execute(sql: order) }
        migrator.registerMigration("asked") { database in try database.execute(sql: asked) }
        migrator.registerMigration("protection") { database in try database.execute(sql: protection) }
        migrator.registerMigration("resealings") { database in try database.execute(sql: resealings) }
        migrator.registerMigration("proof") { database in try database.execute(sql: proof) }
        migrator.registerMigration("occupancy") { database in try database.execute(sql: occupancy) }
        migrator.registerMigration("calls") { database in try database.execute(sql: calls) }
        migrator.registerMigration("own digest") { database in try database.execute(sql: ownDigest) }
        migrator.registerMigration("sizes") { database in try database.execute(sql: sizes) }
        return migrator
    }

    // Sizes beyond the range of SQLite's integers are stored as their bit patterns. Columns of type ANY hold foreign
    // text: TEXT, or a BLOB of UTF-8 if the text contains a NUL, which would cut a TEXT.
    private static let first = """
        PRAGMA application_id = \(applicationID);

        CREATE TABLE arrivals (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            arrived INTEGER NOT NULL,
            transfer TEXT NOT NULL,
            item_number INTEGER NOT NULL,
            items_in_offer INTEGER NOT NULL,
            kind TEXT NOT NULL,
            name TEXT NOT NULL,
            type TEXT NOT NULL,
            offered_size INTEGER,
            entries INTEGER NOT NULL,
            size INTEGER NOT NULL,
            digest TEXT NOT NULL,
            peer TEXT NOT NULL,
            sender_name ANY NOT NULL,
            annotation TEXT NOT NULL,
            content_outcome TEXT,
            content_type TEXT,
            content_explanation ANY,
            -- What it is on its file system.
            device INTEGER,
            inode INTEGER,
            -- Where it came to lie; null until that is settled.
            stored_name TEXT,
            stored_path TEXT,
            -- Its delivery.
            state TEXT NOT NULL,
            due INTEGER NOT NULL,
            deferred_since INTEGER,
            deferrals INTEGER NOT NULL,
            attempts INTEGER NOT NULL,
            refused_by TEXT NOT NULL
        ) STRICT;

        CREATE INDEX arrivals_unsettled ON arrivals (number) WHERE stored_name IS NULL;
        CREATE INDEX arrivals_waiting ON arrivals (number) WHERE state = 'waiting';
        CREATE INDEX arrivals_parked ON arrivals (number) WHERE state = 'parked';
        CREATE INDEX arrivals_failed ON arrivals (number) WHERE state = 'failed';
        CREATE INDEX arrivals_by_stored_name ON arrivals (stored_name) WHERE stored_name IS NOT NULL;

        CREATE TABLE attempts (
            arrival INTEGER NOT NULL REFERENCES arrivals (number) ON DELETE CASCADE,
            number INTEGER NOT NULL,
            handler ANY NOT NULL,
            began INTEGER NOT NULL,
            -- Null until it has ended, and for ever where the machine or the receiver died.
            ended INTEGER,
            answer TEXT,
            exit_code INTEGER,
            signal INTEGER,
            reason ANY,
            standard_error ANY,
            PRIMARY KEY (arrival, number)
        ) STRICT, WITHOUT ROWID;
        """

    // The protocol of the arrival. Null means Waft's own, which was once the only one.
    private static let dialect = "ALTER TABLE arrivals ADD COLUMN dialect TEXT;"

    // For the sum of the bytes received in a day.
    private static let days = "CREATE INDEX arrivals_by_time ON arrivals (arrived);"

    // The index finds the earlier arrivals of a repeated transfer.
    private static let again = """
        CREATE INDEX arrivals_by_transfer ON arrivals (transfer);
        CREATE INDEX arrivals_by_name_and_peer ON arrivals (name, peer);
        """

    // `sent_digest`: the sender's digest of a tree whose order of arrival was not the order by bytes. `entries_came`:
    // the number of received entries; the offered one may differ. Both are null in older arrivals, whose digest is over
    // the order of arrival.
    private static let order = """
        ALTER TABLE arrivals ADD COLUMN sent_digest TEXT;
        ALTER TABLE arrivals ADD COLUMN entries_came INTEGER;
        """

    // The target by the user's rules: a folder below the Inbox, a handler. Null means the default.
    private static let second = """
        ALTER TABLE arrivals ADD COLUMN folder TEXT;
        ALTER TABLE arrivals ADD COLUMN handler TEXT;
        """

    /// Whether a person asked for the attempt, with this handler.
    private static let asked = "ALTER TABLE attempts ADD COLUMN asked INTEGER NOT NULL DEFAULT 0"

    /// The known Inbox of each path.
    private static let inboxes = """
        CREATE TABLE inboxes (
            path ANY NOT NULL PRIMARY KEY,
            id TEXT NOT NULL,
            device INTEGER NOT NULL,
            inode INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        """

    /// How the item is sealed on the disk, null if it is not; and the digests of its contents, sealed.
    private static let protection = """
        ALTER TABLE arrivals ADD COLUMN protection TEXT;
        ALTER TABLE arrivals ADD COLUMN sealed_contents BLOB;
        """

    /// New forms of items whose protection is being changed.
    private static let resealings = """
        CREATE TABLE resealings (
            number INTEGER PRIMARY KEY REFERENCES arrivals (number) ON DELETE CASCADE,
            protection TEXT NOT NULL,
            digest TEXT NOT NULL,
            sent_digest TEXT,
            sealed_contents BLOB,
            device INTEGER NOT NULL,
            inode INTEGER NOT NULL
        ) STRICT;
        """

    /// Whether the sender proved a key, in a protocol that does not demand it; null where the protocol decides.
    private static let proof = """
        ALTER TABLE arrivals ADD COLUMN proved INTEGER;
        """

    /// The sum of `Footprint` over each peer's items in the Inbox, which triggers keep. It saturates far below the range of
    /// SQLite's integers, beyond which a sum would become a floating-point number.
    private static let occupancy = """
        CREATE TABLE occupancy (peer TEXT NOT NULL PRIMARY KEY, bytes INTEGER NOT NULL) STRICT, WITHOUT ROWID;

        INSERT INTO occupancy (peer, bytes)
        SELECT peer, min(CAST(total(\(footprint(""))) AS INTEGER), \(most))
        FROM arrivals WHERE \(DepartureRow.isThere) GROUP BY peer;

        \(triggers { footprint($0) })
        """

    /// The sender's digest of a tree with executable files on a disk that keeps no executable bits: `digest` has none.
    private static let ownDigest = "ALTER TABLE arrivals ADD COLUMN own_digest TEXT;"

    /// The index finds the earlier arrivals of an item that a sender offers, however many others have its name.
    private static let sizes = """
        DROP INDEX arrivals_by_name_and_peer;
        CREATE INDEX arrivals_by_name_peer_and_size ON arrivals (name, peer, size);
        """

    /// `again`: the arrival that stored the item, of one that only calls for it again. In the occupancy such a call counts
    /// as an empty file.
    private static let calls = """
        ALTER TABLE arrivals ADD COLUMN again INTEGER;
        CREATE INDEX arrivals_by_again ON arrivals (again) WHERE again IS NOT NULL;

        DROP TRIGGER occupancy_comes;
        DROP TRIGGER occupancy_goes;
        DROP TRIGGER occupancy_stays;
        DROP TRIGGER occupancy_changes;
        \(triggers { "(CASE WHEN \($0)again IS NULL THEN \(footprint($0)) ELSE 16384 END)" })
        """

    /// - Parameter footprint: that of a row, by the prefix of its columns.
    private static func triggers(_ footprint: (String) -> String) -> String {
        let (added, removed) = (added(footprint("NEW.")), removed(footprint("OLD.")))
        return """
            CREATE TRIGGER occupancy_comes AFTER INSERT ON arrivals WHEN \(isThere("NEW.")) BEGIN \(added) END;
            CREATE TRIGGER occupancy_goes AFTER DELETE ON arrivals WHEN \(isThere("OLD.")) BEGIN \(removed) END;
            CREATE TRIGGER occupancy_stays AFTER UPDATE OF stored_name, left_how, state, size, entries_came, peer ON arrivals
            WHEN \(isThere("OLD.")) BEGIN \(removed) END;
            CREATE TRIGGER occupancy_changes AFTER UPDATE OF stored_name, left_how, state, size, entries_came, peer ON arrivals
            WHEN \(isThere("NEW.")) BEGIN \(added) END;
            """
    }

    private static let most = "4000000000000000000"
    private static func added(_ footprint: String) -> String {
        """
        INSERT INTO occupancy (peer, bytes) VALUES (NEW.peer, \(footprint))
        ON CONFLICT (peer) DO UPDATE SET bytes = min(bytes + excluded.bytes, \(most));
        """
    }
    private static func removed(_ footprint: String) -> String {
        """
        UPDATE occupancy SET bytes = max(bytes - \(footprint), 0) WHERE peer = OLD.peer;
        DELETE FROM occupancy WHERE peer = OLD.peer AND bytes = 0;
        """
    }

    /// - Parameter row: the prefix of the columns.
    private static func isThere(_ row: String) -> String {
        "\(row)stored_name IS NOT NULL AND \(row)left_how IS NULL AND \(row)state != 'gone'"
    }

    /// An item's `Footprint`. Its size and entries may be the bit patterns of numbers that SQLite does not have.
    private static func footprint(_ row: String) -> String {
        let entries = "coalesce(\(row)entries_came, \(row)entries)"
        let size = "CASE WHEN \(row)size BETWEEN 0 AND 1000000000000000000 THEN \(row)size ELSE 1000000000000000000 END"
        return "(\(size)"
            + " + 16384 * CASE WHEN \(entries) BETWEEN 0 AND 10000000000000 THEN max(\(entries), 1) "
            + "ELSE 10000000000000 END)"
    }

    /// How items left the Inbox; null if no departure is recorded.
    private static let departures = """
        ALTER TABLE arrivals ADD COLUMN left_how TEXT;
        ALTER TABLE arrivals ADD COLUMN left_at INTEGER;
        ALTER TABLE arrivals ADD COLUMN left_toward ANY;

        CREATE INDEX arrivals_there ON arrivals (peer, number) WHERE \(DepartureRow.isThere);
        """
}
