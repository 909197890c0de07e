import GRDB
import Journal
import Sharing
import TestSupport
import Testing

@Suite("A row that cannot be read")
struct UnreadableRowTests {
    private let folder = TemporaryFolder()
    private let reports = Recorder<JournalError>()
    private var reader: JournalReader { JournalReader(folder: folder.path, unreadable: reports.record) }

    private func journal() throws -> Journal { try Journal(folder: folder.path, unreadable: reports.record) }

    /// Values that no version has ever written, each for its column.
    static let wrong: [(column: String, value: String)] = [
        ("transfer", "''"), ("transfer", "'ABC'"), ("item_number", "-1"), ("items_in_offer", "-5"), ("kind", "'door'"),
        ("name", "'../../etc/passwd'"), ("name", "''"), ("name", "'a' || char(10)"), ("type", "'not a type'"),
        ("digest", "'md5:00'"), ("digest", "'sha-256:0'"), ("peer", "'k7qf'"), ("sender_name", "x'ff'"),
        ("sender_name", "12"), ("annotation", "'[]'"), ("annotation", "'{\"a\":1}'"), ("annotation", "'{'"),
        ("content_outcome", "'honest'"), ("content_outcome", "'lying'"), ("content_type", "'public.png'"),
        ("stored_name", "'..'"), ("stored_path", "'relative'"), ("stored_path", "NULL"), ("state", "'lost'"),
        ("deferrals", "-1"), ("attempts", "-1"), ("refused_by", "'{}'"), ("refused_by", "'[[]]'"),
    ]

    @Test("is named when it is requested, and skipped and reported in lists", arguments: wrong)
    func wrongValue(column: String, value: String) throws {
        let numbers = try journal().arrive(3)
        try tamper(folder.path, "UPDATE arrivals SET \(column) = \(value) WHERE number = 2")
        let line = fault { _ = try reader.entry(numbers[1]) }
        #expect(line?.contains("arrival 2 cannot be read") == true, "\(line ?? "read")")
        let journal = try journal()
        #expect(fault { _ = try journal.arrival(numbers[1]) }?.contains("arrival 2 cannot be read") == true)
        #expect(fault { _ = try journal.retry(numbers[1], at: time(0)) }?.contains("arrival 2") == true)
        #expect(reports.count == 0)
        #expect(try reader.entries(latest: 2).map(\.arrival.number) == [numbers[2], numbers[0]])
        #expect(reports.count == 1)
        #expect(reports.all.allSatisfy { $0.description.contains("arrival 2 cannot be read") })
        #expect(try reader.entry(numbers[0]) != nil)
        #expect(try journal.arrival(numbers[2]) != nil)
        let waiting = try journal.waiting().map(\.number)
        #expect(waiting.contains(numbers[0]) && waiting.contains(numbers[2]))
    }

    @Test("of a delivery that waits does not keep the others", arguments: ["transfer", "peer", "refused_by"])
    func waiting(column: String) throws {
        let journal = try journal()
        let numbers = try journal.arrive(3)
        try tamper(folder.path, "UPDATE arrivals SET \(column) = 'x' WHERE number = 2")
        #expect(try journal.waiting().map(\.number) == [numbers[0], numbers[2]])
        #expect(reports.all.map { $0.description.hasPrefix("arrival 2 cannot be read") } == [true])
        try journal.end([numbers[1]], as: .failed)
        #expect(try journal.summary() == (waiting: 2, parked: 0, failed: 1))
    }

    @Test("of an unsettled arrival does not hide the others")
    func unsettled() throws {
        let numbers = try journal().intend([sampleArrival(0), sampleArrival(1)])
        try tamper(folder.path, "UPDATE arrivals SET name = '..' WHERE number = 1")
        let journal = try journal()
        #expect(try journal.unsettled().map(\.number) == [numbers[1]])
        #expect(reports.count == 1)
        try journal.settle([(number: numbers[0], stored: nil)])
    }

    @Test(
        "of an attempt is passed over and reported, and the arrival shown",
        arguments: ["answer = 'maybe'", "answer = NULL", "reason = NULL", "standard_error = x'ff'", "handler = 7"])
    func attempt(change: String) throws {
        let journal = try journal()
        let number = try journal.arrive(1)[0]
        for _ in 0..<2 {
            _ = try journal.began([number], handler: "h", at: time(0))
            try journal.ended([number], AttemptOutcome(.later), next: .again, at: time(1))
        }
        try tamper(folder.path, "UPDATE attempts SET \(change) WHERE number = 1")
        let entry = try #require(try reader.entry(number))
        #expect(entry.attempts.map(\.number) == [2])
        #expect(entry.attemptCount == 2)
        #expect(reports.all.map { $0.description.hasPrefix("arrival 1, attempt 1 cannot be read") } == [true])
    }
}
