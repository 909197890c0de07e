import Foundation
import Sharing
import Synchronization
import TestSupport
import Testing

@testable import Outbox

/// The program ends at each step of a job: the disk is kept as it was at that moment, and an engine is started on it.
@Suite("An outbox whose program was killed", .timeLimit(.minutes(1)))
struct CrashTests {
    private let folder = TemporaryFolder()

    @Test("sends each job exactly once, wherever it was killed, as far as the peer's receipts can tell")
    func killedAnywhere() async throws {
        // The items that the peer has stored, as its receipts state them.
        let stored = Mutex<[String: Int]>([:])
        let states = Mutex<[[String: Int]]>([])
        let store = OutboxStore(folder: folder / "outbox")
        let copies = folder / "states"
        try FileManager.default.createDirectory(atPath: copies, withIntermediateDirectories: true)
        @Sendable func keep() {
            let number = states.withLock { states in
                states.append(stored.withLock { $0 })
                return states.count
            }
            try? FileManager.default.copyItem(atPath: store.folder, toPath: "\(copies)/\(number)")
        }
        let script: ScriptedSender.Script = { shipment, _, note in
            let id = shipment.transfer.text
            keep()
            do {
                if shipment.wasOffered, stored.withLock({ $0[id] != nil }) {
                    try note(.settled([0: .stored("a.txt")]))
                    keep()
                    return OutboxResult()
                }
                try note(.offering(shipment.transfer, shipment.open, to: anna!, callingItself: nil))
            } catch {
                return OutboxResult(failure: OutboxJobError(.unexpected, "\(error)", isFinal: false))
            }
            keep()
            stored.withLock { $0[id, default: 0] += 1 }
            keep()
            return OutboxResult(outcomes: [0: .stored("a.txt")])
        }
        try store.queue(folder.file("a.txt"))
        keep()
        try await withEngine(store, ScriptedSender(script)) { _, reports in
            try await reports.first()
            // The engine writes beside it that the report was made.
            try store.locked { keep() }
        }
        keep()
        let kept = states.withLock { $0 }
        #expect(kept.count == 6)
        for state in kept.indices.map({ $0 + 1 }) {
            stored.withLock { $0 = kept[state - 1] }
            let copy = OutboxStore(folder: "\(copies)/\(state)")
            try await withEngine(copy, ScriptedSender(script)) { engine, reports in
                // Over already: the user was notified before, or is notified now.
                if try copy.record(JobNumber(1)).standing.isReported { return }
                let record = try await reports.first()
                #expect(record.standing.state == .done)
            }
            #expect(try copy.record(JobNumber(1)).standing.state == .done, "state \(state)")
            #expect(stored.withLock { Array($0.values) } == [1], "state \(state)")
        }
    }

    @Test("has a queued job wholly or not at all, wherever the program that queued it was killed")
    func killedWhileQueuing() throws {
        // The folder after each step of `OutboxDraft`: made, copied, numbered, described.
        let outbox = folder / "outbox"
        let manager = FileManager.default
        for path in [".new-1", ".new-2/items", ".new-3/items"] {
            try manager.createDirectory(atPath: outbox + "/" + path, withIntermediateDirectories: true)
        }
        _ = manager.createFile(atPath: outbox + "/.new-3/job.json", contents: Data("{}".utf8))
        _ = manager.createFile(atPath: outbox + "/.next.4711", contents: Data())
        _ = manager.createFile(atPath: outbox + "/next", contents: Data("5\n".utf8))
        let store = OutboxStore(folder: outbox)
        #expect(try store.contents().records.isEmpty)
        try store.sweep(at: someTime)
        #expect(try store.queue(folder.file("a.txt")) == JobNumber(5))
        #expect(try manager.contentsOfDirectory(atPath: outbox).filter { $0.hasPrefix(".new-") } == [])
    }
}
