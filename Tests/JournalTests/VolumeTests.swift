import GRDB
import GRDBSQLite
import Sharing
import TestSupport
import Testing

@testable import Journal

@Suite("A journal of many arrivals", .timeLimit(.minutes(2)))
struct VolumeTests {
    private let folder = TemporaryFolder()
    private var reader: JournalReader { JournalReader(folder: folder.path) }

    @Test("keeps 20,000 of them, and gives them back in order and page by page")
    func many() throws {
        let count = 20_000
        var numbers: [ArrivalNumber] = []
        do {
            let journal = try Journal(folder: folder.path)
            for start in stride(from: 0, to: count, by: 512) {
                let batch = try journal.intend((start..<min(start + 512, count)).map { sampleArrival($0) })
                try journal.settle(batch.map { (number: $0, stored: stored("n\($0)")) })
                numbers += batch
            }
        }
        let journal = try Journal(folder: folder.path)
        #expect(try journal.waiting().map(\.number) == numbers)
        #expect(try journal.arrival(numbers[12_345])?.facts == sampleFacts(12_345))
        #expect(try reader.entries(named: "n777").map(\.arrival.number.value) == [777])
        var seen: [ArrivalNumber] = []
        while true {
            let page = try reader.entries(latest: 5_000, before: seen.last)
            if page.isEmpty { break }
            seen += page.map(\.arrival.number)
        }
        #expect(seen == numbers.reversed())
        #expect(try journal.began(numbers, handler: "h", at: time(0)) == Array(repeating: 1, count: count))
        try journal.ended(numbers, AttemptOutcome(.yes), next: .ended(.yes), at: time(1))
        #expect(try journal.waiting().isEmpty)
        #expect(try journal.prune(keeping: 100, olderThan: time(.max)) == count - 100)
        #expect(try reader.entries(latest: .max).map(\.arrival.number) == numbers.suffix(100).reversed())
        #expect(try unsoundness(folder.path) == [])
    }

    @Test("compiles each of its statements once, however it reads and writes by turns")
    func compiledOnce() throws {
        let journal = try Journal(folder: folder.path)
        for number in 0..<10 {
            try journal.arrive(1)
            let facts = sampleFacts(number)
            _ = try journal.earlier(facts.item, from: facts.peer, limit: 1)
            _ = try journal.arrivals(of: facts.transfer, from: facts.peer)
        }
        let compiled = journal.queue.unsafeRead { database in
            var compiled: [String: Int32] = [:]
            var statement = sqlite3_next_stmt(database.sqliteConnection, nil)
            while let current = statement {
                let text = String(cString: sqlite3_sql(current))
                // Opening a file compiles statements that read its schema.
                if text.contains("arrivals (") || text.contains("FROM arrivals") || text.hasPrefix("UPDATE arrivals") {
                    compiled[text] = sqlite3_stmt_status(current, SQLITE_STMTSTATUS_REPREPARE, 0)
                }
                statement = sqlite3_next_stmt(database.sqliteConnection, current)
            }
            return compiled
        }
        #expect(compiled.count >= 4)
        #expect(compiled.filter { $0.value > 0 } == [:])
    }

    @Test(
        "finds the earlier arrivals of an item in as many steps, however many the peer has of its name",
        arguments: [(false, false), (true, false), (true, true)])
    func earlier(areOfOneSize: Bool, areCalls: Bool) throws {
        /// The steps of SQLite's machine that the search takes among so many arrivals.
        func steps(_ count: Int) throws -> Int32 {
            let folder = TemporaryFolder()
            let journal = try Journal(folder: folder.path)
            let facts = (1...count).map { number in
                var facts = sampleFacts(0)
                facts.size = areOfOneSize ? 5 : UInt64(number)
                facts.item = OfferedItem(kind: .file, name: safe("a"), type: uniform("public.data"), size: facts.size)
                return facts
            }
            let numbers = try journal.intend(
                (areCalls ? facts[..<1] : facts[...]).map {
                    IntendedArrival(facts: $0, identity: nil, isDelivered: false)
                })
            try journal.settle(numbers.map { (number: $0, stored: stored("a\($0)")) })
            if areCalls {
                for facts in facts.dropFirst() { _ = try journal.sendAgain(facts, of: numbers[0], isDelivered: false) }
            }
            let wanted = try #require(facts.last)
            let found = try journal.earlier(wanted.item, from: wanted.peer, limit: 4)
            #expect(found.first?.number == ArrivalNumber(Int64(count)))
            #expect(found.count == (areOfOneSize && !areCalls ? 4 : 1))
            return journal.queue.unsafeRead { database in
                var steps: Int32 = 0
                var statement = sqlite3_next_stmt(database.sqliteConnection, nil)
                while let current = statement {
                    if String(cString: sqlite3_sql(current)).contains("AS later") {
                        steps += sqlite3_stmt_status(current, SQLITE_STMTSTATUS_VM_STEP, 0)
                    }
                    statement = sqlite3_next_stmt(database.sqliteConnection, current)
                }
                return steps
            }
        }
        let few = try steps(Journal.maximumEarlier)
        #expect(few > 0)
        #expect(try steps(10 * Journal.maximumEarlier) <= few + 8)
    }

