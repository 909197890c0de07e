import Digests
import Foundation
import Sharing
import TestSupport
import Testing

@testable import Journal

@Suite("Changes of how items are sealed", .timeLimit(.minutes(1)))
struct ResealingTests {
    private let folder = TemporaryFolder()
    private var reader: JournalReader { JournalReader(folder: folder.path) }

    private func change(_ number: ArrivalNumber, _ protection: ProtectionClass = .unlessOpen) -> Resealing {
        let isSealed = protection.isSealed
        return Resealing(
            number: number, protection: protection, digest: .of(.xxh3_128, [1]),
            sentDigest: isSealed ? nil : .of(.sha256, [2]), sealedContents: isSealed ? [3, 4] : nil,
            identity: FileIdentity(device: .max, inode: 7))
    }

    @Test("are there until they are settled, also for the next receiver; the item stays as it was")
    func intended() throws {
        var journal: Journal? = try Journal(folder: folder.path)
        var facts = sampleArrival(1)
        facts.identity = FileIdentity(device: 1, inode: 2)
        let numbers = try #require(journal).intend([facts, sampleArrival(2)])
        try journal?.settle(numbers.map { (number: $0, stored: stored("n\($0)")) })
        let before = try #require(try reader.entry(numbers[0])?.arrival)
        for number in numbers { try journal?.intend(change(number)) }
        journal = nil
        let again = try Journal(folder: folder.path)
        let found = try again.resealings()
        #expect(found.map(\.0) == numbers.map { change($0) })
        #expect(found.map(\.1.number) == numbers && found[0].1 == before)
        #expect(found.map(\.old) == [FileIdentity(device: 1, inode: 2), nil])
        #expect(try reader.entry(numbers[0])?.arrival == before)
    }

    @Test("give the item its new form and place, and back", arguments: ProtectionClass.allCases)
    func settled(protection: ProtectionClass) throws {
        let journal = try Journal(folder: folder.path)
        let numbers = try journal.arrive(2)
        let change = change(numbers[0], protection)
        try journal.intend(change)
        try journal.settle(change, stored("other"))
        #expect(try journal.resealings().isEmpty)
        let arrival = try #require(try reader.entry(numbers[0])?.arrival)
        #expect(arrival.stored == stored("other") && arrival.protection == protection)
        #expect(arrival.digest == change.digest && arrival.sentDigest == change.sentDigest)
        #expect(arrival.facts.sealedContents == change.sealedContents)
        try journal.intend(self.change(numbers[0], .complete))
        let known = try #require(try journal.resealings().first)
        #expect(known.old == change.identity, "the next change begins with the new form")
        #expect(try reader.entry(numbers[1])?.arrival.stored == stored("n1"))
    }

    @Test("that were not made leave the item as it was")
    func dropped() throws {
        let journal = try Journal(folder: folder.path)
        let number = try journal.arrive(1)[0]
        let before = try reader.entry(number)?.arrival
        try journal.intend(change(number))
        try journal.settle(change(number), nil)
        #expect(try journal.resealings().isEmpty)
        #expect(try reader.entry(number)?.arrival == before)
    }

    @Test("are refused while another one of the item is under way, and for items that are not in the Inbox")
    func refused() throws {
        let journal = try Journal(folder: folder.path)
        let numbers = try journal.arrive(2)
        try journal.intend(change(numbers[0]))
        #expect(fault { try journal.intend(change(numbers[0], .complete)) } != nil)
        #expect(try journal.resealings().map(\.0) == [change(numbers[0])])
        try journal.departed([numbers[1]], Departure(.removed, at: time(1)))
        #expect(fault { try journal.intend(change(numbers[1])) }?.contains("has left the Inbox") == true)
        let unsettled = try journal.intend([sampleArrival(5)])
        #expect(fault { try journal.intend(change(unsettled[0])) } != nil)
        #expect(fault { try journal.intend(change(ArrivalNumber(1_000))) } != nil)
    }
}
