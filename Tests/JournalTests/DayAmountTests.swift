import Journal
import Sharing
import TestSupport
import Testing
import UniformTypes

@Suite("The amount of a day")
struct DayAmountTests {
    private let folder = TemporaryFolder()
    private static let hour: Int64 = 3_600_000

    private func journal(at hour: Int64 = 0) throws -> Journal {
        try Journal(folder: folder.path, now: { time(hour * Self.hour) })
    }

    /// Records an arrival of `size` bytes at a time of the clock.
    private func arrive(
        _ size: UInt64, at hour: Int64, from peer: PeerID = .sample(1), by dialect: Dialect = .keyed,
        isStored: Bool = true
    ) throws {
        var arrival = sampleArrival(0)
        (arrival.facts.size, arrival.facts.peer, arrival.facts.dialect) = (size, peer, dialect)
        let journal = try journal(at: hour)
        let number = try journal.intend([arrival])[0]
        if isStored { try journal.settle([(number: number, stored: stored("x"))]) }
    }

    private func received(_ sender: AmountSender = .peer(.sample(1)), at hour: Int64) throws -> UInt64 {
        let day = Day(until: time(hour * Self.hour))
        let amount = try journal().received(from: sender, on: day)
        #expect(try JournalReader(folder: folder.path).received(from: sender, on: day) == amount)
        return amount
    }

    @Test("is what one key has sent in 24 hours, across starts, or all that came by AirDrop")
    func day() throws {
        #expect(try received(at: 0) == 0)
        try arrive(1, at: 0)
        try arrive(10, at: 12)
        try arrive(100, at: 12, from: .sample(2))
        try arrive(1_000, at: 12, from: .sample(3), by: .keyless)
        try arrive(10_000, at: 13, from: .sample(4), by: .keyless)
        try arrive(100_000, at: 13, isStored: false)
        #expect(try received(at: 23) == 11)
        #expect(try received(at: 24) == 10)
        #expect(try received(at: 36) == 0)
        #expect(try received(.peer(.sample(2)), at: 23) == 100)
        #expect(try received(.dialect(.keyless), at: 23) == 11_000)
    }

    @Test("counts items that have left the Inbox, and excessive sizes")
    func large() throws {
        try arrive(.max / 4, at: 1)
        try arrive(.max / 4, at: 1)
        try journal().departed([ArrivalNumber(1)], Departure(.removed, at: time(0)))
        #expect(try received(at: 2) > 1 << 62)
    }

    @Test(
        "does not count for years items that came while the clock was far ahead, and forgets nothing if the clock is set back a little"
    )
    func setClock() throws {
        try arrive(1, at: 1_000_000)
        try arrive(10, at: 100)
        #expect(try received(at: 90) == 10)
        #expect(try received(at: 1_000_001) == 1)
        for hour in [Int64.min / Self.hour, Int64.max / Self.hour] { _ = try received(at: hour) }
    }
}
