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

    @Test("uses a changed config.yaml at once or after SIGHUP, and none of one with a fault, which waft status shows")
    func changedSettings() async throws {
        try await withTemporaryFolder { folder in
            let kitchen = Host.loopback(folder + "/kitchen")
            try await kitchen.withReceiver(Programs.waftd, []) { daemon in
                let path = kitchen.home + "/config/config.yaml"
                try "name: other\n".write(toFile: path, atomically: false, encoding: .utf8)
                _ = try await daemon.log.first("settings") { $0.reason == nil }
                let changed = try await kitchen.run(arguments: ["status"])
                #expect(changed.output.contains("name             other\n"), "\(changed)")
                try "nmae: third\n".write(toFile: path, atomically: false, encoding: .utf8)
                kill(daemon.process.value, SIGHUP)
                _ = try await daemon.log.first("settings") { $0.reason != nil }
                let faulty = try await kitchen.run(arguments: ["status"])
                #expect(
                    faulty.exit == 0 && faulty.output.contains("line 1: unknown setting \"nmae\"; did you mean name?"))
                #expect(faulty.output.contains("name             other\n"), "\(faulty)")
                let set = try await kitchen.run(arguments: ["config", "set", "accept", "contacts"])
                #expect(set.exit == 64 && (set.output + set.errors).contains("the receiver does not use it"), "\(set)")
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

    @Test("ends with 0 on SIGTERM though a handler does not, and the handler ends with it")
    func stubbornHandler() async throws {
        try await withTemporaryFolder { folder in
            let (kitchen, study) = (Host.loopback(folder + "/kitchen"), Host.loopback(folder + "/study"))
            let out = folder + "/out"
            try FileManager.default.createDirectory(atPath: out, withIntermediateDirectories: true)
            try writeScript(
                "#!/bin/sh\ntrap '' TERM\necho $$ >'\(out)/new'; mv '\(out)/new' '\(out)/begun'\nsleep 1000\nsleep 1000\n",
                to: folder + "/slow.sh")
            let words = ["--name", "Slow", "--type", "public.data", "--run", folder + "/slow.sh", "--writable", out]
            let added = try await kitchen.run(arguments: ["handlers", "add"] + words)
            try #require(added.exit == 0, "\(added)")
            try "a".write(toFile: folder + "/a.txt", atomically: false, encoding: .utf8)
            let ended = try await kitchen.withReceiver(Programs.waftd, ["--accept", "everyone"]) { daemon in
                let sent = try await study.run(arguments: ["send", folder + "/a.txt", "--to", daemon.address])
                #expect(sent.exit == 0, "\(sent.errors)")
                try await eventually { FileManager.default.fileExists(atPath: out + "/begun") }
                return daemon.log
            }
            #expect(ended.exit == 0)
            try await ended.result.error(containing: "a handler or a peer did not end in time")
            let handler = try String(contentsOfFile: out + "/begun", encoding: .utf8).trimmingCharacters(in: .newlines)
            try await eventually {
                let line = try? String(contentsOfFile: "/proc/\(handler)/stat", encoding: .utf8)
                return line?.contains(") Z ") ?? true
            }
        }
    }
}
