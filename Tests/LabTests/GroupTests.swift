import Foundation
import Subprocess
import Testing

/// The study sends to the group @lab of four hosts. All of it holds whether the contents go once or once for each host.
@Suite(
    "One to many", .serialized, .timeLimit(.minutes(2)),
    .enabled(if: Lab.isPossible, "NOT RUN: network namespaces need root; run Scripts/test as root"))
struct GroupTests {
    private static let names = ["attic", "cellar", "garage", "kitchen"]
    private static let size = 8_000_000

    private struct Room: Sendable {
        let lab: Lab
        let study: Host
        let members: [String: RunningReceiver]

        func host(_ name: String) -> Host { lab.host(name) }

        func send(_ words: String...) async throws -> ProgramResult {
            try await study.run(arguments: ["send", "image.bin", "--to", "@lab", "--json"] + words, in: lab.folder)
        }

        /// The names of those that have it, by the disk.
        func having() throws -> [String] {
            let image = try Data(contentsOf: URL(filePath: lab.folder + "/image.bin"))
            return try members.filter { try $0.value.names() == ["image.bin"] }.filter {
                try Data(contentsOf: URL(filePath: $0.value.inbox + "/image.bin")) == image
            }.keys.sorted()
        }

        /// Lets a host find no way to another one.
        func part(_ name: String, from other: String) async throws {
            let shown = try await host(other).run("/usr/bin/env", ["ip", "-o", "addr", "show", "dev", "eth0"]).output
            for line in shown.split(separator: "\n") {
                let address = try #require(line.split(separator: " ")[3].split(separator: "/").first)
                let words = ["neigh", "replace", String(address), "lladdr", "02:00:00:00:00:01", "dev", "eth0"]
                let result = try await host(name).run("/usr/bin/env", ["ip"] + words + ["nud", "permanent"])
                #expect(result.exit == 0, "\(result.errors)")
            }
        }

        /// Bytes that the study has sent by its cable.
        func sent() async throws -> Int {
            let file = "/sys/class/net/eth0/statistics/tx_bytes"
            let counter = try await study.run("/usr/bin/cat", [file]).output
            return try #require(Int(counter.trimmingCharacters(in: .whitespacesAndNewlines)))
        }
    }

    /// The names of those of which the sender says that they have it.
    private static func stored(_ result: ProgramResult) -> [String] {
        result.events.filter { $0.event == "stored" }.compactMap { $0.peer?.contact }.sorted()
    }

    /// - Parameters:
    ///   - policy: of the study's key, at the hosts that do not accept without a question.
    ///   - environment: of the receivers of some hosts.
    ///   - rate: of what the study sends.
    private static func with(
        policy: [String: String] = [:], environment: [String: [String: String]] = [:], rate: String? = nil,
        _ body: @escaping @Sendable (Room) async throws -> Void
    ) async throws {
        try await Lab.with(avahi: "none", hosts: "study," + names.joined(separator: ",")) { lab in
            let study = lab.host("study")
            for name in names {
                let host = lab.host(name)
                try await study.allow(host, name)
                try await host.allow(study, "study", ["--policy", policy[name] ?? "accept"])
            }
            let group = try await study.run(arguments: ["contacts", "group", "lab", "add"] + names)
            #expect(group.exit == 0, "\(group.errors)")
            var seed = SystemRandomNumberGenerator()
            let image = Data((0..<size / 8).flatMap { _ in withUnsafeBytes(of: seed.next()) { Array($0) } })
            try image.write(to: URL(filePath: lab.folder + "/image.bin"))
            if let rate { try await lab.call(["rate", lab.name, "study", rate]) }
            try await start(names[...], environment, Room(lab: lab, study: study, members: [:]), body)
        }
    }

    private static func start(
        _ rest: ArraySlice<String>, _ environment: [String: [String: String]], _ room: Room,
        _ body: @escaping @Sendable (Room) async throws -> Void
    ) async throws {
        guard let name = rest.first else { return try await body(room) }
        var host = room.lab.host(name)
        host.environment.merge(environment[name] ?? [:]) { $1 }
        try await host.withReceiver(Programs.waft, ["receive"]) { running in
            let more = Room(
                lab: room.lab, study: room.study, members: room.members.merging([name: running]) { $1 })
            try await start(rest.dropFirst(), environment, more, body)
        }
    }

    @Test("a file arrives at all four by a chain, with one line of progress and an outcome each")
    func all() async throws {
        try await Self.with(rate: "100mbit") { room in
            let before = try await room.sent()
            let words = ["send", "image.bin", "--to", "@lab"]
            let sending = try await room.study.atTerminal(words, in: room.lab.folder) { running in
                try await running.transcript.says("stored as image.bin", times: 4)
            }
            #expect(sending.exit == 0, "\(sending.text)")
            #expect(try await room.sent() - before < Self.size * 2)
            #expect(sending.text.contains("image.bin → 4 peers ["), "\(sending.text)")
            for name in Self.names {
                #expect(sending.text.contains("image.bin → \(name) ✓: stored as image.bin"), "\(sending.text)")
            }
            #expect(try room.having() == Self.names)
        }
    }

