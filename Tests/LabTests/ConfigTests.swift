import Foundation
import Glibc
import Subprocess
import Testing

/// `waft config` and its file.
@Suite("waft config", .serialized, .timeLimit(.minutes(2)))
struct ConfigTests {
    private static let isWhole = ProcessInfo.processInfo.environment["TEST_ALL"] != nil

    private func file(_ host: Host) -> String { host.home + "/config/config.yaml" }

    private func text(_ host: Host) throws -> String { try String(contentsOfFile: file(host), encoding: .utf8) }

    /// The files of the configuration's folder that are neither the configuration nor its lock.
    private func remains(_ host: Host) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: host.home + "/config")
            .filter { $0.hasPrefix(".config.yaml") }
    }

    private struct Listed: Decodable {
        var setting: String
    }

    @Test("each setting of the list is in the template, the schema and the man page, and none is only there")
    func everywhere() async throws {
        try await withTemporaryFolder { folder in
            let host = Host.loopback(folder + "/home")
            let list = try await host.run(arguments: ["config", "list", "--all", "--json"])
            let names = try list.output.split(separator: "\n").map {
                try JSONDecoder().decode(Listed.self, from: Data($0.utf8)).setting
            }
            let first = Set(names.compactMap { $0.split(separator: ".").first.map(String.init) })
            #expect(first.count > 20)
            #expect(try await host.run(arguments: ["config", "set", "name", "x"]).exit == 0)
            let template = try text(host)
            let schema = try await host.run(arguments: ["config", "schema"])
            let root = try JSONSerialization.jsonObject(with: Data(schema.output.utf8)) as? [String: Any]
            #expect(Set((root?["properties"] as? [String: Any])?.keys.map(\.self) ?? []) == first)
            let page = Programs.root + "/Scripts/package.d/man/"
            let man = try await host.run(
                page + "fill", [page + "waft-config.5", "", "", "", "/dev/null", "/dev/null", file(host)])
            #expect(man.exit == 0, "\(man.errors)")
            #expect(Set(man.output.matches(of: /(?m)^\.It Ic (\w+) :/).map { String($0.output.1) }) == first)
            for word in names.compactMap({ $0.split(separator: ".").last }) {
                #expect(template.contains("\(word):") && man.output.contains(word), "\(word)")
            }
        }
    }

    @Test("leaves the old text or the new one when it is killed at any step, and the next change removes the remains")
    func killed() async throws {
        try await withTemporaryFolder { folder in
            let host = Host.loopback(folder + "/home")
            #expect(try await host.run(arguments: ["config", "set", "name", "first"]).exit == 0)
            let (old, new) = (try text(host), try text(host).replacing("name: first", with: "name: second"))
            var steps = 0
            for step in 1... {
                try old.write(toFile: file(host), atomically: false, encoding: .utf8)
                var traced = host
                traced.prefix = [Programs.diskSteps, "--below", folder, "--stop-after", "\(step)", "--"]
                let outcome = try await traced.run(arguments: ["config", "set", "name", "second"])
                #expect([old, new].contains(try text(host)), "killed at step \(step)")
                if outcome.exit == 0 { break }
                steps = step
                // A change to the text that is there writes nothing, and so removes no remains.
                #expect(try await host.run(arguments: ["config", "set", "name", "third"]).exit == 0)
                #expect(try remains(host) == [], "killed at step \(step)")
            }
            #expect(steps > 3, "only \(steps) steps were found")
        }
    }

    @Test("leaves a text that can be read when it is killed at any time", .enabled(if: isWhole, "NOT RUN: in --all"))
    func killedOften() async throws {
        try await withTemporaryFolder { folder in
            let host = Host.loopback(folder + "/home")
            #expect(try await host.run(arguments: ["config", "set", "name", "first"]).exit == 0)
            for number in 1...200 {
                let words = [
                    "-s", "KILL", "0.0\(Int.random(in: 10...99))", Programs.waft, "config", "set", "name", "n\(number)",
                ]
                _ = try await host.run("/usr/bin/timeout", words)
                let check = try await host.run(arguments: ["config", "check"])
                #expect(check.exit == 0, "\(check)")
            }
            #expect(try await host.run(arguments: ["config", "set", "name", "last"]).exit == 0)
            #expect(try remains(host) == [])
        }
    }

    @Test("two changes at the same time are both in the file")
    func twoWriters() async throws {
        try await withTemporaryFolder { folder in
            let host = Host.loopback(folder + "/home")
            for round in 1...10 {
                async let one = host.run(arguments: ["config", "set", "name", "n\(round)"])
                async let two = host.run(arguments: ["config", "set", "hookTimeout", "\(round)"])
                let exits = try await [one.exit, two.exit]
                #expect(exits == [0, 0])
                let text = try text(host)
                #expect(text.contains("\nname: n\(round)\n") && text.contains("\nhookTimeout: \(round)\n"), "\(text)")
            }
        }
    }

    @Test("a port that is taken is not used, the receiver keeps the one that it has, and says so")
    func takenPort() async throws {
        try await withTemporaryFolder { folder in
            let kitchen = Host.loopback(folder + "/kitchen")
            try await Host.loopback(folder + "/other").withReceiver { other in
                try await kitchen.withReceiver(Programs.waftd, [], port: nil) { running in
                    let set = try await kitchen.run(arguments: ["config", "set", "port", "\(other.port)"])
                    let reason = "line \\d+: cannot listen on port \(other.port): another program uses it"
                    #expect(set.exit == 64, "\(set)")
                    #expect(set.output.contains(try Regex("the receiver does not use it: .*\(reason)")), "\(set)")
                    let status = try await kitchen.run(arguments: ["status"])
                    #expect(status.output.contains(try Regex("port +\(running.port)\n")), "\(status)")
                    #expect(status.output.contains(try Regex(reason)), "\(status)")
                    let free = try freePort()
                    let good = try await kitchen.run(arguments: ["config", "set", "port", "\(free)"])
                    #expect(good.output.hasSuffix("; the receiver uses it now\n"), "\(good)")
                    _ = try await running.log.first("ready") { $0.port == free }
                }
            }
        }
    }

    @Test(
        "a receiver starts without its hook, says so, keeps the items for it, and gives them to it at the next arrival")
    func hookThatComesBack() async throws {
        try await withTemporaryFolder { folder in
            let kitchen = Host.loopback(folder + "/kitchen")
            let (program, seen) = (folder + "/arrived", folder + "/seen")
            try FileManager.default.createDirectory(atPath: seen, withIntermediateDirectories: true)
            for words in [["hook", program], ["hookWritable", seen], ["arbiter", folder + "/arbiter"]] {
                #expect(try await kitchen.run(arguments: ["config", "set", "--anyway"] + words).exit == 0)
            }
            try await kitchen.withReceiver(Programs.waftd, ["--accept", "everyone"]) { running in
                let status = try await kitchen.run(arguments: ["status"])
                #expect(status.output.contains("the hook \(program) does not exist; items wait for it"), "\(status)")
                #expect(status.output.contains("the arbiter \(folder)/arbiter does not exist"), "\(status)")
                let study = Host.loopback(folder + "/study")
                func send(_ name: String) async throws {
                    try name.write(toFile: folder + "/" + name, atomically: false, encoding: .utf8)
                    let sent = try await study.run(arguments: ["send", name, "--to", running.address], in: folder)
                    #expect(sent.exit == 0, "\(sent)")
                }
                try await send("first")
                _ = try await running.log.first("deferred")
                let script = "#!/bin/sh\n: >\"\(seen)/$WAFT_NAME\"\n"
                try script.write(toFile: program, atomically: false, encoding: .utf8)
                try #require(chmod(program, 0o755) == 0)
                try await send("second")
                try await eventually {
                    try FileManager.default.contentsOfDirectory(atPath: seen).sorted() == ["first", "second"]
                }
                let after = try await kitchen.run(arguments: ["status"])
                #expect(!after.output.contains("the hook \(program) does not exist"), "\(after)")
            }
        }
    }

    @Test("a file with a fault keeps nobody from the verbs for the receiver, the journal, contacts and visibility")
    func brokenFile() async throws {
        try await withTemporaryFolder { folder in
            let kitchen = Host.loopback(folder + "/kitchen")
            try await kitchen.withReceiver(Programs.waftd, []) { running in
                try "nmae: x\n".write(toFile: file(kitchen), atomically: false, encoding: .utf8)
                _ = try await running.log.first("settings") { $0.reason != nil }
                for words in [
                    ["status"], ["offers"], ["inbox", "list"], ["history"], ["outbox"], ["contacts", "list"],
                    ["visible", "off"], ["visible"],
                ] {
                    let outcome = try await kitchen.run(arguments: words)
                    #expect(outcome.exit == 0, "\(words): \(outcome)")
                    #expect(outcome.errors.contains("did you mean name?"), "\(words): \(outcome)")
                }
            }
            for (program, words) in [
                (Programs.waft, ["send", "a", "--to", "x"]), (Programs.waft, ["receive"]), (Programs.waftd, []),
                (Programs.waft, ["config", "check"]), (Programs.waft, ["policy", "list"]),
            ] {
                let outcome = try await kitchen.run(program, words)
                #expect(outcome.exit == 64, "\(words): \(outcome)")
                #expect(outcome.errors.contains("line 1: unknown setting"), "\(words): \(outcome)")
            }
        }
    }
}
