import Journal
import Sharing
import TestSupport
import Testing

@Suite("A journal keeps the contract of its ports")
struct ContractTests {
    @Test("the one on the disk, opened again for each call")
    func onDisk() {
        let folder = TemporaryFolder()
        let contract = JournalContract(facts: sampleFacts) { try Journal(folder: folder / "state") }
        #expect(contract.violations() == [])
    }

    @Test("the one on the disk, kept open")
    func keptOpen() throws {
        let folder = TemporaryFolder()
        let journal = try Journal(folder: folder.path)
        #expect(JournalContract(facts: sampleFacts) { journal }.violations() == [])
        #expect(try unsoundness(folder.path) == [])
    }

    @Test("the one in memory")
    func inMemory() {
        let journal = MemoryJournal()
        #expect(JournalContract(facts: sampleFacts) { journal }.violations() == [])
    }

    @Test("the one in memory fails on demand, and then writes nothing down")
    func faults() throws {
        let journal = MemoryJournal(now: { time(0) }) { operation in
            switch operation {
            case .intend(3), .began: TransferError(.noRoom, "the disk is full")
            default: nil
            }
        }
        #expect(throws: TransferError(.noRoom, "the disk is full")) {
            try journal.intend((0..<3).map { sampleArrival($0) })
        }
        #expect(journal.entries.isEmpty)
        let numbers = try journal.intend([sampleArrival(0)])
        #expect(journal.unsettled.map(\.name) == [safe("item-0.txt")])
        try journal.settle([(number: numbers[0], stored: stored("a"))])
        #expect(throws: JournalError("the disk is full")) { try journal.began(numbers, handler: "h", at: time(0)) }
        #expect(journal[numbers[0]]?.attempts == [])
    }

    @Test("the one in memory reports each change")
    func changes() async throws {
        let journal = MemoryJournal()
        let numbers = try journal.intend([sampleArrival(0)])
        try journal.settle([(number: numbers[0], stored: stored("a"))])
        _ = try journal.began(numbers, handler: "h", at: time(0))
        try journal.ended(numbers, AttemptOutcome(.yes), next: .ended(.yes), at: time(1))
        let change = try await journal.changes.first { $0.state == .yes }
        #expect(change == MemoryJournal.Change(number: numbers[0], state: .yes, attempts: 1))
        #expect(journal[numbers[0]]?.attempts.first?.outcome?.answer == .yes)
    }
}
