import Foundation
import Subprocess
import Testing

/// The study, which sends `image.bin` to its group @lab, and the running receivers of four hosts.
struct GroupRoom: Sendable {
    static let names = ["attic", "cellar", "garage", "kitchen"]
    static let size = 8_000_000

    let lab: Lab
    let study: Host
    let members: [String: RunningReceiver]

    func host(_ name: String) -> Host { lab.host(name) }

    func send(_ words: String...) async throws -> ProgramResult {
        try await study.run(arguments: ["send", "image.bin", "--to", "@lab", "--json"] + words, in: lab.folder)
    }

    /// The names of those that have it, by the disk.
    func having(_ name: String = "image.bin") throws -> [String] {
        let image = try Data(contentsOf: URL(filePath: lab.folder + "/" + name))
        return members.filter {
            FileManager.default.contents(atPath: $0.value.inbox + "/" + name) == image
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

    /// The names of those of which the sender says that they have it.
    static func stored(_ result: ProgramResult) -> [String] {
        result.events.filter { $0.event == "stored" }.compactMap { $0.peer?.contact }.sorted()
    }

    static func write(_ name: String, in folder: String) throws {
        var seed = SystemRandomNumberGenerator()
        let image = Data((0..<size / 8).flatMap { _ in withUnsafeBytes(of: seed.next()) { Array($0) } })
        try image.write(to: URL(filePath: folder + "/" + name))
    }

    /// - Parameters:
    ///   - policy: of the study's key, at the hosts that do not accept without a question.
    ///   - environment: of the receivers of some hosts.
    ///   - rate: of what the study sends.
    ///   - preparing: called before the receivers start.
    static func with(
        policy: [String: String] = [:], environment: [String: [String: String]] = [:], rate: String? = nil,
        preparing: @escaping @Sendable (Lab) async throws -> Void = { _ in },
        _ body: @escaping @Sendable (GroupRoom) async throws -> Void
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
            try write("image.bin", in: lab.folder)
            if let rate { try await lab.call(["rate", lab.name, "study", rate]) }
            try await preparing(lab)
            let room = GroupRoom(lab: lab, study: study, members: [:])
            try await start(names[...], environment, room, body)
        }
    }

    private static func start(
        _ rest: ArraySlice<String>, _ environment: [String: [String: String]], _ room: GroupRoom,
        _ body: @escaping @Sendable (GroupRoom) async throws -> Void
    ) async throws {
        guard let name = rest.first else { return try await body(room) }
        var host = room.lab.host(name)
        host.environment.merge(environment[name] ?? [:]) { $1 }
        try await host.withReceiver(Programs.waft, ["receive"]) { running in
            let more = GroupRoom(
                lab: room.lab, study: room.study, members: room.members.merging([name: running]) { $1 })
            try await start(rest.dropFirst(), environment, more, body)
        }
    }
}
