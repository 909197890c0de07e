import Foundation
import Testing

/// `waft transfers` at both sides of a slow transfer.
@Suite("Transfers that move", .timeLimit(.minutes(2)))
struct TransfersTests {
    private func withSides(
        _ body: @escaping @Sendable (Host, RunningReceiver, Host, RunningReceiver) async throws -> Void
    )
        async throws
    {
        try await withTemporaryFolder { folder in
            let (kitchen, study) = (Host.loopback(folder + "/kitchen"), Host.loopback(folder + "/study"))
            for host in [kitchen, study] {
                #expect(try await host.run(arguments: ["config", "set", "accept", "everyone"]).exit == 0)
            }
            try await kitchen.withReceiver { receiver in
                try await study.withReceiver { sender in try await body(kitchen, receiver, study, sender) }
            }
        }
    }

    /// An item that never ends by itself.
    private func slow(_ host: Host) throws -> String {
        let script = host.home + "/slow"
        try writeScript(
            "#!/bin/sh\ncase $1 in\nplaceholder) echo '{\"name\": \"slow.bin\", \"size\": 1000000}' ;;\n"
                + "item) while head -c 1000 /dev/zero; do sleep 0.1; done ;;\nesac\n", to: script)
        return script
    }

    private func line(at host: Host, _ words: String) async throws -> String {
        nonisolated(unsafe) var line = ""
        try await eventually {
            line = try await host.run(arguments: ["transfers"]).output
            return line.contains(words)
        }
        return line
    }

    @Test("are listed at both sides with item, peer and percent, and either side cancels")
    func both() async throws {
        try await withSides { kitchen, receiver, study, _ in
            let script = try slow(study)
            let words = ["send", "--source", script, "--to", receiver.address]
            let end = try await study.withProgram(Programs.waft, words) { _ in
                let arriving = try await line(at: kitchen, "kB of 1.0 MB")
                #expect(arriving.contains("slow.bin from ") && arriving.contains(" %  "), "\(arriving)")
                #expect(try await kitchen.run(arguments: ["status"]).output.contains("moving           "))
                let leaving = try await line(at: study, "slow.bin to \(receiver.address)")
                #expect(leaving.hasPrefix(arriving.prefix(8)), "\(leaving)")
                let event = try await study.run(arguments: ["transfers", "--json"]).output
                #expect(event.contains(#""event":"moving""#) && event.contains(#""way":"out""#), "\(event)")
                let cancelled = try await study.run(arguments: ["transfers", "cancel", "slow.bin"])
                #expect(cancelled.output == "cancelled: slow.bin to \(receiver.address)\n", "\(cancelled)")
            }
            #expect(end.exit == 130, "\(end)")
            let again = try await study.withProgram(Programs.waft, words) { _ in
                let id = try await line(at: kitchen, "slow.bin from").prefix(8)
                let cancelled = try await kitchen.run(arguments: ["transfers", "cancel", String(id)])
                #expect(cancelled.output.hasPrefix("cancelled: slow.bin from "), "\(cancelled)")
            }
            #expect(again.exit == 12, "\(again)")
            #expect(try await kitchen.run(arguments: ["transfers", "cancel", "ffff"]).exit == 66)
        }
        try await withTemporaryFolder { folder in
            let nobody = Host.loopback(folder + "/nobody")
            let outcome = try await nobody.run(arguments: ["transfers"])
            #expect(outcome.exit == 69)
        }
    }

    @Test("are jobs of the outbox too, and a cancelled one is not sent again")
    func queued() async throws {
        try await withSides { kitchen, receiver, study, _ in
            let large = study.home + "/large.bin"
            #expect(try await study.run("/usr/bin/truncate", ["-s", "8G", large]).exit == 0)
            let queued = try await study.run(arguments: ["send", large, "--to", receiver.address, "--queue"])
            #expect(queued.exit == 0, "\(queued)")
            let leaving = try await line(at: study, "large.bin to \(receiver.address)")
            #expect(leaving.contains("of 8.6 GB"), "\(leaving)")
            #expect(try await study.run(arguments: ["transfers", "cancel"]).exit == 0)
            try await eventually {
                try await study.run(arguments: ["outbox", "list", "--all"]).output.contains("cancelled")
            }
            try await eventually {
                try await kitchen.run(arguments: ["transfers"]).errors.contains("nothing is moving")
            }
        }
    }
}
