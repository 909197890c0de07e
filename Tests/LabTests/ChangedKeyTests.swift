import Foundation
import Testing

/// The messages about a contact with another key than before, and the end of a temporary visibility.
@Suite("Contacts with another key", .serialized, .timeLimit(.minutes(2)))
struct ChangedKeyTests {
    private static func short(_ id: String) -> String {
        stride(from: 0, to: 16, by: 4).map { id.dropFirst($0).prefix(4) }.joined(separator: "-")
    }

    /// Gives a peer a new key.
    private func changeKey(of host: Host) async throws -> (old: String, new: String) {
        let old = try await host.ownID()
        try FileManager.default.removeItem(atPath: host.home + "/state")
        let new = try await host.ownID()
        #expect(old != new)
        return (old, new)
    }

    private func withPair(_ body: @Sendable @escaping (_ kitchen: Host, _ anna: Host, String) async throws -> Void)
        async throws
    {
        try await withTemporaryFolder { folder in
            var anna = Host.loopback(folder + "/anna")
            anna.environment["WAFT_NAME"] = "Anna"
            try "hello".write(toFile: folder + "/note.txt", atomically: false, encoding: .utf8)
            try await body(Host.loopback(folder + "/kitchen"), anna, folder + "/note.txt")
        }
    }

    @Test("a sender with a new key is a stranger, and is shown as one with both keys, though it has its contact's name")
    func sender() async throws {
        try await withPair { kitchen, anna, file in
            try await kitchen.allow(anna, "Anna", ["--policy", "accept"])
            let keys = try await changeKey(of: anna)
            let warning =
                "this is not your contact Anna: it claims that name, but its key is \(Self.short(keys.new)), and "
                + "the key of Anna is \(Self.short(keys.old))"
            // A sender that only contacts can see learns nothing.
            try await kitchen.withReceiver(Programs.waftd, []) { running in
                let sending = ["send", file, "--to", running.address]
                #expect(try await anna.run(arguments: sending).exit == 12)
                try await kitchen.becomeVisible()
                async let sent = anna.run(arguments: sending)
                var offers = try await kitchen.run(arguments: ["offers"])
                while offers.output.isEmpty { offers = try await kitchen.run(arguments: ["offers"]) }
                #expect(
                    offers.output.contains("stranger \"Anna\" (\(Self.short(keys.new)), not your contact Anna)"),
                    "\(offers.output)")
                #expect(offers.output.contains(warning), "\(offers.output)")
                #expect(try await kitchen.run(arguments: ["decline", "1"]).exit == 0)
                #expect(try await sent.exit == 12)
                #expect(try running.names().isEmpty)

                // The same for pairing.
                let end = try await kitchen.atTerminal(["pair", "--accept", "--timeout", "60"]) { terminal in
                    try await terminal.transcript.says("Waiting for a peer")
                    _ = try await anna.atTerminal(["pair", running.address]) { other in
                        try await terminal.compare("n", with: other, "n")
                    }
                }
                #expect(end.exit == 12)
                #expect(end.text.contains("stranger \"Anna\" ("), "\(end.text)")
                #expect(end.text.contains(warning), "\(end.text)")
            }
            let end = try await kitchen.atTerminal(["receive", "--port", "0"]) { terminal in
                let port = try await terminal.transcript.first("a port") { text in
                    text.firstMatch(of: /on port (\d+),/).map { String($0.output.1) }
                }
                async let sent = anna.run(arguments: ["send", file, "--to", "127.0.0.1:\(port)"])
                try await terminal.transcript.asks(below: "note.txt  ")
                try await terminal.type("n\n")
                #expect(try await sent.exit == 12)
                try await terminal.type("\u{3}")
            }
            #expect(end.text.contains(warning), "\(end.text)")
        }
    }

    @Test("a receiver with a new key gets nothing: exit 11 names both keys, and the next step")
    func receiver() async throws {
        try await withPair { kitchen, anna, file in
            try await anna.allow(kitchen, "Kitchen")
            let receiving = ["receive", "--accept", "everyone"]
            let port = try await kitchen.withReceiver(Programs.waft, receiving, port: freePort()) { running -> Int in
                // By its address once: then the receiver is known.
                let sent = try await anna.run(arguments: ["send", file, "--to", running.address])
                #expect(sent.exit == 0, "\(sent.errors)")
                return running.port
            }.result
            let keys = try await changeKey(of: kitchen)
            try await kitchen.withReceiver(Programs.waft, receiving + ["--port", "\(port)"]) { running in
                let sent = try await anna.run(arguments: ["send", file, "--to", "kitchen"])
                #expect(sent.exit == 11)
                #expect(sent.errors.contains("answers with another key (\(Self.short(keys.new)))"), "\(sent.errors)")
                #expect(sent.errors.contains("that of Kitchen (\(Self.short(keys.old)))"), "\(sent.errors)")
                #expect(sent.errors.contains("forget the contact and pair again"), "\(sent.errors)")
                #expect(await running.log.count("offer") == 0)
                // As the message advises.
                #expect(try await anna.run(arguments: ["contacts", "forget", "Kitchen"]).exit == 0)
                try await anna.allow(kitchen, "Kitchen")
                #expect(try await anna.run(arguments: ["send", file, "--to", running.address]).exit == 0)
                #expect(try await anna.run(arguments: ["send", file, "--to", "Kitchen"]).exit == 0)
            }
        }
    }

    private struct Visible: Decodable {
        var visibility: String
        var visibilityUntil: String?
    }

    private func visible(_ host: Host) async throws -> Visible {
        let outcome = try await host.run(arguments: ["visible", "--json"])
        return try JSONDecoder().decode(Visible.self, from: Data(outcome.output.utf8))
    }

    /// The visibility in the daemon's status.
    private func status(_ host: Host) async throws -> String {
        let output = try await host.run(arguments: ["status", "--json"]).output
        return output.firstMatch(of: /"visibility":"(\w+)"/).map { String($0.output.1) } ?? output
    }

    @Test("a temporary visibility continues after a restart, and ends at the original time")
    func visibility() async throws {
        try await withPair { kitchen, anna, file in
            let end = try await kitchen.withReceiver(Programs.waftd, []) { _ -> Date in
                #expect(try await status(kitchen) == "contacts")
                #expect(try await kitchen.run(arguments: ["visible", "everyone", "--for", "10s"]).exit == 0)
                try await eventually { try await status(kitchen) == "everyone" }
                let until = try #require(try await visible(kitchen).visibilityUntil)
                return try Date(until, strategy: .iso8601)
            }.result
            try await kitchen.withReceiver(Programs.waftd, ["--name", "kitchen"]) { running in
                #expect(try await status(kitchen) == "everyone")
                let until = try Date(try #require(try await visible(kitchen).visibilityUntil), strategy: .iso8601)
                #expect(abs(until.timeIntervalSince(end)) <= 1, "\(until) \(end)")
                try await eventually { try await status(kitchen) != "everyone" }
                #expect(Date() > end.addingTimeInterval(-1))
                #expect(try await visible(kitchen).visibility == "contacts")
                let refused = try await anna.run(arguments: ["send", file, "--json", "--to", running.address])
                #expect(refused.exit == 12)
                #expect(!refused.output.contains("kitchen"))
            }
            try await kitchen.withReceiver(Programs.waftd, []) { _ in
                let after = try await status(kitchen)
                #expect(after == "contacts")
            }
        }
    }

    @Test(
        "another user of this machine gets nothing out of the control socket, though he could open it",
        .enabled(if: geteuid() == 0, "NOT RUN: needs root, to become somebody else"))
    func anotherUser() async throws {
        try await withPair { kitchen, _, _ in
            try await kitchen.withReceiver(Programs.waftd, []) { _ in
                // Every user may read these and connect to the socket; another test is about writable folders.
                for path in ["", "/config", "/state", "/run", "/run/control.secret"] {
                    #expect(chmod(kitchen.home + path, 0o755) == 0)
                }
                #expect(chmod(kitchen.home + "/run/control", 0o777) == 0)
                var other = kitchen
                other.prefix = ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
                for words in [["status"], ["offers"], ["accept", "1"], ["pair", "--code"]] {
                    let outcome = try await other.run(arguments: words)
                    #expect(outcome.exit != 0)
                    #expect(outcome.output == "", "\(words)")
                }
                #expect(try await kitchen.run(arguments: ["status"]).exit == 0)
            }
        }
    }
}
