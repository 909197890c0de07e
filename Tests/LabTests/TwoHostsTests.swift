import Foundation
import Subprocess
import SystemPackage
import Testing

/// The main job between two hosts that know only each other's names.
@Suite(
    "Two hosts on a LAN", .serialized,
    .enabled(if: Lab.isPossible, "NOT RUN: network namespaces need root; run Scripts/test as root"))
struct TwoHostsTests {
    @Test(
        "a file, a tree and a URL go to a name; the hook runs; exit codes are true",
        arguments: ["all", "none", "kitchen"])
    func byName(avahi: String) async throws {
        try await Lab.with(avahi: avahi) { lab in
            var kitchen = lab.host("kitchen")
            let hook = try kitchen.useHook(
                "#!/bin/sh\necho \"$WAFT_NAME $WAFT_TYPE $WAFT_PEER_NAME\" >> record\n", in: lab.folder)
            let study = lab.host("study")
            let tree = lab.folder + "/notes"
            try FileManager.default.createDirectory(atPath: tree + "/deep", withIntermediateDirectories: true)
            try "text".write(toFile: tree + "/deep/a.txt", atomically: false, encoding: .utf8)
            let bytes = Data((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7 >> 2) })
            try bytes.write(to: URL(fileURLWithPath: lab.folder + "/report.pdf"))
            try await kitchen.withReceiver(Programs.waftd, ["--accept", "everyone"]) { running in
                let peers = try await study.run(arguments: ["peers", "--json"])
                #expect(peers.events.map(\.name) == ["kitchen"], "\(peers.errors)")
                #expect(peers.events.first?.id == running.id)
                let words = [
                    "send", "report.pdf", "notes", "--url", "https://example.com/", "--wait", "opened", "--to",
                    "kitchen",
                ]
                let outcome = try await study.run(arguments: words, in: lab.folder)
                #expect(outcome.exit == 0, "\(outcome.errors)")
                #expect(try running.names() == ["example.com.url", "notes", "report.pdf"])
                #expect(try Data(contentsOf: URL(fileURLWithPath: running.inbox + "/report.pdf")) == bytes)
                #expect(try mode(of: running.inbox + "/report.pdf") == 0o444 & ~umaskOfTests)
                let text = try String(contentsOfFile: running.inbox + "/notes/deep/a.txt", encoding: .utf8)
                #expect(text == "text")
                let record = try String(contentsOfFile: hook + "/record", encoding: .utf8)
                let lines = record.split(separator: "\n").sorted()
                #expect(
                    lines == [
                        "example.com.url public.url study", "notes public.folder study",
                        "report.pdf com.adobe.pdf study",
                    ])
                let byID = try await study.run(
                    arguments: ["send", "report.pdf", "--to", String(running.id.prefix(8))], in: lab.folder)
                #expect(byID.exit == 0, "\(byID.errors)")
                let nobody = try await study.run(arguments: ["send", "report.pdf", "--to", "cellar"], in: lab.folder)
                #expect(nobody.exit == 10)
                // It is announced with several addresses, each of which is an event.
                let unsaid = try await study.run(arguments: ["send", "report.pdf"], in: lab.folder)
                #expect(unsaid.exit == 64)
                #expect(
                    unsaid.errors
                        == "waft: --to is missing, and there is no terminal to ask at; in view: kitchen\n")
            }
            let gone = try await study.run(arguments: ["peers", "--json"])
            #expect(gone.events.isEmpty, "it is withdrawn when the receiver has ended: \(gone.output)")
        }
    }

    @Test("a link-local IPv6 address with its interface reaches the peer")
    func linkLocal() async throws {
        try await Lab.with(avahi: "none") { lab in
            try "x".write(toFile: lab.folder + "/a", atomically: false, encoding: .utf8)
            try await lab.host("kitchen").withReceiver { running in
                let shown = try await Subprocess.run(
                    .path(.init(Programs.lab)),
                    arguments: Arguments([
                        "run", lab.name, "kitchen", "ip", "-6", "-o", "addr", "show", "scope", "link", "dev", "eth0",
                    ]),
                    input: .none, output: .string(limit: 65_536))
                let words = shown.standardOutput.split(separator: " ")
                let address = try #require(words.drop { $0 != "inet6" }.dropFirst().first?.split(separator: "/").first)
                let outcome = try await lab.host("study").run(
                    arguments: ["send", "a", "--to", "[\(address)%eth0]:\(running.port)"], in: lab.folder)
                #expect(outcome.exit == 0, "\(outcome.errors)")
            }
        }
    }

    @Test("peers --watch shows each peer that comes or goes")
    func watch() async throws {
        try await Lab.with(avahi: "none") { lab in
            let log = EventLog()
            let configuration = lab.host("study").configuration(Programs.waft, ["peers", "--watch", "--json"])
            _ = try await Subprocess.run(
                configuration, input: .none, output: .sequence, error: .discarded
            ) { execution in
                let reading = Task {
                    for try await line in execution.standardOutput.strings() { await log.add(line) }
                    await log.end()
                }
                try await lab.host("kitchen").withReceiver { running in
                    let found = try await log.first("found")
                    #expect(found.name == "kitchen")
                    #expect(found.id == running.id)
                }
                _ = try await log.first("lost")
                kill(execution.processIdentifier.value, SIGTERM)
                _ = try? await reading.value
            }
        }
    }

    @Test("a machine that answers nobody at first has a name once it answers, though its record stays as it is")
    func late() async throws {
        try await Lab.with(avahi: "all") { lab in
            let kitchen = lab.host("kitchen")
            // A search begins with four questions.
            let facts = #"{"name": "kitchen", "host": "0.0.0.0", "closing": 6}"#
            try await kitchen.withStranger("serve", [facts]) { stranger in
                let port = try await stranger.event("listening").port ?? 0
                let record = ["-s", "late", "_waft._tcp", "\(port)", "v=1"]
                try await kitchen.withProgram("/usr/bin/avahi-publish", record, signal: .interrupt) { publishing in
                    try await publishing.transcript.says("Established")
                    let words = ["peers", "--watch", "--json"]
                    try await lab.host("study").withProgram(Programs.waft, words, signal: .terminate) { watch in
                        try await watch.transcript.says(#""name":"kitchen""#)
                        _ = try await stranger.event("closed", number: 6)
                    }
                }
            }
        }
    }

    @Test("two receivers of one name are both shown, and told apart by the beginning of their ids")
    func namesakes() async throws {
        try await Lab.with(avahi: "none") { lab in
            try "x".write(toFile: lab.folder + "/a", atomically: false, encoding: .utf8)
            var other = lab.host("study")
            other.home = lab.folder + "/other"
            let rival = other
            try await lab.host("kitchen").withReceiver { first in
                try await rival.withReceiver(Programs.waft, ["receive", "--accept", "everyone", "--name", "kitchen"]) {
                    second in
                    let sender = lab.host("study")
                    let peers = try await sender.run(arguments: ["peers", "--json"])
                    #expect(Set(peers.events.compactMap(\.id)) == [first.id, second.id], "\(peers.output)")
                    let prefix = String(second.id.prefix(6))
                    let named = try await sender.run(arguments: ["send", "a", "--to", prefix], in: lab.folder)
                    #expect(named.exit == 0, "\(named.errors)")
                    #expect(try first.names() == [])
                    #expect(try second.names() == ["a"])
                }
            }
        }
    }
}
