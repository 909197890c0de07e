import Control
import Lines
import Logging
import NIOPosix
import Outbox
import Settings
import Sharing
import TestSupport
import Testing
import UniformTypes

@testable import Operations

@Suite("What a user can do with the outbox")
struct JobsTests {
    @Test("without a receiver, jobs are changed on the disk")
    func here() async throws {
        let kitchen = try Kitchen(jobs: 3)
        let outbox = kitchen.waft.outbox
        #expect(try await outbox.cancel(1).job == 1)
        let retried = try await outbox.retry(2)
        #expect(retried.job == 2 && !retried.daemon)
        #expect(try await outbox.list(all: false).jobs.map(\.job) == [2, 3])
        #expect(try await outbox.list(all: true).jobs.map(\.state) == [.cancelled, .waiting, .waiting])
        #expect(try await outbox.show(3).items.map(\.name) == ["a.txt"])
        #expect(try await outbox.removeFinished().jobCount == 1)
        #expect(try await outbox.list(all: true).jobs.map(\.job) == [2, 3])
    }

    @Test("a running receiver changes its jobs, and the disk is left to it")
    func receiver() async throws {
        let kitchen = try Kitchen(jobs: 1)
        let asked = Recorder<ControlRequest>()
        try await kitchen.withReceiver { request in
            asked.record(request)
            return .done
        } _: {
            _ = try await kitchen.waft.outbox.cancel(1)
            #expect(try await kitchen.waft.outbox.retry(1).daemon)
        }
        #expect(asked.all == [.outbox(.cancel(1)), .outbox(.retry(1))])
        #expect(try kitchen.store.record(JobNumber(1)).standing.state == .waiting)
    }

    @Test("the receiver's refusals keep their words, and have the exit codes of the disk's")
    func refusals() async throws {
        let kitchen = try Kitchen(jobs: 1)
        try await kitchen.withReceiver { request in
            switch request {
            case .outbox(.cancel): .refused("job 1 is finished")
            case .outbox(.retry): .unknown("there is no job 1")
            default: .cancelled
            }
        } _: {
            await #expect(throws: WaftError(.usage, "job 1 is finished")) { try await kitchen.waft.outbox.cancel(1) }
            await #expect(throws: WaftError(.inputMissing, "there is no job 1")) {
                try await kitchen.waft.outbox.retry(1)
            }
        }
        let unknown = await #expect(throws: WaftError.self) { try await kitchen.waft.outbox.show(9) }
        #expect(unknown?.code == .inputMissing)
        #expect(unknown?.hint == "see: waft outbox list --all")
        let waits = await #expect(throws: WaftError.self) { try await kitchen.waft.outbox.remove(1) }
        #expect(waits?.code == .usage)
    }

    @Test("a job that is being sent has the receiver's progress, and is interrupted without a receiver")
    func progress() async throws {
        let kitchen = try Kitchen(jobs: 2)
        try kitchen.sending(2)
        #expect(try await kitchen.waft.outbox.list(all: false).jobs.map(\.isInterrupted) == [false, true])
        try await kitchen.withReceiver { _ in
            .progress([JobProgress(job: 2, bytes: 3, total: 5)])
        } _: {
            let job = try await kitchen.waft.outbox.show(2)
            #expect(job.bytes == 3 && job.total == 5 && !job.isInterrupted)
        }
    }

    @Test("the words for people are not in the document for programs")
    func unsaid() async throws {
        let kitchen = try Kitchen(jobs: 1)
        let document = try await kitchen.waft.outbox.show(1).json
        #expect(document.hasPrefix(#"{"attemptCount":0,"count":1,"due":"#))
        for key in ["origin", "contact", "isInterrupted", "subject", "note"] {
            #expect(!document.contains("\"\(key)\""), "\(key)")
        }
    }
}
