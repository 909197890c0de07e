import GRDB
package import Sharing

extension Journal {
    package func waiting() throws(JournalError) -> [WaitingDelivery] {
        try reading("could not read the waiting deliveries") { database in
            let statement = try database.cachedStatement(
                sql: "SELECT \(DeliveryRow.columns) FROM arrivals "
                    + "WHERE state = 'waiting' AND stored_name IS NOT NULL ORDER BY number")
            return try Row.fetchCursor(statement).readable(reporting: self.unreadable) { try DeliveryRow.delivery($0) }
        }
    }

    package func arrival(_ number: ArrivalNumber) throws(JournalError) -> Arrival? {
        try reading("could not read arrival \(number)") {
            try JournalReader.entry(number, self.dialects, in: $0)?.arrival
        }
    }

    package func isThere(_ number: ArrivalNumber) throws(JournalError) -> Bool {
        try reading("could not read whether item \(number) is in the Inbox") {
            try JournalReader.isThere(number, in: $0)
        }
    }

    package func began(
        _ numbers: [ArrivalNumber], handler: String, isAsked: Bool, at time: WallTime
    ) throws(JournalError) -> [Int] {
        if numbers.isEmpty { return [] }
        return try writing("could not record the call of a handler") { database in
            let counting = try database.cachedStatement(
                sql: "UPDATE arrivals SET attempts = attempts + 1 "
                    + "WHERE number = ? AND stored_name IS NOT NULL RETURNING attempts")
            let inserting = try database.cachedStatement(
                sql: "INSERT INTO attempts (arrival, number, handler, began, asked) VALUES (?, ?, ?, ?, ?)")
            let handler = WrittenText.value(handler)
            return try numbers.map { number in
                guard let attempt = try Int.fetchOne(counting, arguments: [number.value]) else {
                    throw Self.missing(number)
                }
                try inserting.execute(arguments: [number.value, attempt, handler, time.milliseconds, isAsked])
                if attempt > Self.keptAttempts { try Self.trim(number, latest: attempt, in: database) }
                return attempt
            }
        }
    }

    /// Keeps the first attempt and the latest ones.
    private static func trim(_ number: ArrivalNumber, latest: Int, in database: Database) throws {
        try database.cachedStatement(sql: "DELETE FROM attempts WHERE arrival = ? AND number > 1 AND number <= ?")
            .execute(arguments: [number.value, latest - (keptAttempts - 1)])
    }

    package func ended(
        _ numbers: [ArrivalNumber], _ outcome: AttemptOutcome, next: DeliveryStep, at time: WallTime
    ) throws(JournalError) {
        if numbers.isEmpty { return }
        try writing("could not record the end of a handler's call") { database in
            // Only the latest attempt can be under way: an older one without an end was cut off by a crash.
            let ending = try database.cachedStatement(
                sql: """
                    UPDATE attempts
                    SET ended = ?, answer = ?, exit_code = ?, signal = ?, reason = ?, standard_error = ?
                    WHERE arrival = ? AND ended IS NULL
                        AND number = (SELECT attempts FROM arrivals WHERE number = ?)
                    """)
            let reason = WrittenText.value(WrittenText.beginning(outcome.reason, bytes: AttemptRow.reasonBytes))
            let standardError = WrittenText.value(
                WrittenText.end(outcome.standardError, bytes: AttemptOutcome.standardErrorBytes))
            for number in numbers {
                try ending.execute(arguments: [
                    time.milliseconds, outcome.answer.rawValue, outcome.exitCode, outcome.signal, reason,
                    standardError, number.value, number.value,
                ])
                guard database.changesCount == 1 else {
                    throw JournalAccessError("no attempt is under way for arrival \(number)")
                }
                try Self.go(to: next, number, at: time, in: database)
            }
        }
    }

    private static func go(
        to step: DeliveryStep, _ number: ArrivalNumber, at time: WallTime, in database: Database
    ) throws {
        switch step {
        case .deferred(let until, let since, let deferrals):
            try change(
                number, "state = 'waiting', due = ?, deferred_since = ?, deferrals = ?",
                [until.milliseconds, since.milliseconds, deferrals], in: database)
        case .refused(let handler):
            let statement = try database.cachedStatement(
                sql: "SELECT \(DeliveryRow.columns) FROM arrivals WHERE number = ?")
            guard let row = try Row.fetchOne(statement, arguments: [number.value]) else { throw missing(number) }
            var refusedBy = try DeliveryRow.delivery(row).refusedBy
            if !refusedBy.contains(handler) { refusedBy.append(handler) }
            try change(
                number, "state = 'waiting', due = ?, refused_by = ?",
                [time.milliseconds, try WrittenText.json(refusedBy)], in: database)
        case .again:
            try change(number, "state = 'waiting', due = ?", [time.milliseconds], in: database)
        case .unchanged: break
        case .ended(let state):
            try change(number, "state = ?", [state.rawValue], in: database)
        }
    }

    package func end(_ numbers: [ArrivalNumber], as state: DeliveryState) throws(JournalError) {
        if numbers.isEmpty { return }
        try writing("could not record the end of a delivery") { database in
            for number in numbers { try Self.change(number, "state = ?", [state.rawValue], in: database) }
        }
    }

    package func retry(_ number: ArrivalNumber, at time: WallTime) throws(JournalError) -> WaitingDelivery? {
        try writing("could not restart the delivery of item \(number)") { database in
            // The entry is read first: a row that cannot be read cannot be delivered, and stays unchanged.
            guard let entry = try JournalReader.entry(number, self.dialects, in: database) else { return nil }
            try Self.change(
                number, "state = 'waiting', due = ?, deferred_since = NULL, deferrals = 0, refused_by = '[]'",
                [time.milliseconds], in: database)
            return WaitingDelivery(
                number: number, transfer: entry.arrival.transfer, peer: entry.arrival.peer, due: time,
                attempts: entry.attemptCount)
        }
    }

    /// Changes one arrival that is settled.
    ///
    /// - Parameter assignments: a literal, so that statements can be kept.
    private static func change(
        _ number: ArrivalNumber, _ assignments: String, _ arguments: StatementArguments, in database: Database
    ) throws {
        try database.cachedStatement(
            sql: "UPDATE arrivals SET \(assignments) WHERE number = ? AND stored_name IS NOT NULL"
        ).execute(arguments: arguments + [number.value])
        guard database.changesCount == 1 else { throw missing(number) }
    }

    private static func missing(_ number: ArrivalNumber) -> JournalAccessError {
        JournalAccessError("there is no stored item \(number)")
    }
}
