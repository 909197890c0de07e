import Foundation
import Subprocess
import Testing

/// Strangers that use up the resources that all peers share (security rules 7 and 18).
@Suite("A crowd of strangers beside a contact", .serialized, .timeLimit(.minutes(6)))
struct CrowdTests {
    /// A daemon, a contact whose offers it accepts without a question, and strangers.
    private struct Place: Sendable {
        let folder: String
        let kitchen: Host
        let study: Host
        let mallory: Host

        init(_ folder: String) throws {
            self.folder = folder
            (kitchen, study) = (.loopback(folder + "/kitchen"), .loopback(folder + "/study"))
            mallory = .loopback(folder + "/mallory")
        }

        /// A contact sends a file that contains its own name; fails if the file is not stored.
        func send(_ name: String, to running: RunningReceiver) async throws {
            try name.write(toFile: "\(folder)/\(name)", atomically: false, encoding: .utf8)
            let outcome = try await study.run(arguments: ["send", name, "--to", running.address], in: folder)
            #expect(outcome.exit == 0, "\(outcome.errors) \(outcome.output)")
            #expect(try running.names().contains(name))
        }
    }

    private func withPlace(
        _ arguments: [String] = [], isVisible: Bool = false,
        _ body: @escaping @Sendable (Place, RunningReceiver) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let place = try Place(folder)
            try await place.kitchen.allow(place.study, "Study", ["--policy", "accept"])
            if isVisible { try await place.kitchen.becomeVisible() }
            try await place.kitchen.withReceiver(Programs.waftd, arguments) { running in try await body(place, running)
            }
        }
    }

    /// The receiver's anonymous memory, in KiB.
    private func anonymousMemory(of running: RunningReceiver) throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(running.process.value)/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") })
        return try #require(line.split(separator: " ").compactMap { Int($0) }.first)
    }

    @Test("512 strangers that begin offers of 8 MiB where only contacts may offer leave memory below 64 MiB")
    func hoard() async throws {
        try await withPlace { place, running in
            try await place.send("before", to: running)
            try await place.mallory.withStranger("hoard", [running.address, "512"]) { crowd in
                let most = Task {
                    var most = 0
                    while !Task.isCancelled {
                        most = max(most, try anonymousMemory(of: running))
                        try? await Task.sleep(for: .milliseconds(50))
                    }
                    return most
                }
                _ = try await crowd.event("begun")
                try await place.send("beside", to: running)
                // Connections that send slowly get no further either.
                _ = try await crowd.event("over")
                most.cancel()
                let memory = try await most.value
                print("KiB: receiver \(memory) under 512 hostile connections")
                #expect(memory < 64 << 10, "\(memory) KiB")
            }
        }
    }

    @Test("512 strangers that begin offers of 8 MiB where everyone may offer leave room for a contact's")
    func hoardWhereVisible() async throws {
        try await withPlace(isVisible: true) { place, running in
            try await place.mallory.withStranger("hoard", [running.address, "512"]) { crowd in
                _ = try await crowd.event("begun")
                try await place.send("beside", to: running)
                let memory = try anonymousMemory(of: running)
                print("KiB: receiver \(memory) under 512 hostile connections, visible to everyone")
            }
        }
    }

    @Test("512 connections of strangers, from four addresses and never idle for long, keep no contact out")
    func occupy() async throws {
        try await withPlace { place, running in
            try await place.mallory.withStranger("occupy", [running.address, "512"]) { crowd in
                _ = try await crowd.event("begun")
                // The places of contacts are theirs alone. A connection notices its end when it asks again.
                _ = try await crowd.event { ($0.closed ?? 0) >= 128 }
                for number in 0..<5 { try await place.send("beside-\(number)", to: running) }
            }
        }
    }

    @Test("100 strangers that begin contents and send them drop by drop leave threads for a contact's")
    func trickle() async throws {
        try await withPlace(["--accept", "everyone"], isVisible: true) { place, running in
            try await place.mallory.withStranger("trickle", [running.address, "100"]) { crowd in
                _ = try await crowd.event("begun")
                // Strangers have 48 threads together.
                _ = try await crowd.event { ($0.closed ?? 0) >= 52 }
                for number in 0..<5 { try await place.send("beside-\(number)", to: running) }
                let memory = try anonymousMemory(of: running)
                print("KiB: receiver \(memory) beside 100 slow senders")
                #expect(memory < 64 << 10, "\(memory) KiB")
            }
        }
    }

    @Test("three offers of 10,000 items by strangers leave room for a contact's", arguments: [false, true])
    func items(areAccepted: Bool) async throws {
        let arguments = areAccepted ? ["--accept", "everyone"] : []
        try await withPlace(arguments, isVisible: true) { place, running in
            try await place.mallory.withStranger("items", [running.address, "3"]) { crowd in
                // Two of the offers fill the strangers' share, and wait or are accepted.
                let busy = try await crowd.event { $0.answer == "busy" || $0.event == "closed" }
                try #require(busy.event == "verdict", "\(busy)")
                if areAccepted { _ = try await crowd.event(number: 2) { $0.answer == "accepted" } }
                for number in 0..<3 { try await place.send("beside-\(number)", to: running) }
                let verdicts = await crowd.events.compactMap(\.answer)
                #expect(verdicts.count(where: { $0 == "busy" }) == 1, "\(verdicts)")
            }
        }
    }
}
