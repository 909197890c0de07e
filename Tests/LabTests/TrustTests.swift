import Foundation
import Testing

/// Visibility of a receiver, permission to offer, and offers that are accepted without a question.
@Suite("Trust", .serialized, .timeLimit(.minutes(1)))
struct TrustTests {
    /// A daemon's host, a sender's, and a file to send.
    private struct Pair: Sendable {
        let folder: String
        let kitchen: Host
        let study: Host

        init(_ folder: String) throws {
            self.folder = folder
            kitchen = .loopback(folder + "/kitchen")
            study = .loopback(folder + "/study")
            try "hello".write(toFile: folder + "/note.txt", atomically: false, encoding: .utf8)
        }

        /// The full id of one of them.
        func id(of host: Host) async throws -> String {
            let outcome = try await host.run(arguments: ["contacts", "me", "--json"])
            try #require(outcome.exit == 0, "\(outcome.errors)")
            struct Me: Decodable { var id: String }
            return try JSONDecoder().decode(Me.self, from: Data(outcome.output.utf8)).id
        }

        /// Makes the sender a contact of the receiver's.
        func allow(_ flags: [String] = []) async throws {
            let words = ["contacts", "allow", try await id(of: study), "--name", "Study"]
            let outcome = try await kitchen.run(arguments: words + flags)
            try #require(outcome.exit == 0, "\(outcome.errors)")
        }

        func send(to running: RunningReceiver, _ flags: [String] = []) async throws -> ProgramResult {
            try await study.run(arguments: ["send", "note.txt"] + flags + ["--to", running.address], in: folder)
        }
    }

