import GRDB
package import Sharing

extension Journal {
    @discardableResult
    package func departed(
        _ numbers: [ArrivalNumber], _ departure: Departure
    ) throws(JournalError) -> [ArrivalNumber] {
        if numbers.isEmpty { return [] }
        return try writing("could not record that an item left the Inbox") { database in
            // An item that has left needs no delivery any more.
            let statement = try database.cachedStatement(
                sql: """
                    UPDATE arrivals
                    SET left_how = ?1, left_at = ?2, left_toward = ?3,
                        state = CASE WHEN state IN ('waiting', 'parked') THEN 'gone' ELSE state END
                    WHERE stored_name IS NOT NULL AND left_how IS NULL AND (number = ?4 OR again = ?4)
                    """)
            let looking = try database.cachedStatement(
                sql: "SELECT coalesce(again, number) FROM arrivals WHERE number = ? AND stored_name IS NOT NULL")
            let toward = WrittenText.value(departure.toward)
            return try numbers.filter { number in
                guard let holder = try Int64.fetchOne(looking, arguments: [number.value]) else {
                    throw JournalAccessError("there is no stored item \(number)")
                }
                try statement.execute(arguments: [
                    departure.how.rawValue, departure.time.milliseconds, toward, holder,
                ])
                return database.changesCount > 0
            }
        }
    }

    /// As in `JournalReader`.
    package func placesThere() throws(JournalError) -> [JournaledItem] {
        try reading("could not read the places of the items") { try JournaledItemRow.places(in: $0, self.unreadable) }
    }

    /// Records that items have other names or lie elsewhere in the Inbox, in one transaction. An item whose place one of
    /// them has taken, and that was not moved itself, was removed by its user.
    package func moved(_ places: [ArrivalNumber: StoredItem], at time: WallTime) throws(JournalError) {
        if places.isEmpty { return }
        try writing("could not record the new name of an item") { database in
            // First out of each other's ways: two can have changed their names.
            let moving = try database.cachedStatement(
                sql: """
                    UPDATE arrivals SET stored_name = ?1, stored_path = ?2
                    WHERE \(DepartureRow.isThere) AND (number = ?3 OR again = ?3)
                    """)
            let replacing = try database.cachedStatement(
                sql: """
                    UPDATE arrivals
                    SET left_how = ?1, left_at = ?2, left_toward = '',
                        state = CASE WHEN state IN ('waiting', 'parked') THEN 'gone' ELSE state END
                    WHERE \(DepartureRow.isThere) AND stored_name = ?3 AND stored_path = ?4
                        AND coalesce(again, number) != ?5
                    """)
            for (number, stored) in places {
                try moving.execute(arguments: [stored.name.text, stored.path, number.value])
            }
            for (number, stored) in places {
                try replacing.execute(arguments: [
                    Departure.How.removed.rawValue, time.milliseconds, stored.name.text, stored.path, number.value,
                ])
            }
        }
    }

    /// Recorded bytes, by `Footprint`, of a peer's items in the Inbox. Constant in the number of its items.
    package func occupied(by peer: PeerID) throws(JournalError) -> UInt64 {
        try reading("could not read the items in the Inbox") { database in
            let statement = try database.cachedStatement(sql: "SELECT bytes FROM occupancy WHERE peer = ?")
            return UInt64(max(0, try Int64.fetchOne(statement, arguments: [peer.bareText]) ?? 0))
        }
    }

    /// Recorded bytes and entries of a peer's items in the Inbox, with their paths: users move items out by hand.
    package func lying(
        from peer: PeerID
    ) throws(JournalError) -> [(path: String, size: UInt64, entries: UInt64)] {
        try reading("could not read the items in the Inbox") { database in
            let statement = try database.cachedStatement(
                sql: "SELECT stored_path, iif(again IS NULL, size, 0), "
                    + "iif(again IS NULL, coalesce(entries_came, entries), 1) FROM arrivals "
                    + "WHERE peer = ? AND \(DepartureRow.isThere)")
            let rows = try Row.fetchCursor(statement, arguments: [peer.bareText])
            var lying: [(path: String, size: UInt64, entries: UInt64)] = []
            while let row = try rows.next() {
                // A row that cannot be read is not counted.
                guard let path = String.fromDatabaseValue(row[0]), let size = Int64.fromDatabaseValue(row[1]) else {
                    continue
                }
                let entries = Int64.fromDatabaseValue(row[2]).map { UInt64(bitPattern: $0) } ?? 0
                // 0 means unknown.
                lying.append((path: path, size: UInt64(bitPattern: size), entries: max(entries, 1)))
            }
            return lying
        }
    }
}

/// How an arrival left the Inbox.
enum DepartureRow {
    static let columns = "left_how, left_at, left_toward"

    /// A condition: the item is in the Inbox according to the journal. Migrations have it: it never changes.
    static let isThere = "stored_name IS NOT NULL AND left_how IS NULL AND state != 'gone'"

    /// The same, for the one arrival that stored the item.
    static let holdsItem = "\(isThere) AND again IS NULL"

    static func departure(_ columns: inout ColumnReader) throws(UnreadableRowError) -> Departure? {
        let how = try columns.optionalText("departure", Departure.How.init(rawValue:))
        let time = try columns.optionalInteger("time of departure")
        let toward = try columns.optionalText("place it went to")
        guard let how else { return nil }
        guard let time, let toward else { throw columns.unreadable("departure") }
        return Departure(how, at: WallTime(milliseconds: time), toward: toward)
    }
}
