import Foundation
import Subprocess
import Synchronization
import Testing

/// Jobs that `waft send --queue` leaves to the daemon, with the real programs on loopback.
@Suite("The outbox", .serialized, .timeLimit(.minutes(3)))
struct OutboxTests {
    /// A job as `waft outbox show --json` prints it.
    private struct Job: Decodable {
        struct Item: Decodable {
            var stored: String?
            var digest: String?
        }

        var state: String
        var attemptCount: Int
        var items: [Item]
        var reason: String?
        var exit: Int?
    }

    private struct Places: Sendable {
        var folder: String
        /// Sends.
        var study: Host
        /// Receives.
        var kitchen: Host
        var port: Int

        var address: String { "127.0.0.1:\(port)" }
        var inbox: String { kitchen.home + "/Documents/Inbox" }

        func names() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: inbox).filter { $0 != ".waft-inbox" }.sorted()
        }

        @discardableResult
        func file(_ name: String, _ text: String) throws -> String {
            try text.write(toFile: folder + "/" + name, atomically: false, encoding: .utf8)
            return folder + "/" + name
        }

        /// Queues an item, and expects that to succeed.
        @discardableResult
        func queue(_ arguments: [String], input: String = "") async throws -> ProgramResult {
            let outcome = try await study.run(
                Programs.waft, ["send"] + arguments + ["--to", address, "--queue"], input: input)
            try #require(outcome.exit == 0, "\(outcome.errors)")
            return outcome
        }

        func receiving<Value: Sendable>(
            _ rule: String = "everyone", _ body: @Sendable @escaping (RunningReceiver) async throws -> Value
        ) async throws -> Value {
            try await kitchen.withReceiver(
                Programs.waft, ["receive", "--accept", rule, "--port", "\(port)"], body
            ).result
        }

        func daemon<Value: Sendable>(
            _ body: @Sendable @escaping (RunningReceiver) async throws -> Value
        ) async throws -> Value {
            try await study.withReceiver(Programs.waftd, [], body).result
        }
    }

    private func withPlaces(_ body: (Places) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            try await body(
                Places(
                    folder: folder, study: .loopback(folder + "/study"), kitchen: .loopback(folder + "/kitchen"),
                    port: try freePort()))
        }
    }

    private func job(_ number: Int, _ places: Places) async throws -> Job {
        let shown = try await places.study.run(arguments: ["outbox", "show", "\(number)", "--json"])
        try #require(shown.exit == 0, "\(shown.errors)")
        return try JSONDecoder().decode(Job.self, from: Data(shown.output.utf8))
    }

    @Test(
        "items that are queued while neither side runs are sent when both do: files and standard input, whose pipe is long gone"
    )
    func nobodyThere() async throws {
        try await withPlaces { places in
            let queued = try await places.queue([try places.file("a.txt", "hello")])
            #expect(queued.errors.contains("when waftd runs"))
            let piped = try await places.queue(["-", "--name", "p.txt", "--json"], input: "from a pipe")
            #expect(piped.output.contains("\"daemon\":false"))
            try await places.daemon { daemon in
                // The receiver does not listen yet: the daemon tries again by itself.
                try await eventually { try await job(2, places).attemptCount > 0 }
                try await places.receiving { kitchen in
                    _ = try await kitchen.log.first("stored") { $0.path?.hasSuffix("a.txt") == true }
                    _ = try await kitchen.log.first("stored") { $0.path?.hasSuffix("p.txt") == true }
                }
                try await daemon.log.error(containing: "job=1 reason=- state=done")
                try await daemon.log.error(containing: "job=2 reason=- state=done")
            }
            #expect(try places.names() == ["a.txt", "p.txt"])
            #expect(try String(contentsOfFile: places.inbox + "/p.txt", encoding: .utf8) == "from a pipe")
            let shown = try await job(2, places)
            #expect(shown.state == "done")
            #expect(shown.exit == 0)
            #expect(shown.items[0].stored == "p.txt")
            // The copy is not needed any more.
            #expect(!FileManager.default.fileExists(atPath: places.study.home + "/state/outbox/2/items"))
            let left = try await places.study.run(arguments: ["outbox"])
            #expect(left.output == "")
        }
    }

    @Test("a daemon that is killed in the middle, again and again, has the file there once in the end")
    func killed() async throws {
        try await withPlaces { places in
            let size = 60_000_000
            let path = try places.file("big.bin", "")
            #expect(truncate(path, size) == 0)
            try await places.queue([path])
            try await places.receiving { kitchen in
                // The contents go in some 250 calls.
                for attempt in 1...4 {
                    #expect(try await daemonIsKilled(places, at: "sendto", 50), "attempt \(attempt)")
                    #expect(try places.names() == [], "attempt \(attempt)")
                }
                try await places.daemon { _ in
                    try await eventually { try await job(1, places).state == "done" }
                }
                #expect(try places.names() == ["big.bin"])
                let attributes = try FileManager.default.attributesOfItem(atPath: places.inbox + "/big.bin")
                #expect(attributes[.size] as? Int == size)
            }
            let shown = try await job(1, places)
            #expect(shown.state == "done")
            #expect(shown.attemptCount == 5)
        }
    }

    @Test("a daemon that is killed at any step that it writes down has the file there exactly once")
    func killedAnywhere() async throws {
        var kills = 0
        // The tracer counts the calls of each thread by itself.
        for calls in ["rename,renameat,renameat2", "fsync", "flock", "newfstatat,fstat", "writev,sendto,sendmsg"] {
            for step in 1...8 {
                guard try await killed(at: calls, step) else { break }
                kills += 1
            }
        }
        #expect(kills >= 5)
        print("the outbox: killed \(kills) times")
    }

    /// Runs a daemon that the kernel's tracer kills at one of its calls.
    /// - Returns: whether the daemon made this call before its job was done.
    private func daemonIsKilled(_ places: Places, at calls: String, _ step: Int) async throws -> Bool {
        var host = places.study
        host.prefix = [
            "/usr/bin/strace", "-D", "-f", "-qqq", "-o", "/dev/null", "-e", "trace=\(calls)",
            "-e", "inject=\(calls):signal=KILL:when=\(step)",
        ]
        do {
            let (_, exit) = try await host.withReceiver(Programs.waftd, []) { daemon in
                try? await daemon.log.error(containing: "job=1 reason=- state=done")
                // More is written after the user was notified.
                try await Task.sleep(for: .milliseconds(300))
            }
            return exit == 128 + Int(SIGKILL)
        } catch is EventLog.Ended {
            return true
        }
    }

    /// - Returns: whether the daemon made this call.
    private func killed(at calls: String, _ step: Int) async throws -> Bool {
        let wasKilled = Flag()
        try await withPlaces { places in
            // Identity and folders are made first, so that the test kills a daemon that has run before.
            try await places.daemon { _ in }
            try await places.queue([try places.file("a.txt", "hello")])
            try await places.receiving { kitchen in
                wasKilled.value = try await daemonIsKilled(places, at: calls, step)
                try await places.daemon { daemon in
                    try await eventually { try await job(1, places).state == "done" }
                }
                #expect(try places.names() == ["a.txt"], "killed at \(calls) \(step)")
            }
        }
        return wasKilled.value
    }

    @Test("a cancelled job is not sent, later ones are, and each change is one line")
    func cancelled() async throws {
        try await withPlaces { places in
            try await places.queue([try places.file("no.txt", "no")])
            try await places.queue([try places.file("neither.txt", "no")])
            let early = try await places.study.run(arguments: ["outbox", "cancel", "1"])
            #expect(early.exit == 0, "\(early.errors)")
            #expect(early.output == "job 1 cancelled\n")
            try await places.daemon { daemon in
                let late = try await places.study.run(arguments: ["outbox", "cancel", "2", "9"])
                #expect(late.exit == 66, "there is no job 9")
                #expect(late.output == "job 2 cancelled\n")
                try await places.queue([try places.file("yes.txt", "yes")])
                let status = try await places.study.run(arguments: ["status"])
                #expect(status.output.contains("outbox"))
                try await places.receiving { _ in
                    try await daemon.log.error(containing: "job=3 reason=- state=done")
                }
            }
            #expect(try places.names() == ["yes.txt"])
            let again = try await places.study.run(arguments: ["outbox", "retry", "2"])
            #expect(again.exit == 64)
            let removed = try await places.study.run(arguments: ["outbox", "remove", "2"])
            #expect(removed.output == "job 2 removed\n", "\(removed.errors)")
            let rest = try await places.study.run(arguments: ["outbox", "remove", "--all"])
            #expect(rest.output == "2 jobs removed\n", "\(rest.errors)")
        }
    }

    @Test("a snapshot has the queued contents; a changed reference is not sent, and this is reported")
    func snapshot() async throws {
        try await withPlaces { places in
            let path = try places.file("a.txt", "as it was")
            try await places.queue([path, "--snapshot"])
            try await places.queue([path, "--name", "b.txt"])
            try places.file("a.txt", "as it is")
            try await places.receiving { _ in
                try await places.daemon { daemon in
                    try await daemon.log.error(containing: "job=1 reason=- state=done")
                    try await daemon.log.error(containing: "job=2 reason=changed state=failed")
                }
            }
            #expect(try places.names() == ["a.txt"])
            #expect(try String(contentsOfFile: places.inbox + "/a.txt", encoding: .utf8) == "as it was")
            let shown = try await job(2, places)
            #expect(shown.exit == 17)
            #expect(shown.reason?.contains("--snapshot") == true)
        }
    }

    @Test("a declined job is given up at once, and the outbox hook is called")
    func declined() async throws {
        try await withPlaces { places in
            var places = places
            let out = places.folder + "/out"
            try FileManager.default.createDirectory(atPath: out, withIntermediateDirectories: true)
            try writeScript(
                "#!/bin/sh\ncat > '\(out)/facts'\necho \"$1 $WAFT_JOB $WAFT_JOB_STATE\" > '\(out)/told'\n",
                to: places.folder + "/told.sh")
            places.study.environment["WAFT_OUTBOX_HOOK"] = places.folder + "/told.sh"
            places.study.environment["WAFT_HOOK_WRITABLE"] = out
            try await places.queue([try places.file("a.txt", "hello")])
            let there = places
            try await places.receiving("none") { _ in
                try await there.daemon { daemon in
                    try await daemon.log.error(containing: "job=1 reason=declined state=failed")
                    try await eventually {
                        (try? String(contentsOfFile: out + "/told", encoding: .utf8)) == "outbox 1 failed\n"
                    }
                }
            }
            let facts = try Data(contentsOf: URL(fileURLWithPath: out + "/facts"))
            let document = try #require(try JSONSerialization.jsonObject(with: facts) as? [String: Any])
            #expect(document["code"] as? String == "declined")
            #expect(try await job(1, places).exit == 12)
        }
    }
}

private final class Flag: Sendable {
    private let state = Mutex(false)

    var value: Bool {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}