    private func withPair(_ body: @escaping @Sendable (Pair) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in try await body(Pair(folder)) }
    }

    @Test("a daemon tells a stranger nothing, and takes no offer of his, until it is visible to everyone")
    func strangers() async throws {
        try await withPair { pair in
            try await pair.kitchen.withReceiver(Programs.waftd, ["--name", "kitchen"]) { running in
                let refused = try await pair.send(to: running, ["--json"])
                #expect(refused.exit == 12, "\(refused.errors) \(refused.output)")
                #expect(!refused.output.contains("kitchen"), "not even its name: \(refused.output)")
                let offers = try await pair.kitchen.run(arguments: ["offers"])
                #expect(offers.errors.contains("no offers wait"))
                #expect(try await pair.kitchen.run(arguments: ["visible", "everyone"]).exit == 0)
                async let asked = pair.send(to: running)
                while try await pair.kitchen.run(arguments: ["accept", "1"]).exit != 0 {}
                let accepted = try await asked
                #expect(accepted.exit == 0, "\(accepted.errors)")
                #expect(accepted.output.contains("→ stranger \"kitchen\" ("), "\(accepted.output)")
            }
        }
    }

    @Test("a limit for pictures lets in no program and no folder, and an amount a day is kept across starts")
    func picturesADay() async throws {
        try await withPair { pair in
            try FileManager.default.copyItem(atPath: "/bin/true", toPath: pair.folder + "/evil.png")
            #expect(chmod(pair.folder + "/evil.png", 0o755) == 0)
            let png = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + Array(repeating: 0, count: 92))
            for name in ["a.png", "b.png"] {
                try png.write(to: URL(fileURLWithPath: pair.folder + "/" + name))
                #expect(chmod(pair.folder + "/" + name, 0o755) == 0)
            }
            try FileManager.default.createDirectory(
                atPath: pair.folder + "/photos.png", withIntermediateDirectories: true)
            try await pair.allow(["--policy", "accept", "--types", "public.image", "--size-per-day", "150 bytes"])
            let config = pair.kitchen.home + "/config"
            try FileManager.default.createDirectory(atPath: config, withIntermediateDirectories: true)
            try "arbiter: /bin/false\n".write(
                toFile: config + "/config.yaml", atomically: false, encoding: .utf8)
            @Sendable func send(_ name: String, to running: RunningReceiver) async throws -> ProgramResult {
                try await pair.study.run(arguments: ["send", name, "--to", running.address], in: pair.folder)
            }
            try await pair.kitchen.withReceiver(Programs.waftd, ["--name", "kitchen"]) { running in
                _ = try await pair.kitchen.run(arguments: ["contacts", "set", "Study", "--size-per-day", "any"])
                let lie = try await send("evil.png", to: running)
                #expect(lie.exit == 13, "\(lie.errors)")
                #expect(lie.errors.contains("evil.png is not stored: "), "\(lie.errors)")
                _ = try await pair.kitchen.run(arguments: ["contacts", "set", "Study", "--size-per-day", "150 bytes"])
                let sent = try await send("a.png", to: running)
                #expect(sent.exit == 0, "\(sent.errors)")
                // The receiver starts the arbiter for these, and it declines.
                #expect(try await send("photos.png", to: running).exit == 12)
                #expect(try await send("b.png", to: running).exit == 12)
                #expect(try running.names() == ["a.png"])
                #expect(try mode(of: running.inbox + "/a.png") == 0o444 & ~umaskOfTests)
            }
            try await pair.kitchen.withReceiver(Programs.waftd, ["--name", "kitchen"]) { running in
                #expect(try await send("b.png", to: running).exit == 12)
                let show = try await pair.kitchen.run(arguments: ["contacts", "show", "Study"])
                #expect(show.output.contains("up to 150 bytes in 24 hours; 100 bytes received"), "\(show.output)")
                _ = try await pair.kitchen.run(arguments: ["contacts", "set", "Study", "--size-per-day", "200"])
                #expect(try await send("b.png", to: running).exit == 0)
            }
        }
    }

    @Test("things go to the folder and the handler that a rule, a contact or the accepting person names, once")
    func destinations() async throws {
        try await withPair { pair in
            for name in ["album", "usual"] {
                let script = pair.folder + "/\(name).sh"
                try "#!/bin/sh\nexit 0\n".write(
                    toFile: script, atomically: false, encoding: .utf8)
                chmod(script, 0o755)
                let added = try await pair.kitchen.run(
                    arguments: ["handlers", "add", "--name", name, "--type", "public.text", "--run", script])
                #expect(added.exit == 0, "\(added.errors)")
            }
            try await pair.allow(["--policy", "accept", "--folder", "From Study", "--handler", "usual"])
            try await pair.kitchen.withReceiver(Programs.waftd, []) { running in
                let opened = try await pair.send(to: running, ["--wait", "opened"])
                #expect(opened.exit == 0 || opened.exit == 16, "\(opened.errors)")
                #expect(try running.names() == ["From Study"])
                let shown = try await pair.kitchen.run(arguments: ["inbox", "show", "1"])
                #expect(shown.output.contains("/Inbox/From Study/note.txt"), "\(shown.output)")
                #expect(shown.output.contains("usual"), "\(shown.output)")
                #expect(!shown.output.contains("album"), "\(shown.output)")
                #expect(try await pair.kitchen.run(arguments: ["visible", "everyone"]).exit == 0)
                let changed = try await pair.kitchen.run(
                    arguments: ["contacts", "set", "Study", "--policy", "ask", "--handler", "inbox"])
                #expect(changed.exit == 0, "\(changed.errors)")
                // A new file: an item that is there already is not stored again.
                try "again".write(toFile: pair.folder + "/note.txt", atomically: false, encoding: .utf8)
                async let asked = pair.send(to: running)
                while try await pair.kitchen.run(arguments: ["accept", "1", "--to", "Deep/er"]).exit != 0 {}
                #expect(try await asked.exit == 0)
                let second = try await pair.kitchen.run(arguments: ["inbox", "show", "2"])
                #expect(second.output.contains("/Inbox/Deep/er/note.txt"), "\(second.output)")
                #expect(second.output.contains("no handler asked"), "\(second.output)")
                // The same again, to another folder: it stays at its place, and the accepting command reports it.
                async let repeated = pair.send(to: running)
                let accept = ["accept", "2", "--to", "Else"]
                var answer = try await pair.kitchen.run(arguments: accept)
                while answer.exit != 0 { answer = try await pair.kitchen.run(arguments: accept) }
                #expect(answer.output == "offer 2 accepted, into Else\n")
                #expect(answer.errors.hasPrefix("note.txt: already there as note.txt"), "\(answer.errors)")
                #expect(answer.errors.contains("waft inbox take 2 FOLDER"), "\(answer.errors)")
                #expect(try await repeated.exit == 0)
                #expect(try running.names() == ["Deep", "From Study"])
                let wrong = try await pair.kitchen.run(arguments: ["accept", "1", "--to", "../out"])
                #expect(wrong.exit == 64, "\(wrong.errors)")
            }
        }
    }

    @Test("a visibility for a time ends by itself, also across a restart, and off closes the port")
    func visibility() async throws {
        try await withPair { pair in
            #expect(try await pair.kitchen.run(arguments: ["visible", "everyone", "--for", "2s"]).exit == 0)
            try await pair.kitchen.withReceiver(Programs.waftd, ["--name", "kitchen"]) { running in
                try await eventually {
                    try await pair.kitchen.run(arguments: ["status", "--json"]).output
                        .contains(#""visibility":"contacts""#)
                }
                #expect(try await pair.send(to: running).exit == 12)
                #expect(try await pair.kitchen.run(arguments: ["visible", "off"]).exit == 0)
                while try await pair.send(to: running, ["--timeout", "2"]).exit != 11 {}
                #expect(try await pair.kitchen.run(arguments: ["visible", "everyone"]).exit == 0)
                while try await pair.send(to: running, ["--timeout", "1"]).exit != 15 {}
            }
        }
    }

    @Test("the name of a contact means its key: another key at its address gets nothing, and exit 11 says why")
    func anotherKey() async throws {
        try await withPair { pair in
            let kitchen = try await pair.id(of: pair.kitchen)
            let words = ["contacts", "allow", kitchen, "--name", "Cook"]
            #expect(try await pair.study.run(arguments: words).exit == 0)
            let flags = ["receive", "--accept", "everyone"]
            let port = try await pair.kitchen.withReceiver(Programs.waft, flags, port: freePort()) { running in
                // By address once: then the contact's address is known.
                #expect(try await pair.send(to: running).exit == 0)
                let byName = try await pair.study.run(
                    arguments: ["send", "note.txt", "--to", "cook"], in: pair.folder)
                #expect(byName.exit == 0, "\(byName.errors)")
                return running.port
            }.result
            // An impostor takes its place.
            let impostor = Host.loopback(pair.folder + "/impostor")
            try await impostor.withReceiver(arguments: flags + ["--name", "Cook", "--port", "\(port)"]) { running in
                let outcome = try await pair.study.run(
                    arguments: ["send", "note.txt", "--to", "Cook"], in: pair.folder)
                #expect(outcome.exit == 11, "\(outcome.errors)")
                #expect(outcome.errors.contains("another key"), "\(outcome.errors)")
                #expect(await running.log.count("offer") == 0, "not even what would be sent is told")
                #expect(try running.names().isEmpty)
            }
        }
    }
}
