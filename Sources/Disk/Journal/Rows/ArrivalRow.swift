import ContentCheck
import Digests
import Foundation
import GRDB
import Sharing
import UniformTypes

// The columns of a row, and the values read from them. The lists of columns and the readers below must match.

/// An arrival with its delivery.
enum ArrivalRow {
    static let columns = """
        number, transfer, item_number, items_in_offer, kind, name, type, offered_size, entries, size, digest, peer, \
        sender_name, annotation, content_outcome, content_type, content_explanation, stored_name, stored_path, \
        arrived, state, due, deferred_since, deferrals, attempts, refused_by, folder, handler, dialect, \
        sent_digest, entries_came, protection, sealed_contents, proved, again, own_digest, \(DepartureRow.columns)
        """

    static let insertion = """
        INSERT INTO arrivals (
            transfer, item_number, items_in_offer, kind, name, type, offered_size, entries, size, digest, peer,
            sender_name, annotation, content_outcome, content_type, content_explanation, device, inode,
            arrived, state, due, folder, handler, dialect, sent_digest, entries_came, protection, sealed_contents, proved,
            own_digest, deferrals, attempts, refused_by
        ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, '[]')
        """

    /// The values of `insertion`.
    /// - Parameter annotation: that of the arrival, as JSON.
    static func arguments(
        _ arrival: IntendedArrival, annotation: String, at time: WallTime, _ dialects: DialectTable
    ) -> StatementArguments {
        let facts = arrival.facts
        let state: DeliveryState = arrival.isDelivered ? .waiting : .none
        // Of this type: GRDB reads an array of any other through a key path, which takes as long as SQLite.
        let values: [(any DatabaseValueConvertible)?] = [
            facts.transfer.text.databaseValue, facts.itemNumber.databaseValue, facts.itemsInOffer.databaseValue,
            facts.item.kind.rawValue.databaseValue, facts.item.name.text.databaseValue,
            facts.item.type.identifier.databaseValue,
            facts.item.size.map { Int64(bitPattern: $0).databaseValue },
            // 0 if the sender of a tree does not know the number: no item has 0 entries.
            Int64(bitPattern: facts.item.entries ?? 0).databaseValue, Int64(bitPattern: facts.size).databaseValue,
            facts.digest.description.databaseValue, facts.peer.bareText.databaseValue,
            WrittenText.value(facts.senderName), annotation.databaseValue,
            facts.content?.outcome.rawValue.databaseValue, facts.content?.contentType?.identifier.databaseValue,
            facts.content.map { WrittenText.value($0.explanation) },
            arrival.identity.map { Int64(bitPattern: $0.device).databaseValue },
            arrival.identity.map { Int64(bitPattern: $0.inode).databaseValue },
            time.milliseconds.databaseValue, state.rawValue.databaseValue, time.milliseconds.databaseValue,
            facts.destination.folder?.text.databaseValue, facts.destination.handler?.databaseValue,
            facts.dialect == dialects.standard ? nil : facts.dialect.name.databaseValue,
            facts.sentDigest?.description.databaseValue, facts.entries.map { Int64(bitPattern: $0).databaseValue },
            facts.protection.isSealed ? facts.protection.rawValue.databaseValue : nil,
            facts.sealedContents.map { Data($0).databaseValue },
            facts.dialect.proof == .sometimes && facts.peer.unprovenBy == nil ? 1.databaseValue : nil,
            facts.ownDigest?.description.databaseValue,
        ]
        return StatementArguments(values)
    }

