import Control
import Lines
import Sharing
import TestSupport
import Testing

@testable import Operations

@Suite("What a user can do with transfers")
struct TransfersTests {
    @Test("a transfer whose size is beyond all numbers has no time left, and ends nothing")
    func hugeTransfer() {
        var transfer = MovingLine(sending: .sample(), to: "study")
        (transfer.bytes, transfer.total) = (0, .max)
        transfer.move(at: 1)
        #expect(transfer.secondsLeft == nil && transfer.rate == 1)
        transfer.end(nil)
        #expect(transfer.isOver && transfer.rate == nil)
    }

    @Test("the receiver's transfers come whole, and their document for programs has its own fields only")
    func carried() async throws {
        let kitchen = try Kitchen(jobs: 0)
        var ended = MovingLine(sending: .sample(), to: "study")
        ended.end("the cable is out")
        let moving = MovingLine(receiving: .sample(items: 2), from: PersonFields(id: "k", name: "study"))
        let all = [ended, moving]
        try await kitchen.withReceiver { _ in
            .transfers(all)
        } _: {
            let (found, foundMoving) = (
                try await kitchen.waft.transfers.all(), try await kitchen.waft.transfers.moving()
            )
            #expect(found == all && foundMoving == [moving])
        }
        #expect(!moving.json.contains("\"size\"") && !moving.json.contains("\"via\""))
    }

    @Test("a transfer that does not move any more cannot be cancelled")
    func cancel() async throws {
        let kitchen = try Kitchen(jobs: 0)
        try await kitchen.withReceiver { request in
            request == .cancel(transfer: "here") ? .done : .unknown("no such transfer is moving")
        } _: {
            let cancelled = try await kitchen.waft.transfers.cancel("here")
            #expect(cancelled.transfer == "here")
            await #expect(
                throws: WaftError(.inputMissing, "no such transfer is moving", hint: "see: waft transfers")
            ) { try await kitchen.waft.transfers.cancel("gone") }
        }
    }
}

@Suite("The receiver that may be running")
struct ReceiverConnectionTests {
    @Test("a change that fails here is tried again, since a receiver may have started meanwhile")
    func races() async throws {
        let kitchen = try Kitchen(jobs: 0)
        let receiver = kitchen.waft.receiver
        var tries = 0
        let isRunning = try await receiver.change(.lookAgain) { () throws(WaftError) in
            tries += 1
            if tries == 1 { throw WaftError(.unexpected, "a receiver has the journal") }
        }
        #expect(!isRunning && tries == 2)
        await #expect(throws: WaftError(.unexpected, "the disk is full")) {
            _ = try await receiver.change(.lookAgain) { () throws(WaftError) in
                tries += 1
                throw WaftError(.unexpected, "the disk is full")
            }
        }
        #expect(tries == 5)
    }

    @Test("who watches a receiver hears its events; without one that fails, with the exit code of a missing receiver")
    func watching() async throws {
        let kitchen = try Kitchen(jobs: 0)
        let error = await #expect(throws: WaftError.self) { try await kitchen.waft.receiver.watch { _ in } }
        #expect(error?.code == .notRunning)
        let feed = EventFeed()
        let summary = ReadyLine(id: "k", name: "kitchen", port: 1, inbox: "/in", visibility: "everyone")
        feed.send(.ready(summary))
        try await kitchen.withReceiver(events: feed) { _ in
            .watching
        } _: {
            let (events, continuation) = AsyncStream<ControlEvent>.makeStream()
            let watching = Task { try await kitchen.waft.receiver.watch { continuation.yield($0) } }
            let first = await events.first { _ in true }
            #expect(first == .ready(summary))
            watching.cancel()
        }
    }
}
