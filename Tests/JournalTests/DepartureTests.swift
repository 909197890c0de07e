import Foundation
import GRDB
import Sharing
import TestSupport
import Testing

@testable import Journal

@Suite("Items that left the Inbox", .timeLimit(.minutes(1)))
struct DepartureTests {
    private let folder = TemporaryFolder()
    private var reader: JournalReader { JournalReader(folder: folder.path) }

    @Test("is remembered with how, when and where to", arguments: Departure.How.allCases, ["", "/a b/é", "a\0b"])
    func remembered(how: Departure.How, toward: String) throws {
        let journal = try Journal(folder: folder.path)
        let numbers = try journal.arrive(3)
        let departure = Departure(how, at: time(-5), toward: toward)
        try journal.departed([numbers[0], numbers[2]], departure)
        let entries = try numbers.map { try #require(try reader.entry($0)) }
        #expect(entries.map(\.departure) == [departure, nil, departure])
        #expect(entries.map(\.isThere) == [false, true, false])
        #expect(entries.map(\.state) == [.gone, .waiting, .gone])
        #expect(try reader.entries(latest: 3).map(\.departure) == [departure, nil, departure])
    }

    @Test("keeps the answers of its handlers")
    func answers() throws {
        let journal = try Journal(folder: folder.path)
        for state in DeliveryState.allCases {
            let number = try journal.arrive(1)[0]
            try journal.end([number], as: state)
            try journal.departed([number], Departure(.removed, at: time(1)))
            let expected = [.waiting, .parked].contains(state) ? DeliveryState.gone : state
            #expect(try reader.entry(number)?.state == expected)
        }
    }

    @Test("keeps the first departure that was written down")
    func first() throws {
        let journal = try Journal(folder: folder.path)
        let number = try journal.arrive(1)[0]
        let removed = Departure(.removed, at: time(1))
        try journal.departed([number], removed)
        // As after a handler that still had the item.
        try journal.departed([number], Departure(.handler, at: time(2), toward: "org.example.one"))
        #expect(try reader.entry(number)?.departure == removed)
    }

    @Test("has the name that its user gave it, and one whose place another item has taken was removed")
    func moved() throws {
        let journal = try Journal(folder: folder.path)
        let numbers = try journal.arrive(4)
        let places = try numbers.map { try #require(try reader.entry($0)).arrival.stored }
        let other = StoredItem(name: try SafeName("other"), path: "/Inbox/folder/other")
        try journal.moved([numbers[0]: places[1], numbers[1]: places[0], numbers[2]: places[3]], at: time(1))
        let now = try numbers.map { try #require(try reader.entry($0)) }
        #expect(now.map(\.arrival.stored) == [places[1], places[0], places[3], places[3]])
        #expect(now.map(\.departure) == [nil, nil, nil, Departure(.removed, at: time(1))])
        try journal.moved([numbers[0]: other], at: time(2))
        #expect(try reader.entries(named: "other").map(\.arrival.number) == [numbers[0]])
        #expect(try reader.isThere(numbers[2]) && !reader.isThere(numbers[3]))
    }

    @Test("is not said to be there, page by page, nor in the totals")
    func pages() throws {
        let journal = try Journal(folder: folder.path)
        let numbers = try journal.arrive(10)
        _ = try journal.intend([sampleArrival(5)])
        try journal.departed([numbers[1]], Departure(.taken, at: time(1), toward: "/x"))
        try journal.end([numbers[3]], as: .gone)
        let there = numbers.indices.filter { ![1, 3].contains($0) }.map { numbers[$0] }
        let first = try reader.entriesThere(count: 3)
        #expect(first.map(\.arrival.number) == Array(there[..<3]))
        #expect(try reader.entriesThere(after: there[2], count: 100).map(\.arrival.number) == Array(there[3...]))
        #expect(try reader.totalsThere() == (count: 8, bytes: UInt64((0..<10).reduce(0, +) - 1 - 3)))
        #expect(try JournalReader(folder: folder / "none").totalsThere() == (count: 0, bytes: 0))
        #expect(try JournalReader(folder: folder / "none").entriesThere(count: 1).isEmpty)
    }

    @Test("counts for its sender no more")
    func lying() throws {
        let journal = try Journal(folder: folder.path)
        let numbers = try journal.intend((0..<4).map { _ in sampleArrival(7) } + [sampleArrival(8)])
        try journal.settle(numbers.dropLast().map { (number: $0, stored: stored("n\($0)")) })
        #expect(try journal.lying(from: .sample(7)).map(\.size) == [7, 7, 7, 7])
        try journal.departed([numbers[0]], Departure(.handler, at: time(1), toward: "org.example.one"))
        try journal.end([numbers[1]], as: .gone)
        #expect(try journal.lying(from: .sample(7)).map(\.path) == ["/Inbox/n\(numbers[2])", "/Inbox/n\(numbers[3])"])
        #expect(try journal.lying(from: .sample(8)).isEmpty, "it is not in the Inbox yet")
        #expect(try journal.lying(from: .sample(9)).isEmpty)
    }

    @Test("is taken from the running sum of its sender, whatever changes, and however large its sizes are")
    func occupancy() throws {
        let journal = try Journal(folder: folder.path)
        let numbers = try journal.intend((0..<4).map { _ in sampleArrival(7) } + [sampleArrival(8)])
        let one = Footprint(bytes: 7, entries: 1).bytes
        #expect(try journal.occupied(by: .sample(7)) == 0, "none is in the Inbox yet")
        try journal.settle(numbers.map { (number: $0, stored: stored("n\($0)")) })
        #expect(try journal.occupied(by: .sample(7)) == 4 * one)
        try journal.departed([numbers[0]], Departure(.removed, at: time(1)))
        try journal.departed([numbers[0]], Departure(.removed, at: time(2)))
        try journal.end([numbers[1]], as: .gone)
        try journal.end([numbers[2]], as: .failed)
        #expect(try journal.occupied(by: .sample(7)) == 2 * one)
        #expect(try journal.occupied(by: .sample(8)) == Footprint(bytes: 8, entries: 1).bytes)
        try journal.queue.write { database in
            try database.execute(
                sql: "UPDATE arrivals SET size = -1, entries_came = 9223372036854775807 WHERE number = ?",
                arguments: [numbers[2].value])
            for _ in 0..<20 {
                try database.execute(sql: "UPDATE arrivals SET peer = peer, size = 9223372036854775807")
            }
        }
        #expect(try journal.occupied(by: .sample(7)) > 1 << 60)
        try journal.queue.write { try $0.execute(sql: "DELETE FROM arrivals") }
        #expect(try journal.occupied(by: .sample(7)) == 0)
    }

    @Test("is found by an index, not by reading all arrivals")
    func index() throws {
        let journal = try Journal(folder: folder.path)
        let plan = try journal.queue.read { database in
            try Row.fetchAll(
                database,
                sql:
                    "EXPLAIN QUERY PLAN SELECT stored_path, size FROM arrivals WHERE peer = ? AND \(DepartureRow.isThere)",
                arguments: ["x"]
            ).map { String.fromDatabaseValue($0["detail"]) ?? "" }
        }
        #expect(plan.count == 1 && plan[0].contains("arrivals_there"), "\(plan)")
    }

    @Test("can be recorded in a journal of the first version, whose arrivals are in the Inbox")
    func migration() throws {
        let number: ArrivalNumber
        do {
            let journal = try Journal(folder: folder.path)
            number = try journal.arrive(1)[0]
        }
        // Back to the schema of the first version.
        try tamper(
            folder.path,
            """
            DROP TABLE occupancy;
            DROP TRIGGER occupancy_comes;
            DROP TRIGGER occupancy_goes;
            DROP TRIGGER occupancy_stays;
            DROP TRIGGER occupancy_changes;
            DROP INDEX arrivals_there;
            ALTER TABLE arrivals DROP COLUMN left_how;
            ALTER TABLE arrivals DROP COLUMN left_at;
            ALTER TABLE arrivals DROP COLUMN left_toward;
            DELETE FROM grdb_migrations WHERE identifier IN ('departures', 'occupancy');
            """)
        #expect(fault { _ = try reader.entry(number) }?.contains("older version") == true)
        let journal = try Journal(folder: folder.path)
        #expect(try reader.entry(number)?.isThere == true)
        try journal.departed([number], Departure(.removed, at: time(3)))
        #expect(try reader.entry(number)?.departure == Departure(.removed, at: time(3)))
        #expect(try unsoundness(folder.path) == [])
    }
}
