import Foundation
import Journal
import Sharing
import Synchronization
import TestSupport
import Testing

@Suite("A reader of the journal", .timeLimit(.minutes(1)))
struct ReaderTests {
    private let folder = TemporaryFolder()
    private var reader: JournalReader { JournalReader(folder: folder.path) }

    @Test("shows the entries that a filter selects, up to the requested number")
    func filtered() throws {
        let clock = Mutex<Int64>(0)
        let journal = try Journal(folder: folder.path, now: { time(clock.withLock { $0 }) })
        var numbers: [ArrivalNumber] = []
        for hour in 0..<6 as Range<Int64> {
            clock.withLock { $0 = hour * 3_600 }
            numbers += try journal.arrive(1)
        }
        try journal.end([numbers[1], numbers[4]], as: .failed)
        try journal.departed([numbers[5]], Departure(.removed, at: time(1)))
        func listed(_ filter: ArrivalFilter, count: Int = 10) throws -> [ArrivalNumber] {
            try reader.entries(latest: count, filter: filter).map(\.arrival.number)
        }
        #expect(try listed(ArrivalFilter(since: time(4 * 3_600))) == [numbers[5], numbers[4]])
        #expect(try listed(ArrivalFilter(state: .failed)) == [numbers[4], numbers[1]])
        #expect(try listed(ArrivalFilter(since: time(3_601), state: .failed)) == [numbers[4]])
        let even = ArrivalFilter { [numbers] in $0.arrival.number != numbers[4] }
        #expect(try listed(even, count: 2) == [numbers[5], numbers[3]])
        #expect(try reader.entries(latest: 1, before: numbers[4], filter: ArrivalFilter(state: .failed)).count == 1)
        let there = try reader.entriesThere(after: numbers[0], count: 2, filter: even)
        #expect(there.map(\.arrival.number) == [numbers[1], numbers[2]])
    }

    @Test("finds an item whose handler failed after it was sent again, once, as the last arrival of it that failed")
    func failedAgain() throws {
        let journal = try Journal(folder: folder.path)
        let numbers = try journal.arrive(2)
        let calls = try (0..<3).map { _ in
            try journal.sendAgain(sampleArrival(0).facts, of: numbers[0], isDelivered: true).number
        }
        func there(_ state: DeliveryState?) throws -> [ArrivalNumber] {
            try reader.entriesThere(count: 10, filter: ArrivalFilter(state: state)).map(\.arrival.number)
        }
        try journal.end([numbers[0]], as: .yes)
        try journal.end([calls[0]], as: .failed)
        #expect(try there(.failed) == [calls[0]])
        try journal.end([numbers[1], calls[1]], as: .failed)
        #expect(try there(.failed) == [numbers[1], calls[1]])
        #expect(try there(.yes) == [numbers[0]])
        #expect(try there(nil) == numbers)
        try journal.departed([numbers[0]], Departure(.removed, at: time(1)))
        #expect(try there(.failed) == [numbers[1]])
    }

    @Test("names each sender once for each name that it called itself by, the latest first")
    func senders() throws {
        let journal = try Journal(folder: folder.path)
        #expect(try reader.senders().isEmpty)
        for peer in [7, 8, 7] {
            let number = try journal.intend([sampleArrival(peer)])
            try journal.settle([(number: number[0], stored: stored("n\(number[0])"))])
        }
        _ = try journal.intend([sampleArrival(9)])
        #expect(try reader.senders().map(\.peer) == [.sample(7), .sample(8)])
    }

    @Test("finds nothing without a journal, and makes none")
    func nothing() throws {
        for path in [folder.path, folder / "not/there"] {
            let reader = JournalReader(folder: path)
            #expect(try reader.entries(latest: 10) == [])
            #expect(try reader.entries(named: "x") == [])
            #expect(try reader.entry(ArrivalNumber(1)) == nil)
            #expect(try reader.summary() == (waiting: 0, parked: 0, failed: 0))
        }
        #expect(folder.names == [])
    }

    @Test("finds nothing in a journal that is about to be made, or is empty")
    func empty() throws {
        folder.file("journal.sqlite")
        #expect(try reader.entries(latest: 10) == [])
        _ = try Journal(folder: folder.path)
        #expect(try reader.entries(latest: 10) == [])
        #expect(try reader.summary() == (waiting: 0, parked: 0, failed: 0))
    }

    @Test("reads while a writer of this process is open, and when it is closed")
    func openAndClosed() throws {
        let numbers: [ArrivalNumber]
        do {
            let journal = try Journal(folder: folder.path, now: { time(77) })
            numbers = try journal.arrive(3)
            #expect(try reader.entries(latest: 10).map(\.arrival.number) == numbers.reversed())
            withExtendedLifetime(journal) {}
        }
        let entries = try reader.entries(latest: 10)
        #expect(entries.map(\.arrival.number) == numbers.reversed())
        #expect(entries.allSatisfy { $0.arrived == time(77) && $0.state == .waiting && $0.waiting?.due == time(77) })
        #expect(try unsoundness(folder.path) == [])
    }