    static func entry(_ row: Row, _ dialects: DialectTable) throws(UnreadableRowError) -> JournalEntry {
        var columns = ColumnReader(row, "arrival")
        let number = ArrivalNumber(try columns.integer("number"))
        var facts = try facts(&columns, dialects)
        let stored = StoredItem(
            name: try columns.text("name in the Inbox", ColumnReader.safeName),
            path: try columns.text("path") { PathText.isAbsolute($0) ? $0 : nil })
        let arrived = WallTime(milliseconds: try columns.integer("time of arrival"))
        let state = try columns.text("state", DeliveryState.init(rawValue:))
        let waiting = try DeliveryRow.delivery(&columns, number: number, transfer: facts.transfer, peer: facts.peer)
        facts.destination = try destination(&columns)
        facts.dialect = try columns.optionalText("protocol") { dialects[$0] } ?? dialects.standard
        facts.sentDigest = try columns.optionalText("sender's digest") { Digest($0) }
        facts.entries = try columns.optionalBits("number of entries that came")
        if let protection = try columns.optionalText("protection", ProtectionClass.init(rawValue:)) {
            facts.destination = facts.destination.protected(as: protection)
        }
        facts.sealedContents = try columns.optionalBytes("sealed digests")
        let isProven = try columns.optionalInteger("proof") ?? (facts.dialect.provesKeys ? 1 : 0)
        facts.peer = facts.peer.visiting(by: facts.dialect, isProven: isProven == 1)
        let again = try columns.optionalInteger("item that was sent again").map(ArrivalNumber.init)
        facts.ownDigest = try columns.optionalText("sender's own digest") { Digest($0) }
        return JournalEntry(
            arrival: Arrival(number: number, facts: facts, stored: stored, again: again), arrived: arrived,
            state: state,
            waiting: state == .waiting ? waiting : nil, attemptCount: waiting.attempts, attempts: [],
            departure: try DepartureRow.departure(&columns))
    }

    private static func facts(
        _ columns: inout ColumnReader, _ dialects: DialectTable
    ) throws(UnreadableRowError) -> ArrivalFacts {
        let transfer = try columns.text("transfer") { TransferID($0) }
        let itemNumber = try columns.count("place in its offer")
        let itemsInOffer = try columns.count("offer's number of items")
        let item = try item(&columns)
        let size = try columns.bits("size")
        let digest = try columns.text("digest") { Digest($0) }
        let peer = try columns.text("peer", PeerID.init(bareText:))
        let senderName = try columns.text("sender's name")
        let annotation: [String: String] = try columns.json("annotation")
        return ArrivalFacts(
            transfer: transfer, itemNumber: itemNumber, itemsInOffer: itemsInOffer, item: item, size: size,
            digest: digest, peer: peer, senderName: senderName, annotation: annotation, content: try content(&columns),
            dialect: dialects.standard)
    }

    private static func destination(_ columns: inout ColumnReader) throws(UnreadableRowError) -> Destination {
        let folder = try columns.optionalText("folder") { try? SafeRelativePath($0) }
        let handler = try columns.optionalText("chosen handler", ColumnReader.safeName)
        return Destination(handler: handler, folder: folder)
    }

    private static func item(_ columns: inout ColumnReader) throws(UnreadableRowError) -> OfferedItem {
        OfferedItem(
            kind: try columns.text("kind", ItemKind.init(rawValue:)),
            name: try columns.text("name", ColumnReader.safeName),
            type: try columns.text("type") { UniformType($0) }, size: try columns.optionalBits("offered size"),
            entries: Self.known(try columns.bits("number of entries")))
    }

    private static func known(_ entries: UInt64) -> UInt64? { entries == 0 ? nil : entries }

    private static func content(_ columns: inout ColumnReader) throws(UnreadableRowError) -> ContentVerdict? {
        let outcome = try columns.optionalText("content's outcome", ContentVerdict.Outcome.init(rawValue:))
        let type = try columns.optionalText("content's type") { UniformType($0) }
        let explanation = try columns.optionalText("content's explanation")
        switch (outcome, explanation) {
        case (let outcome?, let explanation?): return ContentVerdict(outcome, type, explanation)
        case (nil, nil) where type == nil: return nil
        default: throw columns.unreadable("content's outcome")
        }
    }
}

extension ColumnReader {
    /// - Returns: nil for a name that is not safe.
    static func safeName(_ text: String) -> SafeName? { try? SafeName(text) }
}
