import Foundation
import Subprocess
import SystemPackage
import Testing

/// Lists of peers that stay open while the peers change.
@Suite(
    "An open list of peers", .serialized, .timeLimit(.minutes(3)),
    .enabled(if: Lab.isPossible, "NOT RUN: network namespaces need root; run Scripts/test as root"))
struct OpenListTests {
    /// Runs `waft peers --watch` beside `body`.
    private func watching(_ host: Host, _ body: @Sendable (EventLog) async throws -> Void) async throws {
        let log = EventLog()
        let configuration = host.configuration(Programs.waft, ["peers", "--watch", "--json"])
        _ = try await Subprocess.run(
            configuration, input: .none, output: .sequence, error: .discarded
        ) { execution in
            let reading = Task {
                for try await line in execution.standardOutput.strings() { await log.add(line) }
                await log.end()
            }
            let outcome: Result<Void, any Error>
            do { outcome = .success(try await body(log)) } catch { outcome = .failure(error) }
            kill(execution.processIdentifier.value, SIGTERM)
            _ = try? await reading.value
            try outcome.get()
        }
    }

    private func configure(_ host: Host, _ words: [String]) async throws {
        let outcome = try await host.run(arguments: words)
        try #require(outcome.exit == 0, "\(words): \(outcome.errors)")
    }

    @Test(
        "shows the name of a peer that wants to pair, that becomes visible, that is renamed: as one peer, never as gone",
        arguments: ["all", "none"])
    func live(avahi: String) async throws {
        try await Lab.with(avahi: avahi) { lab in
            let kitchen = lab.host("kitchen")
            try await watching(lab.host("study")) { log in
                try await kitchen.withReceiver(Programs.waftd, []) { running in
                    #expect(try await log.first("found").name == nil)
                    try await kitchen.withProgram(Programs.waft, ["pair", "--accept", "--code"], signal: .interrupt) {
                        _ in
                        _ = try await log.first("found") { $0.name == "kitchen" }
                    }
                    try await configure(kitchen, ["config", "set", "name", "larder"])
                    try await configure(kitchen, ["visible", "everyone"])
                    _ = try await log.first("found") { $0.name == "larder" }
                    try await configure(kitchen, ["config", "set", "name", "pantry"])
                    _ = try await log.first("found") { $0.name == "pantry" }
                    #expect(Set(await log.events.map(\.id)) == [running.id])
                }
                _ = try await log.first("lost")
                #expect(await log.events.last?.event == "lost")
                #expect(await log.count("lost") == 1)
            }
        }
    }

    @Test("shows a contact's name when the contact takes this peer for one too")
    func contact() async throws {
        try await Lab.with(avahi: "none") { lab in
            let (kitchen, study) = (lab.host("kitchen"), lab.host("study"))
            try await watching(study) { log in
                try await kitchen.withReceiver(Programs.waftd, []) { _ in
                    #expect(try await log.first("found").name == nil)
                    try await kitchen.allow(study, "study")
                    _ = try await log.first("found") { $0.name == "kitchen" }
                    #expect(await log.count("lost") == 0)
                }
            }
        }
    }

    @Test("the picker of waft send shows the new name under the same number")
    func picker() async throws {
        try await Lab.with(avahi: "none") { lab in
            let kitchen = lab.host("kitchen")
            try "x".write(toFile: lab.folder + "/a", atomically: false, encoding: .utf8)
            try await kitchen.withReceiver(Programs.waftd, ["--accept", "everyone"]) { running in
                try await configure(kitchen, ["visible", "contacts"])
                let study = lab.host("study")
                let end = try await study.atTerminal(["send", "a"], in: lab.folder) { terminal in
                    try await terminal.transcript.says("  1  (does not tell its name)")
                    try await kitchen.becomeVisible()
                    try await terminal.transcript.says("  1  kitchen")
                    try await terminal.type("kitchen\n")
                    try await terminal.transcript.says("stored as a")
                }
                #expect(end.exit == 0, "\(end.text)")
                #expect(try running.names() == ["a"])
            }
        }
    }

    @Test(
        "a transfer that runs while its receiver announces itself anew ends well, and the record never tells the host",
        arguments: ["all", "none"])
    func transfer(avahi: String) async throws {
        try await Lab.with(avahi: avahi, hosts: "kitchen,study,attic") { lab in
            let (kitchen, study) = (lab.host("kitchen"), lab.host("study"))
            try Data(count: 1_000_000).write(to: URL(fileURLWithPath: lab.folder + "/a"))
            try await kitchen.withReceiver(Programs.waftd, ["--accept", "everyone"]) { running in
                try await watching(lab.host("attic")) { log in
                    _ = try await log.first("found") { $0.name == "kitchen" }
                    try await lab.call(["rate", lab.name, "study", "400kbit"])
                    let words = ["send", "a", "--to", "192.168.77.1:\(running.port)"]
                    async let sending = study.run(arguments: words, in: lab.folder)
                    _ = try await running.log.first("progress")
                    for name in ["larder", "pantry"] {
                        try await configure(kitchen, ["config", "set", "name", name])
                        _ = try await log.first("found") { $0.name == name }
                    }
                    #expect(await running.log.count("stored") == 0, "the transfer still runs")
                    try await lab.call(["rate", lab.name, "study", "off"])
                    let outcome = try await sending
                    #expect(outcome.exit == 0, "\(outcome.errors)")
                    #expect(try running.names() == ["a"])
                    #expect(await log.count("lost") == 0)
                }
                guard avahi == "all" else { return }
                let records = try await lab.host("attic").run(
                    "/usr/bin/avahi-browse", ["--resolve", "--terminate", "-p", "_waft._tcp"])
                #expect(records.output.contains(";waft-") && !records.output.contains("kitchen"), "\(records.output)")
            }
        }
    }

    /// The instance and host names of the records in view.
    private func names(_ host: Host) async throws -> Set<String> {
        let words = ["--resolve", "--terminate", "-p", "_waft._tcp"]
        let records = try await host.run("/usr/bin/avahi-browse", words).output.split(separator: "\n")
        let fields = records.map { $0.split(separator: ";", omittingEmptySubsequences: false) }
        return Set(fields.filter { $0.first == "=" && $0.count > 6 }.flatMap { [String($0[3]), String($0[6])] })
    }

    @Test(
        "a receiver that gets another address has other names, and is the same peer to those who watch",
        arguments: ["all", "study"])
    func network(avahi: String) async throws {
        try await Lab.with(avahi: avahi) { lab in
            let study = lab.host("study")
            try await lab.host("kitchen").withReceiver(Programs.waftd, ["--accept", "everyone"]) { running in
                try await watching(study) { log in
                    _ = try await log.first("found") { $0.name == "kitchen" }
                    let before = try await names(study)
                    #expect(before.count == 2, "\(before)")
                    let words = ["ip", "address", "add", "192.168.78.1/24", "dev", "eth0"]
                    try await lab.call(["run", lab.name, "kitchen"] + words)
                    try await eventually {
                        let now = try await names(study)
                        return now.count == 2 && now.isDisjoint(with: before)
                    }
                    #expect(Set(await log.events.compactMap(\.id)) == [running.id])
                    #expect(await log.count("lost") == 0)
                }
            }
        }
    }
}
