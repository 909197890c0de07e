import GRDB
package import Sharing

extension Journal: AmountReading {
    package func received(from sender: AmountSender, on day: Day) throws(JournalError) -> UInt64 {
        try reading("could not count the bytes received in a day") {
            try DayAmounts.received(from: sender, on: day, in: $0)
        }
    }
}

extension JournalReader: AmountReading {
    package func received(from sender: AmountSender, on day: Day) throws(JournalError) -> UInt64 {
        try read(orElse: 0) { try DayAmounts.received(from: sender, on: day, in: $0) }
    }
}

private enum DayAmounts {
    static func received(from sender: AmountSender, on day: Day, in database: Database) throws -> UInt64 {
        let (whose, value) =
            switch sender {
            case .peer(let peer): ("peer = ?", peer.bareText)
            case .dialect(let dialect): ("dialect = ? AND proved IS NULL", dialect.name)
            }
        // `total` adds floating-point numbers, which cannot overflow; sizes are bit patterns.
        let statement = try database.cachedStatement(
            sql: "SELECT total(size) FROM arrivals "
                + "WHERE arrived > ? AND arrived <= ? AND \(whose) AND stored_name IS NOT NULL AND again IS NULL")
        let row = try Row.fetchOne(
            statement, arguments: [day.start.milliseconds, day.end.milliseconds, value])
        let bytes = row.flatMap { Double.fromDatabaseValue($0[0]) } ?? 0
        return UInt64(max(0, min(bytes, 1e19)))
    }
}
