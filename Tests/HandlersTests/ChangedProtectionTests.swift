import Foundation
import Sharing
import Synchronization
import TestSupport
import Testing

@testable import Handlers

/// Opens only items that are not sealed.
private struct LockedCopies: ClearCopying {
    var isProtectedDataAvailable: Bool? { false }
    func canOpen(_ protection: ProtectionClass) -> Bool { protection == .none }
    func folder(of handler: String) -> String? { nil }
    func open(_ arrivals: [Arrival], for handler: String) throws(ClearCopyError) -> [Arrival] { arrivals }
    func close(_ copies: [Arrival]) -> Set<ArrivalNumber> { [] }
    func remove(_ arrival: Arrival) {}
}

/// Opens sealed items once it is unlocked.
private final class SwitchedCopies: ClearCopying {
    private let isOpen = Atomic<Bool>(false)

    func unlock() { isOpen.store(true, ordering: .releasing) }

    var isProtectedDataAvailable: Bool? { nil }
    func canOpen(_ protection: ProtectionClass) -> Bool { isOpen.load(ordering: .acquiring) }
    func folder(of handler: String) -> String? { nil }
    func open(_ arrivals: [Arrival], for handler: String) throws(ClearCopyError) -> [Arrival] { arrivals }
    func close(_ copies: [Arrival]) -> Set<ArrivalNumber> { [] }
    func remove(_ arrival: Arrival) {}
}

/// `unlock` takes effect after one more question: while the engine chooses handlers.
private final class UnlockedCopies: ClearCopying {
    private let questions = Mutex(Int.max)

    func unlock() { questions.withLock { $0 = 1 } }

    var isProtectedDataAvailable: Bool? { nil }

    func canOpen(_ protection: ProtectionClass) -> Bool {
        questions.withLock { left in
            defer { if left > 0, left < .max { left -= 1 } }
            return left == 0
        }
    }

    func folder(of handler: String) -> String? { nil }
    func open(_ arrivals: [Arrival], for handler: String) throws(ClearCopyError) -> [Arrival] { arrivals }
    func close(_ copies: [Arrival]) -> Set<ArrivalNumber> { [] }
    func remove(_ arrival: Arrival) {}
}

@Suite("Deliveries at an unlock", .timeLimit(.minutes(1)))
struct UnlockedDeliveryTests {
    @Test("no item overtakes an earlier one if the unlock comes while handlers are chosen")
    func order() async throws {
        let copies = UnlockedCopies()
        let lab = DeliveryLab([.sample("photos")], copies: copies)
        let items = try (0..<4).map { _ in try lab.arrive()[0] }
        for item in items { lab.journal.reseal(item.number, as: .unlessOpen, at: item.stored) }
        try await lab.run { engine in
            for item in items { lab.deliver([try #require(try lab.journal.arrival(item.number))], to: engine) }
            for item in items { _ = try await lab.answers.first { $0 == (item.number, .later) } }
            copies.unlock()
            // The second notice is that of the unlock.
            engine.lockChanged()
            engine.lockChanged()
            try await lab.caller.calls.element(4)
            #expect(lab.caller.calls.all.flatMap(\.numbers) == items.map(\.number))
        }
    }

    @Test("an item that arrives before the notice of an unlock does not overtake those that waited for it")
    func arrivesMeanwhile() async throws {
        let copies = SwitchedCopies()
        let lab = DeliveryLab([.sample("photos")], copies: copies)
        let items = try (0..<4).map { _ in try lab.arrive()[0] }
        for item in items { lab.journal.reseal(item.number, as: .unlessOpen, at: item.stored) }
        let sealed = try items.map { try #require(try lab.journal.arrival($0.number)) }
        try await lab.run { engine in
            for item in sealed.dropLast() { lab.deliver([item], to: engine) }
            for item in items.dropLast() { _ = try await lab.answers.first { $0 == (item.number, .later) } }
            copies.unlock()
            lab.deliver([sealed[3]], to: engine)
            try await lab.caller.calls.element(4)
            #expect(lab.caller.calls.all.flatMap(\.numbers) == items.map(\.number))
        }
    }
}

@Suite("Deliveries of items that get another protection", .timeLimit(.minutes(1)))
struct ChangedProtectionTests {
    private let lab = DeliveryLab(
        [.sample("photos")], caller: ScriptedCaller { _ in nil }, copies: LockedCopies())

    @Test("an item that is sealed while it waits is held while Waft is locked, and not tried again and again")
    func sealedWhileWaiting() async throws {
        let item = try lab.arrive()[0]
        try await lab.run { engine in
            lab.deliver([item], to: engine)
            try await lab.caller.calls.element(1)
            lab.journal.reseal(item.number, as: .complete, at: item.stored)
            lab.caller.lock(item.number)
            _ = try await lab.answers.first { $0.1 == .later }
            #expect(lab.caller.calls.count == 1)
        }
    }

    @Test("an item that is opened for good while it is held is delivered, though Waft is still locked")
    func opened() async throws {
        let item = try lab.arrive()[0]
        lab.journal.reseal(item.number, as: .complete, at: item.stored)
        let sealed = try #require(try lab.journal.arrival(item.number))
        try await lab.run { engine in
            lab.deliver([sealed], to: engine)
            _ = try await lab.answers.first { $0.1 == .later }
            lab.journal.reseal(item.number, as: .none, at: item.stored)
            engine.lockChanged()
            try await lab.caller.calls.element(1)
        }
    }

    @Test("an item that gets another name by its seal while its handler has it was not taken by the handler")
    func sealedMeanwhile() async throws {
        let item = try lab.arrive()[0]
        try await lab.run { engine in
            lab.deliver([item], to: engine)
            try await lab.caller.calls.element(1)
            let path = item.stored.path + ".age"
            try FileManager.default.moveItem(atPath: item.stored.path, toPath: path)
            let stored = StoredItem(name: try SafeName(item.stored.name.text + ".age"), path: path)
            lab.journal.reseal(item.number, as: .complete, at: stored)
            lab.caller.answer(item.number, AttemptOutcome(.yes, exitCode: 0))
            // The next item is handed over when everything about this one is recorded.
            let next = try lab.arrive()[0]
            lab.deliver([next], to: engine)
            try await lab.caller.calls.element(2)
            #expect(lab.journal[item.number]?.departure == nil)
        }
    }
}
