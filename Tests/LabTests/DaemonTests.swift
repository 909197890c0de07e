import Foundation
import Subprocess
import Testing

/// The behaviour of a daemon towards its machine.
@Suite("A daemon in the background", .serialized, .timeLimit(.minutes(2)))
struct DaemonTests {
    @Test("says for how long it is visible to everyone, and to whom then")
    func visibility() async throws {
        try await withTemporaryFolder { folder in
            let kitchen = Host.loopback(folder + "/kitchen")
            try await kitchen.withReceiver(Programs.waftd, []) { _ in
                for (words, line) in [
                    ([], "visible to       contacts\n"),
                    (["everyone", "--for", "3h"], "visible to       everyone for 3h; then contacts\n"),
                    (["everyone"], "visible to       everyone\n"),
                ] {
                    let chosen = try await kitchen.run(arguments: ["visible"] + words)
                    #expect(chosen.exit == 0, "\(chosen.errors)")
                    let status = try await kitchen.run(arguments: ["status"])
                    #expect(status.output.contains(line), "\(status.output)")
                }
            }
        }
    }

    @Test("continues after a SIGHUP with a line about its settings, and waft status reports a changed config.yaml")
    func hangup() async throws {
        try await withTemporaryFolder { folder in
            let kitchen = Host.loopback(folder + "/kitchen")
            try await kitchen.withReceiver(Programs.waftd, []) { daemon in
                let before = try await kitchen.run(arguments: ["status"])
                #expect(!before.output.contains("config.yaml"), "\(before.output)")
                kill(daemon.process.value, SIGHUP)
                try await daemon.log.error(containing: "settings are read at the start; to use changed ones")
                try "name: other\n".write(
                    toFile: kitchen.home + "/config/config.yaml", atomically: false, encoding: .utf8)
                let after = try await kitchen.run(arguments: ["status"])
                #expect(after.exit == 0)
                let line = "settings         config.yaml has changed since the start: restart the receiver to use it\n"
                #expect(after.output.contains(line), "\(after.output)")
            }
        }
    }

    @Test("continues after a Ctrl-C that its shell has told it to ignore, and ends on SIGTERM")
    func ignored() async throws {
        try await withTemporaryFolder { folder in
            let kitchen = Host.loopback(folder + "/kitchen")
            let words = ["-c", "trap '' INT; exec \"$@\"", "sh", Programs.waftd, "--accept", "everyone"]
            let ended = try await kitchen.withReceiver("/bin/sh", words) { daemon in
                daemon.signal(.interrupt)
                // Only a living daemon answers.
                let status = try await kitchen.run(arguments: ["status"])
                #expect(status.exit == 0, "\(status.errors)")
            }
            #expect(ended.exit == 0)
        }
    }
}
