import Foundation
import Subprocess
import SystemPackage
import Testing

/// A suspended host: its programs are stopped for a while, and continue.
@Suite(
    "When a machine has slept", .serialized, .timeLimit(.minutes(5)),
    .enabled(if: Lab.isPossible, "NOT RUN: network namespaces need root; run Scripts/test as root"))
struct SuspendTests {
    /// The relevant programs of a host: avahi-daemon, its bus, and ours.
    private func processes(_ lab: Lab, _ host: String) async throws -> [Int32] {
        let shown = try await Subprocess.run(
            .path("/usr/bin/env"), arguments: ["ip", "netns", "pids", "waft-lab.\(lab.name).\(host)"],
            input: .none, output: .string(limit: 1 << 20))
        return shown.standardOutput.split(separator: "\n").compactMap { Int32($0) }.filter { process in
            let name = try? String(contentsOfFile: "/proc/\(process)/comm", encoding: .utf8)
            return ["avahi-daemon", "dbus-daemon", "waft", "waftd"].contains(
                name?.trimmingCharacters(in: .whitespacesAndNewlines))
        }
    }

    private func signal(_ number: Int32, to processes: [Int32]) {
        for process in processes { kill(process, number) }
    }

    /// Makes a file with new contents each time.
    private func file(_ lab: Lab, _ name: String, _ bytes: Int) throws -> String {
        let path = lab.folder + "/" + name
        try "\(name) \(UInt64.random(in: 0...UInt64.max))".write(toFile: path, atomically: false, encoding: .utf8)
        if bytes > 0 { try #require(truncate(path, bytes) == 0) }
        return path
    }

    private func sendUntilItComes(_ lab: Lab, _ name: String) async throws {
        let path = try file(lab, name, 0)
        let start = ContinuousClock.now
        while try await lab.host("study").run(
            arguments: ["send", path, "--to", "kitchen", "--timeout", "5"]
        ).exit != 0 { try Task.checkCancellation() }
        print("after sleep: \(name) came \(ContinuousClock.now - start) after waking")
    }

    @Test(
        "a receiver is found and reached again by itself, and an interrupted transfer continues, with avahi-daemon and without",
        arguments: ["all", "none"])
    func receiver(avahi: String) async throws {
        try await Lab.with(avahi: avahi) { lab in
            let study = lab.host("study")
            let path = try file(lab, "big.bin", 100_000_000)
            try await lab.host("kitchen").withReceiver(Programs.waftd, ["--accept", "everyone"]) { kitchen in
                let words = ["send", path, "--to", "kitchen", "--timeout", "4", "--json"]
                // Slow enough to be interrupted in the middle.
                try await lab.call(["rate", lab.name, "study", "100mbit"])
                let sent = try await study.withProgram(Programs.waft, words) { sender in
                    _ = try await sender.transcript.first("progress") {
                        $0.contains(/"bytes":[1-9][0-9]{6}/) ? true : nil
                    }
                    let asleep = try await processes(lab, "kitchen")
                    #expect(asleep.count >= (avahi == "all" ? 3 : 1))
                    signal(SIGSTOP, to: asleep)
                    defer { signal(SIGCONT, to: asleep) }
                    // Longer than the sender's timeout: it looks for another way by now.
                    try await sender.transcript.says("\"event\":\"resuming\"")
                    signal(SIGCONT, to: asleep)
                    try await lab.call(["rate", lab.name, "study", "off"])
                    try await sendUntilItComes(lab, "small.txt")
                    // It may take any time; if the sender has given up, the same command resumes.
                    try await sender.transcript.says("\"event\":\"done\"")
                }
                if sent.exit != 0 {
                    #expect(sent.exit == 11, "\(sent.text)")
                    let again = try await study.run(arguments: words)
                    #expect(again.exit == 0, "\(again.errors)")
                    let moved = try #require(again.events.compactMap(\.moved).last)
                    #expect(moved < 100_000_000)
                }
                #expect(try kitchen.names() == ["big.bin", "small.txt"])
                #expect(try kitchen.staged() == [] && kitchen.kept() == [])
            }
        }
    }

    @Test("a sender that has slept longer than the receiver's timeout resumes the transfer")
    func sender() async throws {
        try await Lab.with(avahi: "none") { lab in
            let (study, host) = (lab.host("study"), lab.host("kitchen"))
            let path = try file(lab, "big.bin", 100_000_000)
            try await host.withReceiver { kitchen in
                try await lab.call(["rate", lab.name, "study", "100mbit"])
                let words = ["send", path, "--to", "kitchen", "--timeout", "20", "--json"]
                let sent = try await study.withProgram(Programs.waft, words) { sender in
                    _ = try await sender.transcript.first("progress") {
                        $0.contains(/"bytes":[1-9][0-9]{6}/) ? true : nil
                    }
                    let asleep = try await processes(lab, "study")
                    signal(SIGSTOP, to: asleep)
                    defer { signal(SIGCONT, to: asleep) }
                    // The receiver gives the connection up, and keeps the received part.
                    try await eventually { try await host.status().keptPartials == 1 }
                    signal(SIGCONT, to: asleep)
                    try await lab.call(["rate", lab.name, "study", "off"])
                    try await sender.transcript.says("\"event\":\"done\"")
                }
                #expect(sent.exit == 0, "\(sent.text.suffix(1_000))")
                #expect(try kitchen.names() == ["big.bin"])
                #expect(try kitchen.staged() == [] && kitchen.kept() == [])
            }
        }
    }
}