    @Test("writes down 512 of them in one transaction, or none")
    func oneTransaction() throws {
        let journal = try Journal(folder: folder.path)
        // The file refuses the last arrival: its number is above SQLite's maximum.
        try tamper(
            folder.path, "INSERT INTO sqlite_sequence (name, seq) VALUES ('arrivals', \(Int64.max - 500))")
        #expect(throws: TransferError.self) { try journal.intend((0..<512).map { sampleArrival($0) }) }
        #expect(try Journal.unsettledCount(folder.path) == 0)
        #expect(try journal.intend((0..<400).map { sampleArrival($0) }).count == 400)
        #expect(try Journal.unsettledCount(folder.path) == 400)
    }

    @Test("forgets finished arrivals, and none that wait, are parked or are not settled")
    func prune() throws {
        let clock = Recorder<WallTime>()
        let journal = try Journal(folder: folder.path, now: { clock.all.last ?? time(0) })
        var numbers: [ArrivalNumber] = []
        for moment in 0..<10 {
            clock.record(time(Int64(moment)))
            numbers += try journal.arrive(1)
        }
        let unsettled = try journal.intend([sampleArrival(0)])
        let states: [DeliveryState] = [.yes, .waiting, .parked, .failed, .gone, .no, .none, .yes, .yes, .yes]
        for (number, state) in zip(numbers, states) {
            _ = try journal.began([number], handler: "h", at: time(0))
            try journal.ended([number], AttemptOutcome(.yes), next: .ended(state), at: time(0))
        }
        #expect(try journal.prune(keeping: 100, olderThan: time(.max)) == 0)
        #expect(try journal.prune(keeping: 0, olderThan: time(0)) == 0)
        #expect(try journal.prune(keeping: 0, olderThan: time(4)) == 2)
        #expect(try reader.entries(latest: 99).map(\.arrival.number) == [9, 8, 7, 6, 5, 4, 2, 1].map { numbers[$0] })
        // Arrivals that are not settled count among the latest.
        #expect(try journal.prune(keeping: 3, olderThan: time(.max)) == 4)
        #expect(try reader.entries(latest: 99).map(\.arrival.number) == [9, 8, 2, 1].map { numbers[$0] })
        #expect(try journal.prune(keeping: -1, olderThan: time(.max)) == 2)
        #expect(try reader.entries(latest: 99).map(\.arrival.number) == [2, 1].map { numbers[$0] })
        try journal.settle([(number: unsettled[0], stored: stored("late"))])
        #expect(try reader.entries(latest: 99).count == 3)
        #expect(try unsoundness(folder.path) == [])
    }

    @Test("keeps the first attempt and the latest, 64 of each arrival")
    func attempts() throws {
        let journal = try Journal(folder: folder.path)
        let numbers = try journal.arrive(2)
        for attempt in 1...200 {
            #expect(try journal.began([numbers[0]], handler: "h", at: time(Int64(attempt))) == [attempt])
            try journal.ended([numbers[0]], AttemptOutcome(.later), next: .again, at: time(0))
            if attempt == 64 { #expect(try reader.entry(numbers[0])?.attempts.map(\.number) == Array(1...64)) }
        }
        let entry = try #require(try reader.entry(numbers[0]))
        #expect(entry.attempts.map(\.number) == [1] + Array(138...200))
        #expect(entry.attempts.count == Journal.keptAttempts)
        #expect(entry.attemptCount == 200)
        #expect(try journal.began([numbers[1]], handler: "h", at: time(0)) == [1])
    }
}