    @Test("with --no-relay the contents go from the sender to each")
    func star() async throws {
        try await Self.with { room in
            let before = try await room.sent()
            let result = try await room.send("--no-relay")
            #expect(result.exit == 0 && Self.stored(result) == Self.names, "\(result)")
            #expect(try await room.sent() - before > Self.size * 4)
            #expect(try room.having() == Self.names)
        }
    }

    @Test("one that is killed in the middle does not keep the others from it")
    func killed() async throws {
        try await Self.with(rate: "50mbit") { room in
            let victim = try #require(room.members["cellar"])
            async let result = room.send("--timeout", "3")
            _ = try await victim.log.first("progress")
            victim.signal(.kill)
            let (exit, stored) = (try await result.exit, Self.stored(try await result))
            #expect(exit != 0)
            #expect(stored == ["attic", "garage", "kitchen"])
            #expect(try room.having() == stored)
        }
    }

    @Test("one whose cable is out for a while, and one that another cannot reach, keep nobody waiting, and get it too")
    func parted() async throws {
        try await Self.with(rate: "20mbit") { room in
            try await room.part("attic", from: "cellar")
            async let result = room.send()
            _ = try await room.members["kitchen"]?.log.first("progress")
            try await room.lab.call(["link", room.lab.name, "garage", "down"])
            for name in ["attic", "cellar", "kitchen"] { _ = try await room.members[name]?.log.first("stored") }
            try await room.lab.call(["link", room.lab.name, "garage", "up"])
            let outcome = try await result
            #expect(outcome.exit == 0 && Self.stored(outcome) == Self.names, "\(outcome)")
            #expect(try room.having() == Self.names)
        }
    }

    @Test("one that declines has its own outcome, and the others get it")
    func declined() async throws {
        try await Self.with(policy: ["garage": "decline"]) { room in
            let result = try await room.send()
            #expect(result.exit != 0 && Self.stored(result) == ["attic", "cellar", "kitchen"], "\(result)")
            #expect(try room.having() == ["attic", "cellar", "kitchen"])
        }
    }

    @Test("one that passes nothing on, and one with a radio, get it all the same")
    func leaves() async throws {
        let environment = ["attic": ["WAFT_RELAY": "never"], "kitchen": ["WAFT_WIRELESS": "eth*"]]
        try await Self.with(environment: environment) { room in
            let result = try await room.send()
            #expect(result.exit == 0 && Self.stored(result) == Self.names, "\(result)")
            #expect(try room.having() == Self.names)
        }
    }

    @Test("one that says yes when the others have it gets it too")
    func late() async throws {
        try await Self.with(policy: ["attic": "ask"]) { room in
            let asked = try #require(room.members["attic"])
            async let result = room.send()
            _ = try await asked.log.first("offer")
            for name in Self.names.dropFirst() { _ = try await room.members[name]?.log.first("stored") }
            let yes = try await room.host("attic").run(arguments: ["accept", "1"])
            #expect(yes.exit == 0, "\(yes)")
            let outcome = try await result
            #expect(outcome.exit == 0 && Self.stored(outcome) == Self.names, "\(outcome)")
            #expect(try room.having() == Self.names)
        }
    }

    @Test("a sender that was killed and is started again goes on where it was")
    func resumed() async throws {
        try await Self.with(rate: "50mbit") { room in
            let words = ["send", "image.bin", "--to", "@lab"]
            try await room.study.withProgram(Programs.waft, words, in: room.lab.folder) { sending in
                for member in room.members.values {
                    _ = try await member.log.first("progress") { ($0.bytes ?? 0) > 2_500_000 }
                }
                kill(sending.process.value, SIGKILL)
            }
            for member in room.members.values { try await eventually { try !member.kept().isEmpty } }
            let before = try await room.sent()
            let result = try await room.send()
            #expect(result.exit == 0 && Self.stored(result) == Self.names, "\(result)")
            let moved = result.events.filter { $0.event == "stored" }.reduce(0) { $0 + ($1.moved ?? 0) }
            #expect(moved < UInt64(Self.size * 4), "\(moved)")
            // As a chain: each got the rest, and it left once.
            #expect(try await room.sent() - before < Self.size * 3 / 2)
            #expect(try room.having() == Self.names)
        }
    }

    @Test("with --queue the daemon sends it to all by a chain")
    func queued() async throws {
        try await Self.with { room in
            let before = try await room.sent()
            let queued = try await room.send("--queue")
            #expect(queued.exit == 0 && queued.events.count { $0.event == "queued" } == 4, "\(queued)")
            try await room.study.withReceiver(Programs.waftd, []) { _ in
                for member in room.members.values { _ = try await member.log.first("stored") }
                #expect(try room.having() == Self.names)
                #expect(try await room.sent() - before < Self.size * 2)
            }
        }
    }
}
