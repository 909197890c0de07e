import Foundation
import Testing

/// Machines that are reached by a remembered address, without discovery.
@Suite("Remembered addresses on loopback", .serialized, .timeLimit(.minutes(2)))
struct RememberedPeerTests {
    @Test("a remembered machine is listed as present or absent, and send finds it by its name")
    func remembered() async throws {
        try await withTemporaryFolder { folder in
            let (kitchen, study) = (Host.loopback(folder + "/kitchen"), Host.loopback(folder + "/study"))
            try "x".write(toFile: folder + "/a", atomically: false, encoding: .utf8)
            let free = try freePort()
            try await kitchen.withReceiver { running in
                for (name, port) in [("lab7", running.port), ("lab8", free)] {
                    let added = try await study.run(arguments: ["peers", "add", name, "127.0.0.1:\(port)"])
                    #expect(added.exit == 0, "\(added.errors)")
                    #expect(added.output == "\(name) is remembered at 127.0.0.1:\(port)\n")
                }
                let listed = try await study.run(arguments: ["peers", "--json"])
                #expect(listed.events.first { $0.event == "found" }?.id == running.id, "\(listed.output)")
                #expect(listed.output.contains(#""rememberedAs":"lab7""#), "\(listed.output)")
                #expect(listed.events.first { $0.event == "away" }?.name == "lab8", "\(listed.output)")
                let people = try await study.run(arguments: ["peers"])
                #expect(people.output.contains("(remembered as lab7: present)"), "\(people.output)")
                #expect(
                    people.output.contains("lab8                    absent     127.0.0.1:\(free)"), "\(people.output)")
                let sent = try await study.run(arguments: ["send", "a", "--to", "LAB7"], in: folder)
                #expect(sent.exit == 0, "\(sent.errors)")
                #expect(try running.names() == ["a"])
                let unreached = try await study.run(
                    arguments: ["send", "a", "--to", "lab8", "--timeout", "2"], in: folder)
                #expect(unreached.exit == 11, "\(unreached.errors)")
                let moved = try await study.run(arguments: ["peers", "add", "lab8", "127.0.0.1:1", "--json"])
                #expect(moved.events.map(\.event) == ["remembered"])
                for (name, exit) in [("lab8", 0), ("lab8", 66)] {
                    let removed = try await study.run(arguments: ["peers", "remove", name])
                    #expect(removed.exit == exit, "\(removed.errors)")
                }
                // A contact of that name is its key: another machine at the address gets nothing.
                try await study.allow(.loopback(folder + "/other"), "lab7")
                let stranger = try await study.run(arguments: ["send", "a", "--to", "lab7"], in: folder)
                #expect(stranger.exit == 11, "\(stranger.errors)")
                #expect(stranger.errors.contains("another key"), "\(stranger.errors)")
            }
        }
    }

    @Test(
        "a name or an address that is none is 64, with one line and nothing stored",
        arguments: [
            ["a:1", "10.1.2.3"], ["lab7", "10.1.2.3:0"], ["lab7", "x y"], ["lab7", "\u{1B}[31m"], ["lab7"],
            ["everyone", "x"],
        ])
    func refused(words: [String]) async throws {
        try await withTemporaryFolder { folder in
            let host = Host.loopback(folder + "/study")
            let outcome = try await host.run(arguments: ["peers", "add"] + words)
            #expect(outcome.exit == 64, "\(outcome.errors)")
            #expect(outcome.errors.hasPrefix("waft: "), "\(outcome.errors)")
            #expect(!outcome.errors.contains("\u{1B}"))
            #expect(!FileManager.default.fileExists(atPath: host.home + "/state/remembered-peers.json"))
        }
    }
}