    @Test("leaves the file as it is")
    func changesNothing() throws {
        try Journal(folder: folder.path).arrive(3)
        let before = contents(folder / "journal.sqlite")
        _ = try reader.entries(latest: 10)
        _ = try reader.summary()
        #expect(contents(folder / "journal.sqlite") == before)
    }

    @Test("gives the latest first, page by page")
    func pages() throws {
        let journal = try Journal(folder: folder.path)
        let numbers = try journal.arrive(10)
        _ = try journal.intend([sampleArrival(0)])
        #expect(try reader.entries(latest: 4).map(\.arrival.number) == numbers[6...].reversed())
        #expect(try reader.entries(latest: 4, before: numbers[6]).map(\.arrival.number) == numbers[2..<6].reversed())
        #expect(try reader.entries(latest: 4, before: numbers[2]).map(\.arrival.number) == numbers[..<2].reversed())
        #expect(try reader.entries(latest: 4, before: numbers[0]) == [])
        #expect(try reader.entries(latest: 0) == [])
        #expect(try reader.entries(latest: .min) == [])
        #expect(try reader.entries(latest: .max, before: ArrivalNumber(.max)).count == 10)
    }

    @Test("finds by the name in the Inbox, byte by byte, the latest first")
    func byName() throws {
        let journal = try Journal(folder: folder.path)
        let names = ["a", "b", "a", "\u{e9}", "e\u{301}"]
        let numbers = try journal.intend(names.indices.map { sampleArrival($0) })
        try journal.settle(zip(numbers, names).map { (number: $0, stored: stored($1)) })
        #expect(try reader.entries(named: "a").map(\.arrival.number) == [numbers[2], numbers[0]])
        #expect(try reader.entries(named: "\u{e9}").map(\.arrival.number) == [numbers[3]])
        for name in ["", "c", "A", "a\0", "item-0.txt", "%", String(repeating: "a", count: 9_999)] {
            #expect(try reader.entries(named: name) == [])
        }
    }

    @Test("shows attempts only of a single entry, and an interrupted attempt without an end")
    func attempts() throws {
        let journal = try Journal(folder: folder.path)
        let number = try journal.arrive(1)[0]
        _ = try journal.began([number], handler: "org.example.one", at: time(5))
        _ = try journal.began([number], handler: "org.example.two", at: time(6))
        try journal.ended([number], AttemptOutcome(.yes, exitCode: 0), next: .ended(.yes), at: time(7))
        let entry = try #require(try reader.entry(number))
        #expect(
            entry.attempts == [
                JournalAttempt(number: 1, handler: "org.example.one", began: time(5)),
                JournalAttempt(
                    number: 2, handler: "org.example.two", began: time(6), ended: time(7),
                    outcome: AttemptOutcome(.yes, exitCode: 0)),
            ])
        #expect(entry.attemptCount == 2)
        #expect(entry.state == .yes)
        #expect(entry.waiting == nil)
        let listed = try reader.entries(latest: 1)[0]
        #expect(listed.attempts == [])
        #expect(listed.attemptCount == 2)
    }

    @Test("counts the waiting, parked and failed deliveries as the writer does")
    func summary() throws {
        let journal = try Journal(folder: folder.path)
        let numbers = try journal.arrive(10)
        _ = try journal.intend([sampleArrival(0)])
        try journal.end(Array(numbers[0..<3]), as: .parked)
        try journal.end(Array(numbers[3..<5]), as: .failed)
        try journal.end([numbers[5]], as: .yes)
        #expect(try reader.summary() == (waiting: 4, parked: 3, failed: 2))
        #expect(try journal.summary() == (waiting: 4, parked: 3, failed: 2))
    }

    @Test(
        "in another process sees each arrival whole, and none go away, while a writer writes, or writers come and go",
        arguments: [false, true])
    func otherProcess(comeAndGo: Bool) throws {
        var journal: Journal? = try Journal(folder: folder.path)
        let probe = try Probe("read", folder.path)
        var last: Int64 = 0
        func look() throws -> Int64? {
            let line = try #require(probe.line())
            #expect(line.hasPrefix("looked "), "\(line)")
            return Int64(line.dropFirst("looked ".count))
        }
        for _ in 0..<(comeAndGo ? 20 : 60) {
            // Waits for one look between two bursts of writing, so that neither side always waits for the other.
            for _ in 0..<(comeAndGo ? 4 : 20) {
                if comeAndGo { journal = nil }
                let current = try journal ?? Journal(folder: folder.path)
                journal = current
                let number = try current.intend([wholeArrival("n")])[0]
                try current.settle([(number: number, stored: stored("n"))])
                _ = try current.began([number], handler: "h", at: time(0))
                try current.ended([number], AttemptOutcome(.yes), next: .ended(.yes), at: time(1))
                last = number.value
            }
            guard try look() != nil else { break }
        }
        // Earlier looks can still be unread: a slow disk lets the reader look often between two bursts.
        while let latest = try look(), latest < last {}
        probe.endInput()
        while let line = probe.line() { #expect(line.hasPrefix("looked "), "\(line)") }
        #expect(probe.wait() == 0)
    }
}
