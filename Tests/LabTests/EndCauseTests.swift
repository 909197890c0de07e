import Foundation
import Subprocess
import Testing

/// The cause of an end is the same at both sides, whoever ended it.
@Suite("Why an offer or a transfer ended", .serialized, .timeLimit(.minutes(1)))
struct EndCauseTests {
    /// Runs a receiver that asks, and a sender of a note, until the question is there; then `body` ends it.
    private func asked(
        _ flags: [String] = [],
        _ body: @escaping @Sendable (_ kitchen: Host, RunningReceiver, _ sender: ProcessIdentifier) async throws -> Void
    ) async throws -> (sent: ProgramResult, answered: Event, errors: String) {
        try await withTemporaryFolder { folder in
            try "hello".write(toFile: folder + "/note.txt", atomically: false, encoding: .utf8)
            let (kitchen, study) = (Host.loopback(folder + "/kitchen"), Host.loopback(folder + "/study"))
            try await kitchen.becomeVisible()
            return try await kitchen.withReceiver(Programs.waftd, []) { running in
                let words = ["send", folder + "/note.txt", "--to", running.address, "--json"] + flags
                let configuration = study.configuration(Programs.waft, words)
                let result = try await Subprocess.run(
                    configuration, input: .none, output: .string(limit: 65_536), error: .string(limit: 65_536)
                ) { execution in
                    _ = try await running.log.first("offer")
                    try await body(kitchen, running, execution.processIdentifier)
                }
                let sent = ProgramResult(
                    exit: result.terminationStatus.code, output: result.standardOutput,
                    errors: result.standardError)
                return (sent, try await running.log.first("answered"), await running.log.errors)
            }.result
        }
    }

    private func causes(_ event: Event?) -> [String?] { event?.answers?.map(\.cause) ?? [] }

    @Test("a receiver that stops while a question waits says so here and there, and blames nobody")
    func receiverStopped() async throws {
        let (sent, answered, errors) = try await asked(["--timeout", "3"]) { _, running, _ in
            running.signal(.terminate)
        }
        #expect(causes(answered) == ["receiverStopped"])
        #expect(errors.contains("cause=receiverStopped") && !errors.contains("cancelled"), "\(errors)")
        let told = [sent.events.first { $0.event == "busy" }, sent.events.first { $0.event == "failed" }]
        #expect(told.compactMap(\.?.cause).contains("receiverStopped"), "\(sent)")
        #expect(!sent.output.contains("cancelled"), "\(sent)")
    }

    @Test("a sender that cancels its question is named at the receiver", arguments: [SIGINT, SIGTERM])
    func senderCancelled(signal: CInt) async throws {
        let (sent, answered, errors) = try await asked { _, running, sender in
            kill(sender.value, signal)
            _ = try await running.log.first("answered")
            try await eventually { await running.log.errors.contains("cause=senderCancelled") }
        }
        #expect(sent.exit == 130)
        #expect(causes(answered) == ["senderCancelled"])
        #expect(errors.contains("cause=senderCancelled"), "\(errors)")
    }

    @Test("a sender that is killed while its question waits has not cancelled it")
    func senderKilled() async throws {
        let (_, answered, _) = try await asked { _, running, sender in
            kill(sender.value, SIGKILL)
            _ = try await running.log.first("answered")
        }
        #expect(causes(answered) == ["fault"])
    }

    @Test("a sender whose time is up has not cancelled, and both sides name the time")
    func timeout() async throws {
        let (sent, answered, errors) = try await asked(["--timeout", "2"]) { _, running, _ in
            _ = try await running.log.first("answered")
        }
        #expect(sent.exit == 15)
        #expect(causes(answered) == ["timeout"])
        #expect(answered.answers?.map(\.reason) == ["nobody answered within 2 s"])
        #expect(errors.contains("cause=timeout"), "\(errors)")
        #expect(sent.events.first { $0.event == "failed" }?.cause == "timeout", "\(sent)")
    }

    @Test("a user's no is the user's, here and there")
    func user() async throws {
        let (sent, answered, _) = try await asked { kitchen, _, _ in
            let declined = try await kitchen.run(arguments: ["decline", "1"])
            #expect(declined.exit == 0)
        }
        #expect(sent.exit == 12)
        #expect(causes(answered) == ["user"])
        #expect(sent.events.first { $0.event == "failed" }?.cause == "user", "\(sent)")
    }

    @Test("a rule is a rule here, and there if the sender may know it", arguments: [true, false])
    func rule(isBlocked: Bool) async throws {
        try await withTemporaryFolder { folder in
            try "hello".write(toFile: folder + "/note.txt", atomically: false, encoding: .utf8)
            let (kitchen, study) = (Host.loopback(folder + "/kitchen"), Host.loopback(folder + "/study"))
            try await kitchen.becomeVisible()
            if isBlocked {
                let id = try await study.ownID()
                let blocked = try await kitchen.run(arguments: ["contacts", "block", id])
                #expect(blocked.exit == 0)
            }
            let flags = isBlocked ? [] : ["--accept", "none"]
            try await kitchen.withReceiver(Programs.waftd, flags) { running in
                let sent = try await study.run(
                    arguments: ["send", folder + "/note.txt", "--to", running.address, "--json"])
                #expect(sent.exit == 12)
                let cause = sent.events.first { $0.event == "failed" }?.cause
                #expect(cause == (isBlocked ? "user" : "rule"), "\(sent)")
            }
        }
    }

    @Test("a pipe that its sender cancels while nothing comes was cancelled, and did not break off")
    func cancelledPipe() async throws {
        try await withTemporaryFolder { folder in
            let (kitchen, study) = (Host.loopback(folder + "/kitchen"), Host.loopback(folder + "/study"))
            try await kitchen.withReceiver { running in
                let words = ["send", "-", "--name", "endless", "--to", running.address]
                _ = try await Subprocess.run(
                    study.configuration(Programs.waft, words), input: .inputWriter, output: .discarded,
                    error: .discarded
                ) { execution in
                    _ = try await execution.standardInputWriter.write(Array(repeating: UInt8(7), count: 1 << 20))
                    _ = try await running.log.first("progress")
                    kill(execution.processIdentifier.value, SIGINT)
                }
                let failed = try await running.log.first("failed")
                #expect((failed.cause, failed.reason) == ("senderCancelled", "the sender cancelled"))
            }
        }
    }
}
