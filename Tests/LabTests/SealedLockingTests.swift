import Foundation
import Subprocess
import SystemPackage
import Testing

/// Sealed items, and a lock that comes at any moment.
@Suite("A lock", .serialized, .timeLimit(.minutes(5)))
struct SealedLockingTests {
    private static let isWhole = ProcessInfo.processInfo.environment["TEST_ALL"] != nil

    private struct Kitchen {
        let folder: String
        let host: Host
        let study: Host

        init(_ folder: String, _ protection: String = "unlessOpen") throws {
            self.folder = folder
            (host, study) = (.loopback(folder + "/kitchen"), .loopback(folder + "/study"))
            try host.setUpProtection(protection)
        }

        func send(_ name: String, _ flags: [String] = [], to running: RunningReceiver) async throws -> ProgramResult {
            let words = ["send", folder + "/" + name, "--to", running.address, "--json"]
            return try await study.run(arguments: words + flags)
        }

        func cat(_ name: String) async throws -> ProgramResult {
            try await host.run(arguments: ["inbox", "cat", name])
        }

        /// All files that lie in the Inbox and in staging, except marks and locks.
        func files(of running: RunningReceiver) throws -> [String] {
            try running.names() + running.staged() + running.kept()
        }
    }

    private func withKitchen(
        _ protection: String = "unlessOpen", _ body: @escaping @Sendable (Kitchen) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in try await body(Kitchen(folder, protection)) }
    }

    // MARK: At any moment

    @Test(
        "at a random moment of a transfer leaves it stored, kept or refused; never clear, never lost",
        arguments: ["unlessOpen", "complete"])
    func atRandomMoments(protection: String) async throws {
        let rounds = Self.isWhole ? 100 : 14
        try await withKitchen(protection) { kitchen in
            try await kitchen.host.withReceiver { running in
                try await kitchen.host.unlock()
                var ends: [Int: Int] = [:]
                for round in 1...rounds {
                    let name = "item-\(round).bin"
                    try writeRandom(kitchen.folder + "/" + name, Int.random(in: 1...4 << 20))
                    async let sent = kitchen.send(name, ["--timeout", "1"], to: running)
                    // The moment itself is random: nothing is waited for.
                    try await Task.sleep(for: .milliseconds(Int.random(in: 0...150)))
                    try await kitchen.host.lock()
                    let first = try await sent
                    ends[first.exit, default: 0] += 1
                    // Stored; busy until then; broken off.
                    #expect([0, 11, 15].contains(first.exit), "\(first)")
                    // The sender may give up before the receiver.
                    try await eventually { try running.staged().isEmpty }
                    let clear = try kitchen.files(of: running).filter { !$0.hasSuffix(".age") && !$0.hasPrefix("p-") }
                    #expect(clear == [])
                    try await kitchen.host.unlock()
                    if first.exit != 0 { #expect(try await kitchen.send(name, to: running).exit == 0, "again") }
                    let sealed = "\(running.inbox)/\(name).age"
                    #expect(try await kitchen.host.opens(sealed, as: kitchen.folder + "/" + name), "\(name): \(first)")
                    #expect(try running.kept() == [] && running.staged() == [])
                    try FileManager.default.removeItem(atPath: kitchen.folder + "/" + name)
                }
                #expect(try running.names().count == rounds)
                let verified = try await kitchen.host.run(arguments: ["inbox", "verify"])
                #expect(verified.exit == 0, "\(verified)")
                print("locked at a random moment, \(protection): exit codes \(ends)")
            }
        }
    }

    // MARK: The classes

    @Test("stops a transfer of the class complete and refuses offers as locked; after the unlock it is resumed")
    func complete() async throws {
        try await withKitchen("complete") { kitchen in
            try writeRandom(kitchen.folder + "/large.bin", 8 << 20)
            try writeRandom(kitchen.folder + "/small.bin", 1_000)
            try await kitchen.host.withReceiver { running in
                let refused = try await kitchen.send("small.bin", ["--timeout", "3"], to: running)
                #expect(refused.exit == 15, "\(refused)")
                #expect(refused.events.contains { $0.event == "busy" && $0.reason == "locked" }, "\(refused.output)")
                #expect(try kitchen.files(of: running) == [])

                try await kitchen.host.unlock()
                let large = kitchen.folder + "/large.bin"
                let words = ["send", large, "--to", running.address, "--json", "--timeout", "2"]
                let stopping = kitchen.study.reading(large, "STOP", at: 8)
                let stopped = try await stopping.withProgram(Programs.waft, words) { sender in
                    try await running.holdsPart(of: 1 << 20)
                    try await kitchen.host.lock()
                    try await sender.goOn { await sender.transcript.hasEnded }
                }
                #expect([11, 15].contains(stopped.exit), "\(stopped.text)")
                #expect(try running.names() == [] && running.kept().count == 1)
                #expect(try running.partBytes() < 8 << 20, "no more of it came while locked")

                try await kitchen.host.unlock()
                let again = try await kitchen.send("large.bin", to: running)
                #expect(again.exit == 0, "\(again)")
                let moved = again.events.compactMap(\.moved).last ?? .max
                #expect(moved < 8 << 20, "it was resumed: \(moved)")
                #expect(try await kitchen.host.opens(running.inbox + "/large.bin.age", as: large))
            }
        }
    }

    @Test("lets a transfer of the class unlessOpen go on to its end, and nothing of it can be read before the unlock")
    func unlessOpen() async throws {
        try await withKitchen { kitchen in
            try writeRandom(kitchen.folder + "/large.bin", 8 << 20)
            let large = kitchen.folder + "/large.bin"
            try await kitchen.host.withReceiver { running in
                try await kitchen.host.unlock()
                let words = ["send", large, "--to", running.address, "--json"]
                let stopping = kitchen.study.reading(large, "STOP", at: 8)
                let sent = try await stopping.withProgram(Programs.waft, words) { sender in
                    try await running.holdsPart(of: 1 << 20)
                    try await kitchen.host.lock()
                    try await sender.goOn { await running.log.count("stored") == 1 }
                }
                #expect(sent.exit == 0, "\(sent.text)")
                #expect(try await kitchen.cat("large.bin").exit == 18)
                #expect(try await kitchen.host.opens(running.inbox + "/large.bin.age", as: large))
                let verified = try await kitchen.host.run(arguments: ["inbox", "verify", "--json"])
                #expect(verified.exit == 0 && verified.output.contains(#""locked":1"#), "\(verified)")
            }
        }
    }

    @Test("of the class untilFirstUnlock is before the first unlock only, and after lock --all")
    func untilFirstUnlock() async throws {
        try await withKitchen("untilFirstUnlock") { kitchen in
            try "hello\n".write(toFile: kitchen.folder + "/a.txt", atomically: false, encoding: .utf8)
            try await kitchen.host.withReceiver { running in
                #expect(try await kitchen.send("a.txt", to: running).exit == 0)
                #expect(try running.names() == ["a.txt.age"])
                #expect(try await kitchen.cat("a.txt").exit == 18)
                try await kitchen.host.unlock()
                #expect(try await kitchen.cat("a.txt").output == "hello\n")
                try await kitchen.host.lock()
                #expect(try await kitchen.cat("a.txt").output == "hello\n")
                try await kitchen.host.lock(["--all"])
                let closed = try await kitchen.cat("a.txt")
                #expect(closed.exit == 18 && closed.output == "" && closed.errors.contains("waft unlock"), "\(closed)")
            }
            // Another start.
            try await kitchen.host.withReceiver { _ in
                let closed = try await kitchen.cat("a.txt")
                #expect(closed.exit == 18)
            }
        }
    }

    @Test("is for ever in a drop box: what arrives opens with the private key of another machine only")
    func dropBox() async throws {
        try await withTemporaryFolder { folder in
            let (kitchen, study) = (Host.loopback(folder + "/kitchen"), Host.loopback(folder + "/study"))
            let other = Host.loopback(folder + "/other")
            let key = folder + "/key.txt"
            let words = ["-c", "age-keygen -o \"$1\" 2>&1 | sed 's/.*: //'", "sh", key]
            let recipient = try await other.run("/bin/sh", words).output.trimmingCharacters(in: .whitespacesAndNewlines)
            let made = try await kitchen.run(arguments: ["protection", "set-up", "--recipient", recipient])
            try #require(made.exit == 0, "\(made)")
            try "hello\n".write(toFile: folder + "/a.txt", atomically: false, encoding: .utf8)
            try await kitchen.withReceiver { running in
                let sent = try await study.run(arguments: ["send", folder + "/a.txt", "--to", running.address])
                #expect(sent.exit == 0)
                #expect(try await kitchen.run(arguments: ["inbox", "cat", "a.txt"]).exit == 18)
                #expect(try await kitchen.opens(running.inbox + "/a.txt.age", as: folder + "/a.txt", with: key))
            }
        }
    }

    // MARK: Kill

    @Test("or a kill in the middle of protected transfers leaves each item whole, or to be sent again")
    func killed() async throws {
        try await withKitchen { kitchen in
            let large = kitchen.folder + "/large.bin"
            try writeRandom(large, 8 << 20)
            // Locked and unlocked at the start that follows.
            for isUnlocked in [false, true] {
                try await kitchen.host.withReceiver { running in
                    let words = ["send", large, "--to", running.address, "--json", "--timeout", "1"]
                    let stopping = kitchen.study.reading(large, "STOP", at: 8)
                    try await stopping.withProgram(Programs.waft, words, signal: .kill) { _ in
                        try await running.holdsPart(of: 1 << 20)
                        running.signal(.kill)
                        await running.log.ended()
                    }
                }
                try await kitchen.host.withReceiver { running in
                    if isUnlocked { try await kitchen.host.unlock() }
                    #expect(try running.names() == [] && running.staged() == [], "unlocked: \(isUnlocked)")
                    let again = try await kitchen.send("large.bin", to: running)
                    #expect(again.exit == 0, "\(again)")
                    let moved = again.events.compactMap(\.moved).last ?? 0
                    #expect(isUnlocked ? moved < 8 << 20 : moved == 8 << 20, "\(moved)")
                    #expect(try running.kept() == [] && running.names() == ["large.bin.age"])
                    #expect(try await kitchen.host.opens(running.inbox + "/large.bin.age", as: large))
                    #expect(try await kitchen.host.run(arguments: ["inbox", "remove", "large.bin"]).exit == 0)
                }
            }
        }
    }

    // MARK: Secrecy

    @Test("finds no command readable by other programs that reads a sealed item")
    func command() async throws {
        try await withKitchen { kitchen in
            try writeRandom(kitchen.folder + "/file.bin", 1 << 20)
            try await kitchen.host.withReceiver { running in
                #expect(try await kitchen.send("file.bin", to: running).exit == 0)
                try await kitchen.host.unlock()
                // The command is held by a reader that reads no more than a byte.
                let script = """
                    ulimit -S -c 4096; mkfifo "$2"; "$1" inbox cat file.bin >"$2" & exec 3<"$2"
                    head -c 1 <&3 >/dev/null; grep 'Max core' /proc/$!/limits /proc/$$/limits; cat <&3 >/dev/null; wait $!
                    """
                let outcome = try await kitchen.host.run(
                    "/bin/sh", ["-c", script, "sh", Programs.waft, kitchen.folder + "/fifo"])
                let sizes = outcome.output.matches(of: /Max core file size +([0-9]+)/).map(\.output.1)
                #expect(outcome.exit == 0 && sizes.count == 2 && sizes[0] == "0" && sizes[1] != "0", "\(outcome)")
            }
        }
    }

    // MARK: age

    @Test("is no matter to age: it opens all sealed files of an Inbox, and inbox cat prints the same", arguments: sizes)
    func age(size: Int) async throws {
        try await withKitchen { kitchen in
            let file = kitchen.folder + "/file.bin"
            try writeRandom(file, size)
            try await kitchen.host.withReceiver { running in
                #expect(try await kitchen.send("file.bin", to: running).exit == 0)
                #expect(try await kitchen.host.opens(running.inbox + "/file.bin.age", as: file))
                try await kitchen.host.unlock()
                let script = "\"$1\" inbox cat file.bin | /usr/bin/cmp - \"$2\""
                let same = try await kitchen.host.run("/bin/sh", ["-c", script, "sh", Programs.waft, file])
                #expect(same.exit == 0, "\(same)")
            }
        }
    }

    private static let sizes = [0, 65_536, 65_537] + (isWhole ? [1 << 30] : [])
}
