import Foundation
import Sharing
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
