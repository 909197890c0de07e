import GRDB
package import Sharing

extension Journal {
    package func intend(_ arrivals: [IntendedArrival]) throws(TransferError) -> [ArrivalNumber] {
        if arrivals.isEmpty { return [] }
        let time = now()
        do throws(JournalAccessError) {
            guard place.isKept else { throw JournalAccessError(Self.placeLost, code: .noRoom) }
            return try changing("could not record the arriving items") { database in
                let insertion = try database.cachedStatement(sql: ArrivalRow.insertion)
                // One for all items of an offer, as a rule.
                var (annotation, json) = ([String: String](), "{}")
                return try arrivals.map { arrival in
                    if arrival.facts.annotation != annotation {
                        annotation = arrival.facts.annotation
                        json = try WrittenText.json(annotation)
                    }
                    try insertion.execute(
                        arguments: ArrivalRow.arguments(arrival, annotation: json, at: time, self.dialects))
                    return ArrivalNumber(database.lastInsertedRowID)
                }
            }
        } catch {
            throw error.transferError
        }
    }

    package func sendAgain(
        _ facts: ArrivalFacts, of holder: ArrivalNumber, isDelivered: Bool
    ) throws(TransferError) -> Arrival {
        let arrival = IntendedArrival(facts: facts, identity: nil, isDelivered: isDelivered)
        let time = now()
        do throws(JournalAccessError) {
            guard place.isKept else { throw JournalAccessError(Self.placeLost, code: .noRoom) }
            let recorded = try changing("could not record an item that was sent again") { database -> Arrival? in
                guard let item = try JournalReader.entry(holder, self.dialects, in: database)?.arrival,
                    try JournalReader.isThere(holder, in: database)
                else { return nil }
                try database.cachedStatement(sql: ArrivalRow.insertion)
                    .execute(
                        arguments: ArrivalRow.arguments(
                            arrival, annotation: try WrittenText.json(facts.annotation), at: time, self.dialects))
                let number = ArrivalNumber(database.lastInsertedRowID)
                try database.cachedStatement(
                    sql: "UPDATE arrivals SET again = ?, stored_name = ?, stored_path = ? WHERE number = ?"
                ).execute(arguments: [holder.value, item.stored.name.text, item.stored.path, number.value])
                return Arrival(number: number, facts: facts, stored: item.stored, again: holder)
            }
            if let recorded { return recorded }
        } catch {
            throw error.transferError
        }
        throw TransferError(.notKept, "\(facts.item.name) has left the Inbox")
    }

    package func arrivals(of transfer: TransferID, from peer: PeerID) throws(JournalError) -> [Arrival] {
        try reading("could not read the received items of a transfer") { database in
            let statement = try database.cachedStatement(
                sql: "SELECT \(ArrivalRow.columns) FROM arrivals "
                    + "WHERE transfer = ? AND peer = ? AND stored_name IS NOT NULL ORDER BY number")
            return try Row.fetchCursor(statement, arguments: [transfer.text, peer.bareText])
                .readable(reporting: self.unreadable) { try ArrivalRow.entry($0, self.dialects).arrival }
        }
    }

    /// Names for one statement of `known`: it takes memory for each.
    private static let namesAtOnce = 1_000

    package func known(_ names: Set<SafeName>, from peer: PeerID) throws(JournalError) -> Set<SafeName> {
        try reading("could not look for earlier items") { database in
            let statement = try database.cachedStatement(
                sql: "SELECT value FROM json_each(?) WHERE EXISTS "
                    + "(SELECT 1 FROM arrivals WHERE name = value AND peer = ? AND stored_name IS NOT NULL)")
            var (found, rest) = (Set<String>(), names.map(\.text)[...])
            while !rest.isEmpty {
                let part = Array(rest.prefix(Self.namesAtOnce))
                rest = rest.dropFirst(part.count)
                try found.formUnion(
                    String.fetchCursor(statement, arguments: [try WrittenText.json(part), peer.bareText]))
            }
            return names.filter { found.contains($0.text) }
        }
    }

    /// Arrivals of one name, size and peer that are looked at, at most. A peer decides how many there are, and offers may
    /// ask for thousands of items.
    static let maximumEarlier = 64

    package func earlier(
        _ item: OfferedItem, from peer: PeerID, limit: Int
    ) throws(JournalError) -> [Arrival] {
        guard let size = item.size else { return [] }
        return try reading("could not read earlier items") { database in
            let statement = try database.cachedStatement(
                sql: "SELECT \(ArrivalRow.columns) FROM (SELECT * FROM arrivals "
                    + "WHERE peer = ?1 AND name = ?2 AND size = ?4 ORDER BY number DESC LIMIT \(Self.maximumEarlier)"
                    + ") AS latest WHERE kind = ?3 AND entries = ?5 "
                    + "AND stored_name IS NOT NULL AND NOT EXISTS (SELECT 1 FROM arrivals AS later "
                    + "WHERE later.again = coalesce(latest.again, latest.number) AND later.number > latest.number) "
                    + "ORDER BY number DESC")
            let arguments: StatementArguments = [
                peer.bareText, item.name.text, item.kind.rawValue, Int64(bitPattern: size),
                Int64(bitPattern: item.entries ?? 0),
            ]
            return try Row.fetchCursor(statement, arguments: arguments)
                .readable(limit: limit, reporting: self.unreadable) { try ArrivalRow.entry($0, self.dialects).arrival }
        }
    }

    package func deliveryState(of number: ArrivalNumber) throws(JournalError) -> DeliveryState? {
        try reading("could not read the state of a delivery") { database in
            let statement = try database.cachedStatement(sql: "SELECT state FROM arrivals WHERE number = ?")
            return try String.fetchOne(statement, arguments: [number.value]).flatMap(DeliveryState.init)
        }
    }

    package func settle(_ outcomes: [(number: ArrivalNumber, stored: StoredItem?)]) throws(TransferError) {
        if outcomes.isEmpty { return }
        do throws(JournalAccessError) {
            try changing("could not record a received item") { database in
                let settling = try database.cachedStatement(
                    sql: "UPDATE arrivals SET stored_name = ?, stored_path = ? WHERE number = ? AND stored_name IS NULL"
                )
                let forgetting = try database.cachedStatement(
                    sql: "DELETE FROM arrivals WHERE number = ? AND stored_name IS NULL")
                for (number, stored) in outcomes {
                    if let stored {
                        try settling.execute(arguments: [stored.name.text, stored.path, number.value])
                    } else {
                        try forgetting.execute(arguments: [number.value])
                    }
                    guard database.changesCount == 1 else {
                        throw JournalAccessError("arrival \(number) does not wait to be settled")
                    }
                }
            }
        } catch {
            throw error.transferError
        }
    }
}
