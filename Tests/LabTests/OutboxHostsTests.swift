import Foundation
import Subprocess
import Testing

/// The outbox between two hosts that find each other by mDNS, with the real programs.
@Suite(
    "The outbox between hosts", .serialized, .timeLimit(.minutes(3)),
    .enabled(if: Lab.isPossible, "NOT RUN: network namespaces need root; run Scripts/test as root"))
struct OutboxHostsTests {
    private struct Job: Decodable {
        var state: String
        var attemptCount: Int
    }

    private func job(_ number: Int, _ host: Host) async throws -> Job {
        let shown = try await host.run(arguments: ["outbox", "show", "\(number)", "--json"])
        try #require(shown.exit == 0, "\(shown.errors)")
        return try JSONDecoder().decode(Job.self, from: Data(shown.output.utf8))
    }

    @Test(
        "an item that is queued for an absent peer is sent when the peer appears, reported once to the hook, also after the sender was killed",
        arguments: ["all", "none"])
    func appearing(avahi: String) async throws {
        try await Lab.with(avahi: avahi) { lab in
            let out = lab.folder + "/out"
            try FileManager.default.createDirectory(atPath: out, withIntermediateDirectories: true)
            try writeScript(
                "#!/bin/sh\necho \"$WAFT_JOB $WAFT_JOB_STATE\" >> '\(out)/told'\n", to: lab.folder + "/told.sh")
            var sender = lab.host("study")
            sender.environment["WAFT_OUTBOX_HOOK"] = lab.folder + "/told.sh"
            sender.environment["WAFT_HOOK_WRITABLE"] = out
            let study = sender
            let path = lab.folder + "/a.txt"
            try "as it was".write(toFile: path, atomically: false, encoding: .utf8)
            let words = ["--to", "kitchen", "--queue"]
            for (items, input) in [([path, "--snapshot"], ""), (["-", "--name", "p.txt"], "from a pipe")] {
                let queued = try await study.run(Programs.waft, ["send"] + items + words, input: input)
                try #require(queued.exit == 0, "\(queued.errors)")
            }
            try "as it is".write(toFile: path, atomically: false, encoding: .utf8)
            try await study.withReceiver(Programs.waftd, []) { daemon in
                try await eventually { try await job(1, study).attemptCount > 0 }
                daemon.signal(.kill)
            }
            try await study.withReceiver(Programs.waftd, []) { daemon in
                // It waits for its next attempt: the appearance of the peer starts it.
                try await eventually { try await job(1, study).state == "waiting" }
                try await lab.host("kitchen").withReceiver { kitchen in
                    let start = ContinuousClock.now
                    for number in 1...2 {
                        try await daemon.log.error(containing: "job=\(number) reason=- state=done")
                    }
                    print("outbox: delivered \(ContinuousClock.now - start) after the peer has appeared")
                    #expect(try kitchen.names() == ["a.txt", "p.txt"])
                    #expect(try String(contentsOfFile: kitchen.inbox + "/a.txt", encoding: .utf8) == "as it was")
                    #expect(try String(contentsOfFile: kitchen.inbox + "/p.txt", encoding: .utf8) == "from a pipe")
                }
                var told = ""
                try await eventually {
                    told = (try? String(contentsOfFile: out + "/told", encoding: .utf8)) ?? ""
                    return told.split(separator: "\n").count == 2
                }
                #expect(told.split(separator: "\n").sorted() == ["1 done", "2 done"])
                let removed = try await study.run(arguments: ["outbox", "remove", "--all"])
                #expect(removed.exit == 0, "\(removed.errors)")
                let left = try await study.run(arguments: ["outbox", "list", "--all"])
                #expect(left.output == "")
            }
        }
    }

    @Test(
        "the progress of a job is shown while it is being sent, and also that no process sends it after the daemon was killed"
    )
    func progress() async throws {
        try await Lab.with(avahi: "none") { lab in
            let study = lab.host("study")
            let path = lab.folder + "/big.bin"
            try "\(UInt64.random(in: 0...UInt64.max))".write(toFile: path, atomically: false, encoding: .utf8)
            try #require(truncate(path, 200_000_000) == 0)
            let queued = try await study.run(arguments: ["send", path, "--to", "kitchen", "--queue"])
            try #require(queued.exit == 0, "\(queued.errors)")
            try await lab.call(["rate", lab.name, "study", "100mbit"])
            try await lab.host("kitchen").withReceiver { kitchen in
                try await study.withReceiver(Programs.waftd, []) { daemon in
                    var line = ""
                    while line.firstMatch(of: /being sent, \d+ %: .* of 200\.0 MB/) == nil {
                        line = try await study.run(arguments: ["outbox"]).output
                        try Task.checkCancellation()
                    }
                    let shown = try await study.run(arguments: ["outbox", "show", "1", "--json"])
                    #expect(shown.output.contains("\"bytes\":") && shown.output.contains("\"total\":200000000"))
                    let removed = try await study.run(arguments: ["outbox", "remove", "1"])
                    #expect(removed.exit == 64, "it is being sent")
                    daemon.signal(.kill)
                }
                let line = try await study.run(arguments: ["outbox"]).output
                #expect(line.contains("interrupted when the receiver ended"), "\(line)")
                try await lab.call(["rate", lab.name, "study", "off"])
                try await study.withReceiver(Programs.waftd, []) { daemon in
                    try await daemon.log.error(containing: "state=done")
                }
                #expect(try kitchen.names() == ["big.bin"])
            }
        }
    }
}
