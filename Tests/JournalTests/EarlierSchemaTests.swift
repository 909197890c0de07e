import Digests
import Foundation
import GRDB
import Sharing
import TestSupport
import Testing

@testable import Journal

@Suite("A journal of an earlier Waft")
struct EarlierSchemaTests {
    /// A value for each column that any Waft has had. A row has those of its time.
    private let values: [String: (any DatabaseValueConvertible)?] = [
        "number": 7, "arrived": 1_700_000_000_000, "transfer": "6f1d4cbd0a3e92b75c81f6d20e9a74c0", "item_number": 0,
        "items_in_offer": 2, "kind": "tree", "name": "notes", "type": "public.folder", "offered_size": 5, "entries": 3,
        "size": 5, "digest": "xxh3-128:b5e9c1ad071b3e7fc779cfaa5e523818", "peer": PeerID.sample(1).bareText,
        "sender_name": "study", "annotation": #"{"note":"hi"}"#, "content_outcome": nil, "content_type": nil,
        "content_explanation": nil, "device": 1, "inode": 2, "stored_name": "notes", "stored_path": "/Inbox/Work/notes",
        "state": "parked", "due": 1_700_000_000_001, "deferred_since": 1_700_000_000_000, "deferrals": 1, "attempts": 1,
        "refused_by": #"["org.example.no"]"#, "folder": "Work", "handler": "org.example.yes", "dialect": "airdrop",
        "left_how": nil, "left_at": nil, "left_toward": nil,
        "sent_digest": "xxh3-128:00000000000000000000000000000001", "entries_came": 3, "protection": "complete",
        "sealed_contents": Data([1]), "proved": nil,
        "again": nil, "own_digest": "sha-256:\(String(repeating: "0", count: 64))",
    ]

    @Test(
        "is opened and read as it is: what it does not say has its default",
        arguments: JournalSchema.migrator.migrations)
    func opened(migration: String) throws {
        let folder = TemporaryFolder()
        var columns: Set<String> = []
        do {
            let queue = try DatabaseQueue(path: folder / "journal.sqlite")
            try JournalSchema.migrator.migrate(queue, upTo: migration)
            columns = try queue.write { database in
                let columns = try database.columns(in: "arrivals").map(\.name)
                let row = try columns.map { name in try #require(values[name], "a value for \(name)") }
                let places = Array(repeating: "?", count: columns.count).joined(separator: ", ")
                try database.execute(
                    sql: "INSERT INTO arrivals (\(columns.joined(separator: ", "))) VALUES (\(places))",
                    arguments: StatementArguments(row.map { $0?.databaseValue ?? .null }))
                try database.execute(
                    sql: """
                        INSERT INTO attempts (arrival, number, handler, began, ended, answer, exit_code, reason,
                        standard_error)
                        VALUES (7, 1, 'org.example.yes', 5, 6, 'later', 75, '', '')
                        """)
                return Set(columns)
            }
            try queue.close()
        }
        let journal = try Journal(folder: folder.path)
        let entry = try #require(try JournalReader(folder: folder.path).entry(ArrivalNumber(7)))
        let facts = entry.arrival.facts
        #expect(entry.arrival.stored == StoredItem(name: safe("notes"), path: "/Inbox/Work/notes"))
        #expect(entry.state == .parked && entry.attempts.map(\.handler) == ["org.example.yes"])
        #expect(
            facts.digest == Digest("xxh3-128:b5e9c1ad071b3e7fc779cfaa5e523818") && facts.annotation == ["note": "hi"])
        #expect(
            facts.item.name == safe("notes") && facts.item.entries == 3
                && facts.peer.bareText == PeerID.sample(1).bareText)
        #expect(facts.destination.folder?.text == (columns.contains("folder") ? "Work" : nil))
        #expect(facts.dialect == (columns.contains("dialect") ? .keyless : .keyed))
        #expect((facts.sentDigest != nil) == columns.contains("sent_digest"))
        #expect((facts.ownDigest != nil) == columns.contains("own_digest"))
        #expect(facts.entries == (columns.contains("entries_came") ? 3 : nil))
        #expect(facts.protection == (columns.contains("protection") ? .complete : .none))
        #expect(entry.departure == nil)
        #expect(
            try journal.occupied(by: PeerID.sample(1)) == Footprint(bytes: 5, entries: 3).bytes)
        // It is of today now, and takes what arrives today.
        #expect(try journal.intend([sampleArrival(2)]) == [ArrivalNumber(8)])
        #expect(try unsoundness(folder.path).isEmpty)
    }
}
